"""A saved workflow: one piece of code that takes the place of a model, from its beginning to its end."""

from sonde.engine.cells import Cells
from sonde.engine.context import Context
from sonde.engine.job import Job
from sonde.errors import RunError
from sonde.events import Answered
from sonde.interpreters.protocol import CellResult


class WorkflowFailed(RunError):
    """A workflow's code ended with an error."""

    code = "workflow"


class Script:
    """Runs a workflow's code. It finishes with what it returns, or with what it gave to `FINAL`."""

    def __init__(self, context: Context, job: Job) -> None:
        self.job = job
        self._context = context
        self._answers: list[object] = []
        self._cells = Cells(context, self, context.history.agent(job.path))

    async def work(self) -> object:
        """Return the result. Raises `WorkflowFailed`, or what stops the run."""
        try:
            result = await self._cells.run_to_success(self.job.code)
        finally:
            await self._cells.close()
        if result.error is not None and not self._answers:
            refusal = self._context.dispatcher.scope.refusal
            if refusal is not None:
                raise refusal
            raise WorkflowFailed(_told(result), "Mend the workflow; what it paid for is kept for `sonde resume`.")
        answer = self._answers[0] if self._answers else None
        journal = self._context.journal
        journal.append(Answered(self.job.path, journal.keep_value(answer)))
        return answer

    def accept(self, value: object) -> None:
        """Take the result, if it is the first. Raises `TaskError` if it does not fit the schema."""
        if self.job.shape is not None:
            self.job.shape.check(value)
        if not self._answers:
            self._answers.append(value)


def _told(result: CellResult) -> str:
    assert result.error is not None, "only a cell that failed is told of"
    error = result.error
    return f"the workflow failed:\n{error.traceback}{error.type}: {error.message}"
