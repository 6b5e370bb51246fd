"""`trajectory.jsonl`: what each agent thought, did and saw, step by step, one line each, as it happened."""

import re
from typing import Any

import msgspec

from sonde.events import (
    ITEMS,
    TURN,
    AgentFinished,
    AgentStarted,
    Answered,
    CallFinished,
    CallStarted,
    CellFinished,
    CellStarted,
    Fault,
    Record,
    RunFinished,
    RunResumed,
    RunStarted,
    Stored,
    Usage,
)
from sonde.journal.reader import Reader
from sonde.record.as_json import cost_as_json, fault_as_json, quoted, raw, usage_as_json
from sonde.record.files import LineFile
from sonde.record.names import VERSION, id_of, moment, task_id
from sonde.record.replies import said_in

SHOWN_CHARS = 4000
"""Of each text that was observed; it is as much as the model saw. The journal has the whole."""

_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_ENDS_FOR_GOOD = frozenset({"completed", "failed"})
"""An agent that ended in another way may go on in a later life, where it was. So may a failed root."""
_OBSERVED = {"ok": "success", "error": "error", "timeout": "timeout", "killed": "error", "failed": "failure"}


class _Turn:
    """A reply of the model, and whether anything was done with it yet."""

    def __init__(self, number: int, text: str, began: float, at: float, finished: CallFinished) -> None:
        self.number = number
        self.text = text
        self.began = began
        self.at = at
        self.usage: Usage = finished.usage
        self.cost_usd = finished.cost_usd
        self.used = False


class _Agent:
    """What is needed of an agent until it ends."""

    def __init__(self, started: AgentStarted, began: float, run_id: str) -> None:
        self.path = started.agent
        self.began = began
        self.id = id_of("traj", run_id, started.agent)
        self.task_id = task_id(run_id, started.agent, started.call)
        self.iterations = 0
        self.usage = Usage()
        self.turn: _Turn | None = None
        self.cells: dict[int, tuple[Stored, float]] = {}
        self.answer: Stored | None = None


class Trajectory:
    """A fold of records that writes as it goes. It holds no more than what is under way."""

    def __init__(self, file: LineFile, reader: Reader) -> None:
        self._file = file
        self._reader = reader
        self._run_id = ""
        self._question = ""
        self._agents: dict[str, _Agent] = {}
        self._open: dict[int, tuple[CallStarted, float]] = {}
        self._asked: dict[int, Stored] = {}
        self._version = ""

    def begin(self, question: str) -> None:
        """Say what the root was asked."""
        self._question = question

    def add(self, record: Record) -> None:
        """Take in the next record."""
        fact, at = record.fact, record.at
        match fact:
            case CallStarted(function=function):
                if function == TURN or fact.native:
                    self._open[fact.call] = fact, at
                if function in ITEMS and function != "llm":
                    self._asked[fact.call] = fact.request
            case CallFinished():
                self._asked.pop(fact.call, None)
                if fact.call in self._open:
                    self._finish_call(fact, at)
            case CellStarted():
                self._agent(fact.agent, at).cells[fact.cell] = fact.code, at
            case CellFinished():
                self._finish_cell(fact, at)
            case Answered():
                self._agent(fact.agent, at).answer = fact.value
            case AgentStarted():
                self._start_agent(fact, at)
            case AgentFinished():
                self._finish_agent(fact, at)
            case _:
                self._add_rare(record)

    def _add_rare(self, record: Record) -> None:
        match record.fact:
            case RunStarted(run_id=run_id, version=version):
                self._run_id, self._version = run_id, version
            case RunResumed() | RunFinished():
                self._interrupt(record.at)
            case _:
                pass

    def _agent(self, path: str, at: float) -> _Agent:
        """Return an agent; one whose beginning is not in the record begins here."""
        if path not in self._agents:
            self._start_agent(AgentStarted(path, "", "", path.count("/")), at)
        return self._agents[path]

    def _start_agent(self, started: AgentStarted, at: float) -> None:
        path = started.agent
        if path in self._agents:
            return
        agent = self._agents[path] = _Agent(started, at, self._run_id)
        parent = self._agents.get(path.rpartition("/")[0])
        asked = self._asked.get(started.call)
        context: dict[str, Any] = {
            "task_id": agent.task_id,
            "tree_id": id_of("tree", self._run_id),
            "state_id": id_of("state", self._run_id),
            "task_type": started.role or "agent",
            "depth": started.depth,
        }
        if parent is not None:
            context["parent_task_id"] = parent.task_id
        if "/" in path:
            if asked is not None:
                context["task_prompt"] = quoted(self._reader.text(asked))
        else:
            context["task_prompt"] = quoted(self._question)
        self._write(
            {
                "kind": "header",
                "version": VERSION,
                "trajectory_id": agent.id,
                "run_id": self._run_id,
                "agent": path,
                "task_context": context,
                "metadata": {"model": started.model, "started_at": moment(at), "sonde_version": self._version},
            }
        )

    def _finish_call(self, finished: CallFinished, at: float) -> None:
        started, began = self._open.pop(finished.call)
        agent = self._agent(started.agent, at)
        if started.function != TURN:
            self._used_tool(agent, started, finished, began, at)
            return
        self._leave_unused(agent)
        agent.usage += finished.usage
        agent.turn = _Turn(started.cell, "", began, at, finished)
        if finished.status == "ok" and finished.value is not None:
            agent.turn.text = said_in(self._reader.text(finished.value)).text
        else:
            observed: dict[str, Any] = {"status": "failure" if finished.status == "failed" else "partial"}
            if finished.fault is not None:
                observed |= {"status": _status_of(finished.fault), "error": fault_as_json(finished.fault)}
            self._step(agent, {"tool": "model", "description": "ask the model"}, observed, at)

    def _used_tool(self, agent: _Agent, started: CallStarted, finished: CallFinished, began: float, at: float) -> None:
        name = started.label if started.function == "tool" and started.label else started.function
        action = {
            "tool": name,
            "parameters": {"request": quoted(self._reader.text(started.request)), "call": started.call},
            "description": f"use {name}",
        }
        observed: dict[str, Any] = {
            "status": _OBSERVED.get(finished.status, "partial"),
            "duration_s": round(at - began, 6),
        }
        if finished.value is not None:
            self._show(observed, "result", finished.value)
        if finished.fault is not None:
            observed |= {"status": _status_of(finished.fault), "error": fault_as_json(finished.fault)}
        self._step(agent, action, observed, at)

    def _finish_cell(self, finished: CellFinished, at: float) -> None:
        agent = self._agent(finished.agent, at)
        code, began = agent.cells.pop(finished.cell, ("", at))
        observed: dict[str, Any] = {"status": _OBSERVED[finished.status], "duration_s": round(at - began, 6)}
        if finished.value is not None:
            self._show(observed, "result", finished.value)
        if finished.stdout is not None:
            self._show(observed, "stdout", finished.stdout)
        if finished.fault is not None:
            observed["error"] = fault_as_json(finished.fault)
        self._step(agent, self._cell(finished.cell, code), observed, at)

    def _cell(self, number: int, code: Stored) -> dict[str, Any]:
        parameters = {"cell": number, "code": quoted(self._reader.text(code))}
        return {"tool": "eval", "parameters": parameters, "description": f"run cell {number}"}

    def _show(self, observed: dict[str, Any], name: str, stored: Stored) -> None:
        text = self._reader.text(stored)
        observed[name] = quoted(text[:SHOWN_CHARS])
        if len(text) > SHOWN_CHARS:
            observed[f"{name}_chars"] = len(text)

    def _step(self, agent: _Agent, action: dict[str, Any], observed: dict[str, Any], at: float) -> None:
        agent.iterations += 1
        step: dict[str, Any] = {
            "kind": "iteration",
            "trajectory_id": agent.id,
            "agent": agent.path,
            "iteration_number": agent.iterations,
            "timestamp": moment(at),
        }
        turn = agent.turn
        if turn is not None:
            thought = _FENCE.split(turn.text, maxsplit=1)[0] if action["tool"] == "eval" else turn.text
            step["turn"] = turn.number
            step["thought"] = {"content": quoted(thought.strip())}
            if not turn.used:
                step["cost"] = cost_as_json(turn.usage, turn.cost_usd)
                step["duration_s"] = round(at - turn.began, 6)
            turn.used = True
        self._write(step | {"action": action, "observation": observed})

    def _leave_unused(self, agent: _Agent) -> None:
        """Write the last reply as a step of its own if nothing was done with it."""
        turn = agent.turn
        if turn is None or turn.used:
            return
        if agent.answer is not None:
            observed: dict[str, Any] = {"status": "success"}
            self._show(observed, "result", agent.answer)
            self._step(agent, {"tool": "answer", "description": "answer with this text"}, observed, turn.at)
        else:
            action = {"tool": "none", "description": "reply without code or tools"}
            self._step(agent, action, {"status": "partial"}, turn.at)

    def _finish_agent(self, finished: AgentFinished, at: float) -> None:
        agent = self._agent(finished.agent, at)
        self._leave_unused(agent)
        if finished.status in _ENDS_FOR_GOOD and "/" in agent.path:
            self._agents.pop(agent.path, None)
        outcome: dict[str, Any] = {"status": finished.status}
        if agent.answer is not None:
            outcome["final_result"] = raw(agent.answer, self._reader)
        self._write(
            {
                "kind": "outcome",
                "trajectory_id": agent.id,
                "agent": agent.path,
                "outcome": outcome,
                "metadata": {
                    "completed_at": moment(at),
                    "total_duration_s": round(at - agent.began, 6),
                    "iterations": agent.iterations,
                    "tokens": usage_as_json(agent.usage),
                },
            }
        )

    def _interrupt(self, at: float) -> None:
        """Write the steps that were under way when the run stopped; they go on, or begin anew, in a later life."""
        self._open.clear()
        self._asked.clear()
        for agent in self._agents.values():
            for number, (code, began) in agent.cells.items():
                observed = {"status": "partial", "duration_s": round(at - began, 6)}
                self._step(agent, self._cell(number, code), observed, at)
            agent.cells.clear()

    def _write(self, plain: dict[str, Any]) -> None:
        self._file.write(msgspec.json.encode(plain))


def _status_of(fault: Fault) -> str:
    return "timeout" if fault.kind == "timeout" else "error"
