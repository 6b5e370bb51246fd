"""The Python door: `ask` and `aask`."""

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypedDict, TypeVar, Unpack

import msgspec

from sonde.engine.folder import DEFAULT
from sonde.engine.result import Result
from sonde.engine.run import Surroundings, start
from sonde.errors import UsageError
from sonde.models.protocol import Model
from sonde.spec import Limits, ModelChoice, Route, RunSpec

T = TypeVar("T")


class PydanticModel(Protocol):
    """The part of a pydantic model class that a typed answer needs."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Return its JSON schema."""
        ...

    @classmethod
    def model_validate(cls, obj: Any) -> Any:
        """Return an instance."""
        ...


class AskOptions(TypedDict, total=False):
    """What `ask` can be told, beside the question."""

    inputs: Sequence[str | Path]
    model: str | Model
    sub_model: str | Model
    also_models: Sequence[str | Model]
    key_env: str
    schema: dict[str, Any] | type[PydanticModel]
    route: Route
    fallback: bool
    strict: bool
    interpreter: str
    interpreter_unconfined: bool
    guest_packages: Sequence[str]
    runs_dir: str | Path
    run_id: str
    max_turns: int
    max_depth: int
    max_calls: int
    max_tokens: int
    max_input_tokens: int
    max_output_tokens: int
    max_usd: float
    reply_tokens: int
    price: tuple[float, float]
    record: str | Path
    timeout: float
    call_timeout: float
    cell_cpu: float
    cell_memory: int
    concurrency: int | None
    retries: int
    retry_base: float


def ask(question: str, **options: Unpack[AskOptions]) -> Result:
    """Answer a question over inputs of any size. See `aask`; this form blocks, also inside a running event loop."""
    return _blocking(aask(question, **options))


async def aask(question: str, **options: Unpack[AskOptions]) -> Result:
    """Answer a question over inputs of any size.

    Raises `UsageError` if the run cannot begin. Whatever stops it later is told in the result's `status` and `error`,
    and what was found until then is kept in `run_dir`.
    """
    given: dict[str, Model] = {}
    models = ModelChoice(
        root=_model_name(options.get("model"), given),
        sub=_model_name(options["sub_model"], given) if "sub_model" in options else None,
        key_env=options.get("key_env"),
        also=tuple(_model_name(each, given) for each in options.get("also_models", ())),
    )
    schema = options.get("schema")
    spec = RunSpec(
        question=question,
        models=models,
        inputs=tuple(str(each) for each in options.get("inputs", ())),
        limits=Limits.from_options(options),
        schema=schema.model_json_schema() if isinstance(schema, type) else schema,
        price=options.get("price"),
        strict=options.get("strict", False),
        route=options.get("route", "auto"),
        fallback=options.get("fallback", True),
        interpreter=options.get("interpreter"),
        unconfined=options.get("interpreter_unconfined", False),
        guest_packages=tuple(options.get("guest_packages", ())),
    )
    record = Path(options["record"]) if "record" in options else None
    around = Surroundings(Path(options.get("runs_dir", DEFAULT)), options.get("run_id"), given, record=record)
    result = await start(spec, around)
    if isinstance(schema, type) and result.status == "completed":
        return msgspec.structs.replace(result, answer=schema.model_validate(result.answer))
    return result


def _model_name(model: str | Model | None, given: dict[str, Model]) -> str:
    if model is None:
        raise UsageError("no model was chosen", 'Pass model="PROVIDER:NAME".')
    if isinstance(model, str):
        return model
    given[model.name] = model
    return model.name


def _blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; in a thread of its own where an event loop already runs (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1, "sonde") as thread:
        return thread.submit(asyncio.run, work).result()
