"""Wire a run and drive it to its end; or take it up again where its record ends."""

import asyncio
import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sonde import jsontext
from sonde.documents.attach import Input, Inputs, attach, reattach
from sonde.engine.agent import Agent
from sonde.engine.context import Context, Models
from sonde.engine.folder import DEFAULT, RunFolder
from sonde.engine.history import History
from sonde.engine.opening import first_message, system_prompts
from sonde.engine.recorder import Recorder
from sonde.engine.result import Result, result_of
from sonde.engine.transcript import Transcript
from sonde.errors import (
    JournalError,
    LimitReached,
    ModelError,
    RunChoiceError,
    SondeError,
    TaskError,
    UsageError,
)
from sonde.events import (
    AgentFinished,
    AgentStarted,
    Fact,
    Fault,
    InputAttached,
    Record,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStatus,
    Warned,
)
from sonde.guest.files import Mark
from sonde.interpreters.choose import PYTHON, usual
from sonde.interpreters.choose import choose as choose_interpreter
from sonde.interpreters.protocol import Backend, GuestInput, GuestWorld, Settings
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.journal.writer import Journal
from sonde.limits.scope import Amounts, Scope
from sonde.models.choose import choose, read_choice
from sonde.models.protocol import Model
from sonde.spec import RunSpec
from sonde.tasks.dispatch import Dispatcher
from sonde.tasks.schemas import Shape
from sonde.version import __version__
from sonde.views.summary import Summary

ROOT = "root"

Listener = Callable[[Record], None]


class Surroundings(NamedTuple):
    """What a run finds around it, apart from what it is asked to do."""

    runs: Path = DEFAULT
    run_id: str | None = None
    models: Mapping[str, Model] = {}
    """Models made beforehand, by name."""
    listeners: Sequence[Listener] = ()
    clock: Callable[[], float] = time.time


class _Life(NamedTuple):
    """One stretch of a run, from its start or its resumption to where it stops."""

    folder: RunFolder
    spec: RunSpec
    inputs: Inputs
    summary: Summary
    history: History
    opening: list[Fact]


async def start(spec: RunSpec, around: Surroundings) -> Result:
    """Run `spec` to its end. Raises `UsageError` if it cannot begin; what stops it later is told in the result."""
    spec, note = _with_interpreter(spec)
    _check(spec, around)
    folder = RunFolder.create(around.runs, around.run_id)
    try:
        inputs = await asyncio.to_thread(attach, spec.inputs, folder.spool, strict=spec.strict)
    except BaseException:
        folder.discard()
        raise
    opening: list[Fact] = [
        RunStarted(folder.run_id, __version__, spec.to_json()),
        *(_attached(each, folder) for each in inputs.all),
        *(Warned("interpreter", note) for note in (note,) if note),
        *(Warned("input", note) for note in inputs.notes),
        AgentStarted(ROOT, "root", spec.models.root),
    ]
    return await _drive(_Life(folder, spec, inputs, Summary(), History(()), opening), around)


async def resume(path: Path, around: Surroundings) -> Result:
    """Take up a run where its record ends. Raises `UsageError` if it cannot be.

    One that was completed is not run again: its result is returned.
    """
    folder = RunFolder.open(path)
    try:
        with Reader(folder.journal) as reader:
            records = list(reader.records())
            summary = Summary()
            for record in records:
                summary.add(record)
            if not summary.spec:
                raise RunChoiceError(f"run {folder.run_id} has no beginning in its record", "Start it again.")
            if summary.status == "completed":
                folder.release()
                return result_of(summary, _answer(summary, reader), folder.path)
        spec = RunSpec.from_json(summary.spec)
        _check(spec, around)
        inputs = await asyncio.to_thread(_reattach, summary, folder)
    except BaseException:
        folder.release()
        raise
    history = History(records)
    opening: list[Fact] = [RunResumed(folder.run_id, __version__, len(history.in_flight))]
    return await _drive(_Life(folder, spec, inputs, summary, history, opening), around)


def standing(path: Path) -> Result:
    """Return how a run stands, from its record alone. Raises `JournalError`."""
    summary = Summary()
    with Reader(path / FILE_NAME) as reader:
        for record in reader.records():
            summary.add(record)
        return result_of(summary, _answer(summary, reader), path)


async def _drive(life: _Life, around: Surroundings) -> Result:
    """Live one life of a run and return how the run stands after it."""
    summary = life.summary
    async with AsyncExitStack() as stack:
        stack.callback(life.folder.release)
        journal = Journal(life.folder.journal, clock=around.clock)
        stack.push_async_callback(journal.close)
        reader = Reader(life.folder.journal)
        stack.callback(reader.close)
        models = Models(life.spec.models, around.models, choose)
        stack.push_async_callback(models.close)
        journal.listen(summary.add)
        for listener in around.listeners:
            journal.listen(listener)
        stack.callback(life.inputs.files.close)
        backend = _backend(life.spec)
        stack.push_async_callback(backend.close)
        backend.start()
        try:
            for fact in life.opening:
                journal.append(fact)
            context = _wire(life, journal, reader, models, backend, around.clock)
            status, fault = await _work(context, life)
            journal.append(AgentFinished(ROOT, status))
            journal.append(RunFinished(status, fault))
            await journal.saved()
        except JournalError as error:
            summary.status, summary.fault = "failed", _fault_of(error)
        except asyncio.CancelledError:
            journal.append(RunFinished("cancelled"))
            await journal.saved()
            raise
        return result_of(summary, _answer(summary, reader), life.folder.path)


async def _work(context: Context, life: _Life) -> tuple[RunStatus, Fault | None]:
    """Have the root agent work, and return how that ended."""
    transcript = Transcript(system_prompts(life.spec), first_message(life.spec, life.inputs))
    limit = life.spec.limits.timeout_s
    left = None if limit is None else limit - life.summary.duration_s
    alarm = asyncio.timeout(left)
    try:
        async with alarm:
            await Agent(context, ROOT, transcript).work()
    except TimeoutError:
        if not alarm.expired():
            raise
        return "limit", Fault("limit", f"the run took more than {limit:g} s. Allow more with --timeout.", "timeout")
    except LimitReached as error:
        return "limit", Fault(error.code, str(error), error.limit)
    except JournalError:
        raise
    except SondeError as error:
        return "failed", _fault_of(error)
    except Exception as error:  # noqa: BLE001 - a defect of ours must not cost the user what the run has found
        context.journal.append(Warned("internal", traceback.format_exc()))
        return "failed", Fault("internal", f"{type(error).__name__}: {error}. This is a defect of Sonde.")
    return "completed", None


def _wire(
    life: _Life, journal: Journal, reader: Reader, models: Models, backend: Backend, clock: Callable[[], float]
) -> Context:
    spec, summary = life.spec, life.summary
    total = Amounts(calls=spec.limits.max_calls, seconds=math.inf if (t := spec.limits.timeout_s) is None else t)
    scope = Scope(total, clock)
    scope.restore(summary.ok + summary.failed, summary.usage, summary.duration_s)
    world = GuestWorld(
        inputs=[GuestInput(each.name, each.mark, each.found.blocks) for each in life.inputs.all],
        open_file=life.inputs.open_file,
        budget={name: None if value == math.inf else value for name, value in total._asdict().items()},
        seed=summary.run_id,
        started=summary.started_at,
    )
    return Context(
        spec=spec,
        journal=journal,
        reader=reader,
        history=life.history,
        recorder=Recorder(journal, reader, life.history),
        dispatcher=Dispatcher(spec.limits, scope, journal),
        models=models,
        world=world,
        backend=backend,
        clock=clock,
    )


def _with_interpreter(spec: RunSpec) -> tuple[RunSpec, str | None]:
    """Settle which interpreter the run uses, and return what is to be said of that."""
    if spec.interpreter is not None:
        return spec, None
    name, note = (PYTHON, None) if spec.unconfined else usual()
    return msgspec.structs.replace(spec, interpreter=name), note


def _backend(spec: RunSpec) -> Backend:
    settings = Settings(spec.limits.cell_memory_mb << 20, not spec.unconfined, spec.guest_packages)
    return choose_interpreter(spec.interpreter or PYTHON, settings)


def _check(spec: RunSpec, around: Surroundings) -> None:
    """Raise `UsageError` for what can be known to be wrong before anything is sent."""
    for name in {spec.models.root, spec.models.sub or spec.models.root} - set(around.models):
        read_choice(name, spec.models.key_env)
    _backend(spec)
    if spec.schema is not None:
        try:
            Shape(spec.schema)
        except TaskError as error:
            raise UsageError(f"the schema cannot be used: {error}", "Mend it, or leave it out.") from error


def _attached(attached: Input, folder: RunFolder) -> InputAttached:
    path, found = attached.path, attached.found
    if path.is_relative_to(folder.path):
        path = path.relative_to(folder.path)
    return InputAttached(
        name=attached.name,
        source=attached.source,
        path=str(path),
        size=attached.mark.size,
        chars=found.blocks.chars[-1],
        lines=found.blocks.lines[-1] + found.blocks.open_end,
        changed_ns=attached.mark.changed_ns,
        invalid_bytes=found.invalid_bytes,
    )


def _reattach(summary: Summary, folder: RunFolder) -> Inputs:
    inputs = [
        reattach(
            fact.name,
            fact.source,
            folder.path / fact.path,
            Mark(fact.source, fact.size, fact.changed_ns),
        )
        for fact in summary.inputs
    ]
    return Inputs(inputs, [])


def _answer(summary: Summary, reader: Reader) -> Any:
    return None if summary.answer is None else jsontext.decode(reader.text(summary.answer), object)


def _fault_of(error: SondeError) -> Fault:
    return Fault(error.code, str(error), error.fault if isinstance(error, ModelError) else "")
