"""The root agent of a run: how it goes about its question, and with what."""

import re
from collections.abc import Mapping
from dataclasses import replace

from sonde import prompts
from sonde.documents.attach import Inputs
from sonde.engine.context import Context
from sonde.engine.job import Job
from sonde.engine.opening import agent_prompts, ask_prompts, direct_prompts, first_message, role_prompts, whole_message
from sonde.engine.workbench import Workbench
from sonde.events import ROOT
from sonde.spec import CHARS_PER_TOKEN, Route, RunSpec, Subagent
from sonde.tasks.schemas import shape_of
from sonde.workspace.folder import FolderFiles
from sonde.workspace.mounts import Mounted
from sonde.workspace.virtual import VirtualFiles

GENERAL = "general-purpose"
_MANY_LINES, _MANY_INPUTS = 10_000, 10
_DENSE = re.compile(
    r"\b(all|every|each|entire|whole|how many|how often|count|total|average|most|least)\b", re.IGNORECASE
)


def roles_of(spec: RunSpec) -> Mapping[str, Subagent]:
    """Return the kinds of agents that can be sent: the general one, and the user's."""
    general = Subagent(GENERAL, "Does any piece of work that is described to it.", prompts.read("general_purpose"))
    return {general.name: general} | {each.name: each for each in spec.subagents}


def route_of(spec: RunSpec, inputs: Inputs) -> Route:
    """Return which way a question goes: small inputs are sent whole, large ones are looked into by code; between
    the two it depends on whether the answer needs nearly all of them."""
    if spec.route != "auto":
        return spec.route
    tokens = tokens_of(inputs)
    if tokens < spec.direct_below:
        return "direct"
    lines = sum(document.line_count for document in inputs.documents)
    many = lines > _MANY_LINES or len(inputs.documents) > _MANY_INPUTS
    return "rlm" if many or tokens > spec.code_above or _DENSE.search(spec.question) else "direct"


def tokens_of(inputs: Inputs) -> int:
    """Return about how many tokens inputs have: four characters are taken for one."""
    return sum(len(document) for document in inputs.documents) // CHARS_PER_TOKEN


def root_job(context: Context, asked: RunSpec, inputs: Inputs) -> Job:
    """Return what the root agent is to do. `asked` is the run as it began: what the model is told does not change."""
    shape = None if asked.schema is None else shape_of(asked.schema)
    model = asked.models.root
    if asked.mode == "ask" and route_of(asked, inputs) == "direct":
        message = whole_message(asked.question, inputs)
        return Job(ROOT, None, model, direct_prompts(asked.schema), message, shape=shape, inputs=inputs)
    role = None if asked.role is None else context.roles[asked.role]
    workbench = _workbench(context, asked, inputs, role)
    world = context.world._replace(tools=workbench.names, is_workflow=asked.workflow is not None)
    job = Job(
        ROOT,
        role,
        model,
        direct_prompts(None),
        asked.question,
        shape=shape,
        world=world,
        inputs=inputs,
        workbench=workbench,
        code=asked.workflow or "",
    )
    if asked.workflow is not None:
        return job
    if asked.mode == "ask":
        first = first_message(asked.question, inputs, asked)
        return replace(job, prompts=ask_prompts(asked, asked.schema), first=first)
    return replace(
        job,
        prompts=agent_prompts(asked) if role is None else role_prompts(asked, role, asked.schema, 0, sends=True),
        world=world if role is None or role.interpreter else None,
        sends=None if role is None else role.can_delegate_to,
        uses_tools=True,
    )


def _workbench(context: Context, asked: RunSpec, inputs: Inputs, role: Subagent | None) -> Workbench:
    """Return the root's tools: over the user's folder, or over files of the run's own."""
    own = VirtualFiles() if asked.folder is None else FolderFiles(asked.folder)
    allowed = None if role is None else role.tools
    workbench = Workbench(context, ROOT, Mounted(own, Inputs(inputs.all, []).documents), allowed)
    if asked.folder is None:
        workbench.restore()
    return workbench
