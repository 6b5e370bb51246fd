"""The tree of a run: its agents, their turns and cells, and what each cell called."""

from collections import Counter, defaultdict
from typing import Literal

from sonde.events import (
    TURN,
    WORK,
    AgentFinished,
    AgentStarted,
    CallFinished,
    CallReused,
    CallStarted,
    CellFinished,
    CellStarted,
    Fault,
    Record,
    RunResumed,
    Stored,
    Usage,
)

_MOST_FAILURES = 5


class Step:
    """A turn or a cell of an agent."""

    def __init__(self, kind: Literal["turn", "cell"], number: int, at: float) -> None:
        self.kind: Literal["turn", "cell"] = kind
        self.number = number
        self.began = at
        self.ended: float | None = None
        self.status = "running"
        self.usage = Usage()
        self.fault: Fault | None = None
        self.code: Stored = ""
        self.calls: Counter[str] = Counter()
        """What it called, by how that ended."""
        self.functions: Counter[str] = Counter()
        self.failures: list[str] = []


class AgentNode:
    """An agent and its steps, in the order in which they began."""

    def __init__(self, started: AgentStarted) -> None:
        self.path = started.agent
        self.role = started.role
        self.model = started.model
        self.depth = started.depth
        self.call = started.call
        self.status = "running"
        self.steps: list[Step] = []

    @property
    def parent(self) -> str:
        """The path of the agent that asked for it; "" for the root."""
        return self.path.rpartition("/")[0]


class Tree:
    """A fold of records in order. It holds a count for each step's calls, and the first few failures."""

    def __init__(self) -> None:
        self.agents: dict[str, AgentNode] = {}
        self._open: dict[int, tuple[CallStarted, Step]] = {}
        self._cells: dict[tuple[str, int], Step] = {}
        self._turns: dict[str, Step] = {}
        """The last one of each agent."""
        self._children: defaultdict[str, list[AgentNode]] = defaultdict(list)

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.fact:
            case AgentStarted() as started:
                self._begin_agent(started)
            case AgentFinished(agent=agent, status=status):
                self._agent(agent).status = status
            case CellStarted() as started:
                step = self._begin(started.agent, Step("cell", started.cell, record.at))
                step.code = started.code
                self._cells[started.agent, started.cell] = step
            case CellFinished() as finished:
                step = self._cell(finished.agent, finished.cell, record.at)
                step.ended, step.status, step.fault = record.at, finished.status, finished.fault
            case CallStarted() as started:
                self._start_call(started, record.at)
            case CallReused(agent=agent, cell=cell, function=function):
                step = self._cell(agent, cell, record.at)
                step.calls["cached"] += 1
                step.functions[function] += 1
            case CallFinished() as finished if finished.call in self._open:
                self._finish_call(finished, record.at)
            case RunResumed():
                self._interrupt()
            case _:
                pass

    def children(self, path: str) -> list[AgentNode]:
        """Return the agents that an agent asked for, in the order in which they began; for "" the topmost ones."""
        if not self._children:
            for node in self.agents.values():
                self._children[node.parent if node.parent in self.agents else ""].append(node)
        return self._children.get(path, [])

    def _begin_agent(self, started: AgentStarted) -> None:
        """Add an agent; one that works again in a later life goes on where it is."""
        before = self.agents.get(started.agent)
        self.agents[started.agent] = AgentNode(started)
        self._children.clear()
        if before is not None:
            self.agents[started.agent].steps = before.steps

    def _agent(self, path: str) -> AgentNode:
        """Return an agent; what a repair could not save of it stays empty."""
        if path not in self.agents:
            self._begin_agent(AgentStarted(path, "", ""))
        return self.agents[path]

    def _cell(self, agent: str, cell: int, at: float) -> Step:
        step = self._cells.get((agent, cell))
        if step is None:
            step = self._cells[agent, cell] = self._begin(agent, Step("cell", cell, at))
        return step

    def _begin(self, agent: str, step: Step) -> Step:
        self._agent(agent).steps.append(step)
        return step

    def _start_call(self, started: CallStarted, at: float) -> None:
        if started.function == TURN:
            step = self._turns[started.agent] = self._begin(started.agent, Step("turn", started.cell, at))
        elif started.native and started.agent in self._turns:
            step = self._turns[started.agent]
        else:
            step = self._cell(started.agent, started.cell, at)
        self._open[started.call] = (started, step)

    def _finish_call(self, finished: CallFinished, at: float) -> None:
        started, step = self._open.pop(finished.call)
        step.usage += finished.usage
        if started.function == TURN:
            step.ended, step.status, step.fault = at, finished.status, finished.fault
            return
        if started.function in WORK:
            step.calls[finished.status] += 1
            step.functions[started.function] += 1
            if finished.fault is not None and len(step.failures) < _MOST_FAILURES:
                step.failures.append(f"{started.label or f'call {started.call}'}: {finished.fault.message}")

    def _interrupt(self) -> None:
        """Close what was under way when the process ended."""
        for agent in self.agents.values():
            for step in agent.steps:
                if step.status == "running":
                    step.status = "interrupted"
        self._open.clear()
