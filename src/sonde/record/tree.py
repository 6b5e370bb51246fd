"""The task tree of `state.json`: a node for each agent and each piece of work, under the agent that asked for it."""

from typing import Any

from sonde.events import (
    ITEMS,
    ROOT,
    TURN,
    AgentFinished,
    AgentStarted,
    CallFinished,
    CallStarted,
    Record,
    RunFinished,
    RunResumed,
    Stored,
    Usage,
)
from sonde.journal.reader import Reader
from sonde.record.as_json import cost_as_json, fault_as_json, quoted
from sonde.record.names import id_of, moment, task_id

MOST_NODES = 10_000
HEAD_CHARS = 400
_STATUS = {
    "ok": "completed",
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
    "limit": "failed",
    "escalated": "pending",
}


class _Node:
    def __init__(self, node_id: str, parent: "_Node | None", depth: int, began: float) -> None:
        self.id = node_id
        self.parent = parent
        self.depth = depth
        self.began = began
        self.ended: float | None = None
        self.status = "running"
        self.facts: dict[str, Any] = {}
        self.asked: Stored | None = None
        self.said: CallFinished | None = None
        self.usage = Usage()
        self.cost_usd: float | None = None
        self.children: list[str] = []
        self.open = 0
        self.side_by_side = False


class TaskTree:
    """A fold of records. Beyond `MOST_NODES` nodes are only counted."""

    def __init__(self) -> None:
        self.total = self.completed = self.failed = 0
        self._run_id = ""
        self._nodes: list[_Node] = []
        self._agents: dict[str, _Node] = {}
        self._turns: dict[int, _Node] = {}
        self._open: dict[int, tuple[_Node | None, _Node | None]] = {}
        """The calls under way: their nodes, if they are listed, and those of the agents that made them."""

    def begin(self, run_id: str) -> None:
        """Say which run it is."""
        self._run_id = run_id

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.fact:
            case CallStarted() as started:
                if started.function in ITEMS:
                    self._start(started, record.at)
                elif started.function == TURN and started.agent in self._agents:
                    self._turns[started.call] = self._agents[started.agent]
            case CallFinished() as finished:
                self._finish(finished, record.at)
            case AgentStarted() as started:
                self._start_agent(started, record.at)
            case AgentFinished(agent=agent, status=status):
                self._finish_agent(agent, status, record.at)
            case RunResumed() | RunFinished():
                self._interrupt(record.at)
            case _:
                pass

    def as_json(self, reader: Reader, question: str) -> dict[str, Any]:
        """Return the tree as `state.json` has it. Raises `JournalError`."""
        plain: dict[str, Any] = {
            "tree_id": id_of("tree", self._run_id),
            "root_prompt": quoted(question),
            "max_depth": max((node.depth for node in self._nodes), default=0),
            "total_nodes": self.total,
            "completed_nodes": self.completed,
            "failed_nodes": self.failed,
        }
        if self.total > len(self._nodes):
            plain["nodes_not_listed"] = self.total - len(self._nodes)
        return plain | {"nodes": [_as_json(node, reader, question) for node in self._nodes]}

    def _new_node(self, node_id: str, parent: _Node | None, depth: int, at: float) -> _Node:
        node = _Node(node_id, parent, depth, at)
        self._nodes.append(node)
        if parent is not None:
            parent.children.append(node.id)
        return node

    def _start(self, started: CallStarted, at: float) -> None:
        self.total += 1
        parent = self._agents.get(started.agent)
        if parent is not None:
            parent.open += 1
            parent.side_by_side |= parent.open > 1
        if len(self._nodes) >= MOST_NODES:
            self._open[started.call] = None, parent
            return
        depth = started.agent.count("/") if parent is None else parent.depth
        node = self._new_node(task_id(self._run_id, started.agent, started.call), parent, depth, at)
        node.facts = {"agent": started.agent, "call": started.call, "function": started.function}
        if started.label:
            node.facts["label"] = quoted(started.label)
        node.asked = started.request
        self._open[started.call] = node, parent

    def _start_agent(self, started: AgentStarted, at: float) -> None:
        path = started.agent
        if path in self._agents:
            return
        node = self._open[started.call][0] if started.call in self._open else None
        if node is None:
            if started.call or len(self._nodes) >= MOST_NODES:
                return
            self.total += 1
            parent = self._agents.get(path.rpartition("/")[0])
            node = self._new_node(task_id(self._run_id, path, 0), parent, started.depth, at)
        node.depth = started.depth
        node.facts |= {"agent": path, "role": started.role, "model": started.model}
        self._agents[path] = node

    def _finish(self, finished: CallFinished, at: float) -> None:
        turn = self._turns.pop(finished.call, None)
        if turn is not None:
            _count(turn, finished)
            return
        if finished.call not in self._open:
            return
        node, parent = self._open.pop(finished.call)
        if parent is not None:
            parent.open -= 1
        self._end(node, _STATUS[finished.status], at)
        if node is not None:
            _count(node, finished)
            node.said = finished

    def _finish_agent(self, path: str, status: str, at: float) -> None:
        node = self._agents.get(path) if path == ROOT else self._agents.pop(path, None)
        if node is not None and "call" not in node.facts:
            self._end(node, _STATUS[status], at)

    def _end(self, node: _Node | None, status: str, at: float) -> None:
        if node is not None:
            if node.ended is not None:  # the root of a run that was resumed ends again
                self.completed -= node.status == "completed"
                self.failed -= node.status == "failed"
            node.ended, node.status = at, status
        self.completed += status == "completed"
        self.failed += status == "failed"

    def _interrupt(self, at: float) -> None:
        for node, parent in self._open.values():
            self._end(node, "cancelled", at)
            if parent is not None:
                parent.open = 0
        self._open.clear()
        self._turns.clear()


def _count(node: _Node, finished: CallFinished) -> None:
    node.usage += finished.usage
    if finished.cost_usd is not None:
        node.cost_usd = (node.cost_usd or 0.0) + finished.cost_usd


def _as_json(node: _Node, reader: Reader, question: str) -> dict[str, Any]:
    prompt = question if node.asked is None else reader.text(node.asked)
    plain: dict[str, Any] = {
        "node_id": node.id,
        "parent_id": None if node.parent is None else node.parent.id,
        "depth": node.depth,
        "prompt": quoted(prompt[:HEAD_CHARS]),
        "status": node.status,
        **node.facts,
        "children": node.children,
    }
    if len(prompt) > HEAD_CHARS:
        plain["prompt_chars"] = len(prompt)
    if node.children:
        plain["decomposition_strategy"] = "parallel" if node.side_by_side else "sequential"
    if node.usage.requests or node.usage.unreported_tokens:
        plain["cost"] = cost_as_json(node.usage, node.cost_usd)
    if node.said is not None:
        plain["result"] = _result(node.said)
    times: dict[str, Any] = {"started_at": moment(node.began)}
    if node.ended is not None:
        times |= {"completed_at": moment(node.ended), "duration_ms": round(1000 * (node.ended - node.began))}
    return plain | {"timestamps": times}


def _result(said: CallFinished) -> dict[str, Any]:
    plain: dict[str, Any] = {"status": "success" if said.status == "ok" else said.status}
    if said.fault is not None:
        plain["error"] = fault_as_json(said.fault)
    if said.cached:
        plain["cached"] = True
    return plain
