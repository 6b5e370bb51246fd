"""Have subagents work: make an agent of an errand, let it work to its end, and take in what it leaves."""

import asyncio
from pathlib import Path
from typing import Any

from sonde.documents.attach import Inputs, attach_text
from sonde.engine.agent import Agent, TurnFailed
from sonde.engine.context import Context
from sonde.engine.job import Job
from sonde.engine.opening import ask_prompts, first_message, role_prompts
from sonde.engine.script import Script, WorkflowFailed
from sonde.engine.uses import may_send
from sonde.engine.workbench import Workbench
from sonde.errors import InterpreterError, LimitReached, ModelChoiceError, TaskError
from sonde.events import AgentFinished, AgentStarted, RunStatus
from sonde.interpreters.protocol import GuestInput, GuestWorld
from sonde.tasks.runner import Errand
from sonde.tasks.schemas import shape_of


class Subagents:
    """Runs the subagents of one run in this process."""

    def __init__(self, context: Context, root: Job) -> None:
        self._context = context
        self._jobs = {root.path: root}

    async def run(self, errand: Errand) -> Any:
        """Return what an agent's work comes to. Raises `TaskError`, `LimitReached` or `OutOfService`."""
        context, parent = self._context, self._jobs[errand.path.rpartition("/")[0]]
        job = await self._job(errand, parent)
        self._jobs[job.path] = job
        context.journal.append(AgentStarted(job.path, job.kind, job.model, job.depth, job.call))
        status: RunStatus = "failed"
        try:
            worker = Script(context, job) if job.code else Agent(context, job)
            answer = await worker.work()
            status = "completed"
            return answer
        except asyncio.CancelledError:
            status = "cancelled"
            raise
        except LimitReached:
            status = "limit"
            raise
        except TurnFailed as error:
            raise TaskError(error.failure.kind, error.failure.message, retryable=error.failure.retryable) from error
        except (InterpreterError, WorkflowFailed) as error:
            raise TaskError("tool_error", str(error)) from error
        finally:
            await self._take_in(job, parent)
            if isinstance(errand.context, str):
                self._spool(errand).unlink(missing_ok=True)
            context.journal.append(AgentFinished(job.path, status))
            if status == "completed":
                context.history.forget(job.path)

    async def _take_in(self, job: Job, parent: Job) -> None:
        """Give the parent the files of an agent that has ended, and drop all else."""
        del self._jobs[job.path]
        if job.workbench is not None and parent.workbench is not None and job.workbench is not parent.workbench:
            await job.workbench.hand_over(parent.workbench)
        if job.inputs is not None and job.inputs is not parent.inputs:
            job.inputs.files.close()

    async def _job(self, errand: Errand, parent: Job) -> Job:
        try:
            model = self._context.models.for_call(errand.model, None).name
        except ModelChoiceError as error:
            raise TaskError("model_error", str(error)) from error
        if errand.kind == "workflow":
            return self._workflow(errand, parent)
        if errand.kind == "task":
            return self._task(errand, parent, model)
        return await self._rlm(errand, parent, model)

    def _task(self, errand: Errand, parent: Job, model: str) -> Job:
        context, role = self._context, self._context.roles[errand.role]
        workbench = None
        if parent.workbench is not None:
            workbench = parent.workbench.for_child(errand.path, role.name, role.tools)
        sends = context.offers_delegation and may_send(role)
        return Job(
            errand.path,
            role,
            model,
            role_prompts(context.spec, role, errand.schema, errand.depth, sends=sends),
            errand.prompt,
            errand.depth,
            errand.call,
            inherited=errand.inherited,
            shape=None if errand.schema is None else shape_of(errand.schema),
            world=self._world(errand, parent.inputs, workbench) if role.interpreter else None,
            inputs=parent.inputs,
            workbench=workbench,
            sends=role.can_delegate_to,
            uses_tools=workbench is not None,
        )

    def _workflow(self, errand: Errand, parent: Job) -> Job:
        """Return a workflow within another: it shares its inputs, files and limits."""
        world = self._world(errand, parent.inputs, parent.workbench)._replace(args=errand.args, is_workflow=True)
        return Job(
            errand.path,
            None,
            parent.model,
            parent.prompts,
            errand.role,
            errand.depth,
            errand.call,
            inherited=parent.inherited,
            world=world,
            inputs=parent.inputs,
            workbench=parent.workbench,
            sends=parent.sends,
            code=errand.prompt,
        )

    async def _rlm(self, errand: Errand, parent: Job, model: str) -> Job:
        context = self._context
        inputs = await self._inputs(errand, parent)
        workbench = None
        if parent.workbench is not None:  # it is the parent over again: what that may not use, it may not either
            workbench = parent.workbench.for_child(errand.path, "rlm", parent.workbench.allowed)
        return Job(
            errand.path,
            None,
            model,
            ask_prompts(context.spec, errand.schema, errand.depth),
            first_message(errand.prompt, inputs, context.spec),
            errand.depth,
            errand.call,
            inherited=errand.inherited,
            shape=None if errand.schema is None else shape_of(errand.schema),
            world=self._world(errand, inputs, workbench),
            inputs=inputs,
            workbench=workbench,
            sends=parent.sends,
        )

    async def _inputs(self, errand: Errand, parent: Job) -> Inputs:
        """Return what a child looks into. Raises `TaskError` for an input that is not there."""
        own, wanted = parent.inputs or Inputs([], []), errand.context
        if isinstance(wanted, str):
            return await asyncio.to_thread(attach_text, "context", wanted, self._spool(errand))
        if wanted is None or wanted == -1:
            return own
        if not 0 <= wanted < len(own.all):
            raise TaskError("tool_error", f"there is no input number {wanted}")
        return own.only(wanted)

    def _spool(self, errand: Errand) -> Path:
        return self._context.folder / "inputs" / f"{errand.path.replace('/', '.')}.txt"

    def _world(self, errand: Errand, inputs: Inputs | None, workbench: Workbench | None) -> GuestWorld:
        base = self._context.world
        return base._replace(
            inputs=guest_inputs(inputs),
            open_file=base.open_file if inputs is None else inputs.open_file,
            seed=f"{base.seed}/{errand.path}",
            tools=workbench.names if workbench is not None else (),
        )


def guest_inputs(inputs: Inputs | None) -> list[GuestInput]:
    """Return inputs as an interpreter needs them."""
    return [GuestInput(each.name, each.mark, each.found.blocks) for each in (inputs.all if inputs else ())]
