"""Wire a run and drive it to its end; or take it up again where its record ends."""

import asyncio
import math
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sonde.commands import Cancel
from sonde.documents.attach import Inputs, attach
from sonde.engine.agent import Agent
from sonde.engine.approval import Approval, Person
from sonde.engine.cache import Cache
from sonde.engine.context import Context, Models
from sonde.engine.estimate import forewarned
from sonde.engine.folder import DEFAULT, RunFolder
from sonde.engine.history import History
from sonde.engine.job import Job
from sonde.engine.kept_inputs import again, as_fact
from sonde.engine.recorder import Recorder
from sonde.engine.result import Result, result_of
from sonde.engine.root import roles_of, root_job
from sonde.engine.script import Script
from sonde.engine.spending import as_data, check_prices, end_of_lost, spec_now, spent_in, total_of
from sonde.engine.subagents import Subagents, guest_inputs
from sonde.errors import (
    Escalation,
    JournalError,
    LimitReached,
    ModelError,
    RunCancelled,
    RunChoiceError,
    SondeError,
    TaskError,
    UsageError,
)
from sonde.events import (
    ROOT,
    AgentFinished,
    AgentStarted,
    Fact,
    Fault,
    PersonAnswered,
    Record,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStatus,
    Warned,
)
from sonde.interpreters.choose import PYTHON, usual
from sonde.interpreters.choose import choose as choose_interpreter
from sonde.interpreters.protocol import Backend, GuestWorld, Settings
from sonde.journal.inbox import Inbox
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.journal.writer import Journal
from sonde.limits.scope import Scope
from sonde.models.cassette import Recording, Tape
from sonde.models.choose import choose, read_choice
from sonde.models.prices import prices_for
from sonde.models.protocol import Model
from sonde.record.write import write
from sonde.spec import DEEPEST, RunSpec
from sonde.tasks.dispatch import Dispatcher
from sonde.tasks.schemas import Shape
from sonde.version import __version__
from sonde.views.summary import Summary

_LOOK_S = 0.1
_BERTHS = 64
"""Interpreters at once on each level of depth."""

Listener = Callable[[Record], None]


class Surroundings(NamedTuple):
    """What a run finds around it, apart from what it is asked to do."""

    runs: Path = DEFAULT
    run_id: str | None = None
    models: Mapping[str, Model] = {}
    """Models made beforehand, by name."""
    answer: str | None = None
    """What a person said to the question that the run stopped with."""
    workflows: Callable[[str], str | None] = lambda _: None
    """Gives the code of a saved workflow by its name, for workflows that run others."""
    confirm: Callable[[str], bool] | None = None
    """Asks whether a run that would be large is to start; without it, that is only said."""
    person: Person | None = None
    """Asks somebody who is there."""
    limits: Mapping[str, Any] = {}
    """Limits to change when a run is taken up again, by the names of their options."""
    record: Path | None = None
    """A file that gets every model request and its answer."""
    listeners: Sequence[Listener] = ()
    clock: Callable[[], float] = time.time


class _Life(NamedTuple):
    """One stretch of a run, from its start or its resumption to where it stops."""

    folder: RunFolder
    asked: RunSpec
    """As the run began with: what the model was told does not change."""
    spec: RunSpec
    """With the limits as they are now."""
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
        notes = forewarned(spec, inputs, prices_for(spec.price), around.confirm)
    except BaseException:
        folder.discard()
        raise
    history = History()
    opening: list[Fact] = [
        RunStarted(folder.run_id, __version__, spec.to_json()),
        *(as_fact(each, folder) for each in inputs.all),
        *(Warned("interpreter", note) for note in (note,) if note),
        *(Warned("input", note) for note in inputs.notes),
        *(Warned("start", note) for note in notes),
        AgentStarted(ROOT, "root", spec.models.root),
    ]
    return await _drive(_Life(folder, spec, spec, inputs, Summary(), history, opening), around)


async def resume(path: Path, around: Surroundings) -> Result:
    """Take up a run where its record ends, within limits that `around` may change. Raises `UsageError`.

    One that was completed is not run again: its result is returned.
    """
    folder = RunFolder.open(path)
    summary, history = Summary(), History()
    try:
        with Reader(folder.journal) as reader:
            history.read(_summed_up(reader.records(), summary))
            history.give_up()
            if around.answer is not None:
                history.hear(around.answer)
            if not summary.spec or (reader.lost and reader.lost[0][0] <= (summary.begun_seq or math.inf)):
                raise RunChoiceError(f"run {folder.run_id} has no beginning in its record", "Start it again.")
            if summary.status == "completed" and summary.answer is not None:  # a damaged record may have lost it
                folder.release()
                return result_of(summary, reader, folder.path)
        asked = RunSpec.from_json(summary.spec)
        spec, changed = spec_now(asked, summary.limits, around.limits)
        _check(spec, around)
        inputs = await asyncio.to_thread(again, summary, folder)
    except BaseException:
        folder.release()
        raise
    opening: list[Fact] = [
        *(end_of_lost(call, spec, prices_for(spec.price)) for call in history.in_flight.values()),
        RunResumed(folder.run_id, __version__, len(history.in_flight), changed),
        *(PersonAnswered(said) for said in (around.answer,) if said is not None),
    ]
    return await _drive(_Life(folder, asked, spec, inputs, summary, history, opening), around)


def standing(path: Path) -> Result:
    """Return how a run stands, from its record alone. Raises `JournalError`."""
    summary = Summary()
    with Reader(path / FILE_NAME) as reader:
        for record in reader.records():
            summary.add(record)
        return result_of(summary, reader, path)


async def _drive(life: _Life, around: Surroundings) -> Result:
    """Live one life of a run and return how the run stands after it."""
    summary = life.summary
    async with AsyncExitStack() as stack:
        stack.callback(life.folder.release)
        journal = Journal(life.folder.journal, clock=around.clock)
        stack.push_async_callback(journal.close)
        reader = Reader(life.folder.journal)
        stack.callback(reader.close)
        models = Models(life.spec, around.models, _maker(around.record, stack))
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
            life.history.live = True
            context = _wire(life, journal, reader, models, backend, around)
            stack.callback(context.dispatcher.close)
            stack.callback(context.cache.close)
            root = root_job(context, life.asked, life.inputs)
            context.runner = Subagents(context, root)
            status, fault = await _work(context, life, root)
            journal.append(AgentFinished(ROOT, status))
            journal.append(RunFinished(status, fault))
            await journal.saved()
            await _write_record(life.folder, journal)
        except JournalError as error:
            summary = _as_saved(reader, summary)
            summary.status, summary.fault = "failed", _fault_of(error)
        except asyncio.CancelledError:
            with suppress(JournalError):  # it is stopped either way
                journal.append(RunFinished("cancelled"))
                await journal.saved()
                await _write_record(life.folder, journal)
            raise
        return result_of(summary, reader, life.folder.path)


async def _write_record(folder: RunFolder, journal: Journal) -> None:
    """Write the files of the run's folder, which say again what the journal says: without them nothing is lost."""
    try:
        await asyncio.to_thread(write, folder.journal, folder.path)
    except JournalError as error:
        journal.append(Warned("record", str(error)))
        await journal.saved()


def _as_saved(reader: Reader, summary: Summary) -> Summary:
    """Return what the record holds, where it does not hold all that has happened."""
    saved = Summary()
    try:
        for record in reader.records():
            saved.add(record)
    except JournalError:
        return summary
    return saved


def _maker(record: Path | None, stack: AsyncExitStack) -> Callable[[str, str | None], Model]:
    """Return what makes models; with a file to record to, they write there what they answer."""
    if record is None:
        return choose
    tape = Tape(record)
    stack.callback(tape.close)
    return lambda name, key_env: Recording(choose(name, key_env), tape)


async def _work(context: Context, life: _Life, root: Job) -> tuple[RunStatus, Fault | None]:
    """Have the root agent work, and return how that ended."""
    agent = Script(context, root) if root.code else Agent(context, root)
    limit = life.spec.limits.timeout_s
    left = None if limit is None else limit - life.summary.duration_s
    alarm = asyncio.timeout(left)
    try:
        async with alarm:
            await _directed(agent, Inbox(life.folder.path))
    except JournalError:
        raise
    except Exception as error:  # noqa: BLE001 - a defect of ours must not cost the user what the run has found
        if isinstance(error, TimeoutError) and alarm.expired():
            error = LimitReached("timeout", f"the run took more than {limit:g} s", "Allow more with --timeout.")
        return _ending(error, context.journal)
    refusal = context.dispatcher.scope.refusal
    if refusal is not None:
        return "limit", Fault(refusal.code, f"{refusal} The answer was given without what was refused.", refusal.limit)
    return "completed", None


def _ending(error: Exception, journal: Journal) -> tuple[RunStatus, Fault]:
    """Return how a run ends that an error stops."""
    match error:
        case RunCancelled():
            return "cancelled", _fault_of(error)
        case Escalation():
            return "escalated", _fault_of(error)
        case LimitReached():
            return "limit", Fault(error.code, str(error), error.limit)
        case SondeError():
            return "failed", _fault_of(error)
        case _:
            journal.append(Warned("internal", "".join(traceback.format_exception(error))))
            return "failed", Fault("internal", f"{type(error).__name__}: {error}. This is a defect of Sonde.")


async def _directed(agent: Agent | Script, inbox: Inbox) -> None:
    """Let an agent work to its end. Raises `RunCancelled` when a command stops it, or what the agent raises."""
    working = asyncio.ensure_future(agent.work())
    try:
        while not working.done():
            await asyncio.wait({working}, timeout=_LOOK_S)
            if Cancel() in inbox.take():
                raise RunCancelled("the run was asked to stop")
        await working
    finally:
        working.cancel()
        await asyncio.wait({working})


def _wire(
    life: _Life, journal: Journal, reader: Reader, models: Models, backend: Backend, around: Surroundings
) -> Context:
    spec, summary, clock = life.spec, life.summary, around.clock
    total = total_of(spec.limits)
    scope = Scope(total, clock)
    scope.restore(spent_in(summary))
    roles = roles_of(spec)
    world = GuestWorld(
        inputs=guest_inputs(life.inputs),
        open_file=life.inputs.open_file,
        budget=as_data(total),
        seed=summary.run_id,
        started=summary.started_at,
        agents=tuple(roles) if spec.sends_from_code else (),
        args=spec.args,
        most_items=spec.most_items,
    )
    return Context(
        spec=spec,
        journal=journal,
        reader=reader,
        history=life.history,
        recorder=Recorder(journal, reader, life.history),
        dispatcher=Dispatcher(spec.limits, scope, journal, prices_for(spec.price)),
        cache=Cache(life.folder.path.parent),
        models=models,
        world=world,
        backend=backend,
        clock=clock,
        folder=life.folder.path,
        approval=Approval(spec.approve, journal, around.person, life.history.said),
        roles=roles,
        workflows=around.workflows,
        berths=[asyncio.Semaphore(_BERTHS) for _ in range(DEEPEST + 1)],
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
    for name in spec.named_models - set(around.models):
        read_choice(name, spec.key_env_of(name))
    _backend(spec)
    check_prices(spec, prices_for(spec.price))
    if spec.schema is not None:
        try:
            Shape(spec.schema)
        except TaskError as error:
            raise UsageError(f"the schema cannot be used: {error}", "Mend it, or leave it out.") from error


def _summed_up(records: Iterable[Record], summary: Summary) -> Iterator[Record]:
    """Pass records on and add each to a summary."""
    for record in records:
        summary.add(record)
        yield record


def _fault_of(error: SondeError) -> Fault:
    return Fault(error.code, str(error), error.fault if isinstance(error, ModelError) else "")
