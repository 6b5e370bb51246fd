"""One subagent's session, as people and programs read it."""

from collections.abc import Iterator
from typing import Any

from sonde import jsontext
from sonde.cli.output import fault_line
from sonde.errors import RunChoiceError
from sonde.journal.reader import Reader
from sonde.record.session import Sent, Session, SessionName


def session_of(name: SessionName, reader: Reader) -> Session:
    """Return the session that a call began, or the one whose result it was answered with. Raises `RunChoiceError` if
    the run has no such call, `JournalError`."""
    sent = Sent(name.call)
    for record in reader.records():
        sent.add(record)
    session = Session(name.call, sent.agent)
    for record in reader.records():
        session.add(record)
    if session.source is not None:
        return session_of(name._replace(call=session.source), reader)
    if session.asked is None:
        raise RunChoiceError(f"run {name.run} has no call {name.call}", f"`sonde show {name.run} --calls` lists them.")
    return session


def session_lines(name: SessionName, session: Session, reader: Reader) -> Iterator[str]:
    """Yield who worked, what it was told and said, and what came of it. Raises `JournalError`."""
    agent, asked = session.agent, session.asked
    assert asked is not None, "there is no session without a call"
    yield f"session   session://{name.run}/{name.call}"
    if agent is None:
        yield f"agent     none: {asked.function} sent no agent"
        yield f"asked     {reader.text(asked.request)}"
    else:
        yield f"agent     {agent.agent} · {agent.role} · {agent.model} · depth {agent.depth} · {session.status}"
    for message in session.messages(reader):
        yield ""
        yield f"[{message['role']}]"
        yield from message["text"].splitlines()
        yield from (f"→ {call['name']} {call['arguments']}" for call in message.get("tool_calls", ()))
    finished = session.finished
    if finished is not None and finished.fault is not None:
        yield f"failed    {fault_line(finished.fault)}"
    elif finished is not None and agent is None and finished.value is not None:
        yield f"answer    {reader.text(finished.value)}"


def session_as_json(name: SessionName, session: Session, reader: Reader) -> str:
    """Return one JSON object. Raises `JournalError`."""
    agent, asked, finished = session.agent, session.asked, session.finished
    assert asked is not None, "there is no session without a call"
    plain: dict[str, Any] = {
        "session": f"session://{name.run}/{name.call}",
        "run_id": name.run,
        "call": name.call,
        "parent": asked.agent,
        "function": asked.function,
        "request": reader.text(asked.request),
        "status": "unfinished" if finished is None else finished.status,
        "value": None,
        "error": None,
        "messages": session.messages(reader),
    }
    if agent is not None:
        plain |= {"agent": agent.agent, "role": agent.role, "model": agent.model, "depth": agent.depth}
    if finished is not None and finished.value is not None:
        plain["value"] = jsontext.decode(reader.text(finished.value), object)
    if finished is not None and finished.fault is not None:
        plain["error"] = finished.fault.message
    return jsontext.encode_valid(plain).decode()
