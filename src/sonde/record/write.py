"""Write a run's directory from its journal: one pass over the facts, whatever their number."""

from pathlib import Path
from typing import Any, NamedTuple

from sonde import jsontext
from sonde.errors import JournalError, RunChoiceError
from sonde.events import RunStarted
from sonde.journal.reader import Reader
from sonde.record.cost import cost_as_file
from sonde.record.files import LineFile, NewFolder, Shelf, make_private, octets, pretty, put
from sonde.record.intermediate import Intermediate, as_variable
from sonde.record.names import VERSION, id_of, moment
from sonde.record.plan import Plan
from sonde.record.sub_calls import SubCalls
from sonde.record.summary import now_of, summary_as_file
from sonde.record.trajectory import Trajectory
from sonde.record.tree import TaskTree
from sonde.spec import RunSpec
from sonde.views.costs import Costs
from sonde.views.phases import Phases
from sonde.views.summary import Summary

QUERY_PLAN, INTERMEDIATE, SUB_CALLS, FINAL = "query-plan.md", "intermediate", "sub-calls", "final-result.md"
SUMMARY, TRAJECTORY, COST, STATE = "summary.json", "trajectory.jsonl", "cost.json", "state.json"
_COMPLETION = {"completed": "complete", "cancelled": "cancelled", "failed": "error"}


class Written(NamedTuple):
    """What was written, and where."""

    folder: Path
    is_complete: bool
    summary: dict[str, Any]
    """The content of `summary.json`."""


def write(journal: Path, folder: Path) -> Written:
    """Write the files that a journal comes to into a folder, over those of earlier times. `final-result.md` is there
    only if the run was completed, and comes last. Raises `JournalError`: the journal is whole all the same.
    """
    try:
        make_private(folder)
        (folder / FINAL).unlink(missing_ok=True)
        with Reader(journal) as reader, Shelf() as shelf:
            return _Pass(reader, folder, shelf).run()
    except OSError as error:
        raise JournalError(
            f"the files of the run cannot be written to {folder}: {error.strerror or error}",
            "The run itself is kept. Make room there, then `sonde export RUN --dir FOLDER`.",
        ) from error


class _Pass:
    """All folds of one pass, and the files they go to."""

    def __init__(self, reader: Reader, folder: Path, shelf: Shelf) -> None:
        self._reader = reader
        self._folder = folder
        self._sub_call_files = shelf.add(NewFolder(folder / SUB_CALLS))
        self._named_files = shelf.add(NewFolder(folder / INTERMEDIATE))
        self._steps = shelf.add(LineFile(folder / TRAJECTORY))
        self.summary = Summary()
        self.phases = Phases()
        self.costs = Costs()
        self.plan = Plan()
        self.tree = TaskTree()
        self.named = Intermediate()
        self.sub_calls = SubCalls(self._sub_call_files, reader)
        self.trajectory = Trajectory(self._steps, reader)

    def run(self) -> Written:
        parts = (
            self.summary, self.phases, self.costs, self.plan, self.tree, self.named, self.sub_calls, self.trajectory
        )  # fmt: skip
        folds = [part.add for part in parts]
        for record in self._reader.records():
            if isinstance(record.fact, RunStarted):
                self.trajectory.begin(RunSpec.from_json(record.fact.spec).question)
                self.tree.begin(record.fact.run_id)
            for add in folds:
                add(record)
        if not self.summary.spec:
            raise RunChoiceError("the run has no beginning in its record", "`sonde doctor RUN` tells more.")
        self.sub_calls.finish()
        return self._write()

    def _write(self) -> Written:
        folder, summary = self._folder, self.summary
        spec = RunSpec.from_json(summary.spec)
        is_complete = summary.status == "completed" and summary.answer is not None
        answer = self._answer() if is_complete else None
        variables = self.named.finish(self._named_files, self._reader)
        for each in (self._sub_call_files, self._named_files, self._steps):
            each.close()
        plan = self.plan.as_lines(summary, self.phases, self._reader)
        put(folder / QUERY_PLAN, octets("\n".join([*plan, ""])))
        put(folder / STATE, pretty(self._state(spec, variables, answer, is_complete=is_complete)))
        put(folder / COST, pretty(cost_as_file(summary, self.costs, spec, now_of(summary, spec))))
        told = summary_as_file(summary, self.phases, self.costs, spec, self._reader)
        told["artifacts"] = {
            "query_plan": QUERY_PLAN,
            "intermediate": {"folder": f"{INTERMEDIATE}/", "files": self.named.count},
            "sub_calls": {"folder": f"{SUB_CALLS}/", "calls": self.sub_calls.count},
            "final_result": FINAL if is_complete else None,
        }
        put(folder / SUMMARY, content := pretty(told))
        if is_complete:
            put(folder / FINAL, _as_markdown(answer), flush=True)
        return Written(folder, is_complete, jsontext.decode(content, dict[str, Any]))

    def _answer(self) -> object:
        assert self.summary.answer is not None, "only asked for where there is one"
        return jsontext.decode(self._reader.text(self.summary.answer), object)

    def _state(
        self, spec: RunSpec, variables: list[dict[str, Any]], answer: object, *, is_complete: bool
    ) -> dict[str, Any]:
        summary, run_id = self.summary, self.summary.run_id
        final = as_variable("Final", answer, summary.last_at, FINAL)
        prompt = as_variable("prompt", spec.question, summary.started_at, QUERY_PLAN)
        listed = [prompt | {"read_only": True}, *variables, final]
        plain: dict[str, Any] = {
            "version": VERSION,
            "state_id": id_of("state", run_id),
            "tree_id": id_of("tree", run_id),
            "run_id": run_id,
            "variables": listed,
            "metadata": {
                "created_at": moment(summary.started_at),
                "last_updated_at": moment(summary.last_at),
                "variable_count": self.named.count + 2,
                "completion_status": "complete" if is_complete else _COMPLETION.get(summary.status or "", "incomplete"),
            },
        }
        return plain | {"tree": self.tree.as_json(self._reader, spec.question)}


def _as_markdown(answer: object) -> bytes:
    if isinstance(answer, str):
        return octets(answer if answer.endswith("\n") else f"{answer}\n")
    return b"```json\n" + pretty(answer) + b"```\n"
