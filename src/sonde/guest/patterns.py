"""Six ways to put many agents to work, each with phases that can be watched.

Whoever works, judges or decides is a function, which may be async, or the name of a subagent. What fails is None in its
place, and told in the output. As `vocabulary.py`, this runs in every Python and keeps to what Monty knows.
"""

import asyncio
import json
import math
from typing import Any

from .delegation import task
from .vocabulary import bounded, is_plain, llm, settled, told, without_failures

host_call: Any

_RULES = ["majority", "all", "any"]
_SIDES = [
    "Look for evidence that it is true.",
    "Look for evidence that it is false.",
    "Check every detail: names, numbers, places, dates.",
    "Look for another explanation of what it rests on.",
    "Ask whether it holds in all cases, or only in some.",
]
_MOST_TOLD = 20


def _object(name: str, kind: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: kind}, "required": [name]}


_VERDICT = _object("confirmed", {"type": "boolean"})
_WINNER = _object("winner", {"type": "string", "enum": ["A", "B"]})
_SCORE = _object("score", {"type": "number"})
_ITEMS = _object("items", {"type": "array"})


async def fan_out(items: Any, worker: Any, synthesize: Any = None) -> Any:
    """Have a worker for each item, all at once; return what they gave, in order. `synthesize` makes one of what the
    living gave."""
    listed = bounded(items)
    await _phase("fan out")
    outcomes = await asyncio.gather(*[settled(work(worker, [item])) for item in listed])
    values = without_failures("fan_out", outcomes)
    if synthesize is None:
        return values
    await _phase("synthesize")
    return await work(synthesize, [[value for value, error in outcomes if error is None]])


async def classify_and_act(items: Any, classifier: Any, routes: dict[str, Any], default: Any = None) -> list[Any]:
    """Label each item, then have it done by the worker of its label; return what they gave, in order. Raises
    `ValueError` for a label without a worker, before any of them begins."""
    listed = bounded(items)
    await _phase("classify")
    labels = await asyncio.gather(*[settled(work(classifier, [item])) for item in listed])
    without_failures("classify_and_act: labels", labels)
    acting: list[tuple[int, Any]] = []
    for number, (label, error) in enumerate(labels):
        if error is None:
            acting.append((number, _route(number, label, routes, default)))
    await _phase("act")
    outcomes = await asyncio.gather(*[settled(work(worker, [listed[number]])) for number, worker in acting])
    values: list[Any] = [None for _ in listed]
    for at, value in enumerate(without_failures("classify_and_act", outcomes)):
        values[acting[at][0]] = value
    return values


def _route(number: int, label: Any, routes: dict[str, Any], default: Any) -> Any:
    named = _field(label, "label")
    for route, worker in routes.items():
        if route == named or str(route).strip().lower() == str(named).strip().lower():
            return worker
    if default is None:
        known = ", ".join([str(route) for route in routes])
        raise ValueError(f"item {number} was labelled {named!r}; known: {known}. Give default= for all others")
    return default


async def verify(findings: Any, n: int = 3, rule: str = "majority", verifier: Any = None) -> list[Any]:
    """Have each finding checked by `n` who know nothing of each other; return those confirmed. Whoever fails has not
    refuted; a tie is dropped. What was dropped is told."""
    if rule not in _RULES:
        raise ValueError(f"verify: rule {rule!r}; use one of {', '.join(_RULES)}")
    if n < 1:
        raise ValueError(f"verify: n={n}: at least one must look")
    listed = bounded(findings)
    await _phase("verify")
    looking = [settled(_verdict(verifier, finding, number)) for finding in listed for number in range(n)]
    outcomes = await asyncio.gather(*looking)
    verdicts = without_failures("verify: verdicts", outcomes)
    kept: list[Any] = []
    dropped: list[str] = []
    for number, finding in enumerate(listed):
        votes = verdicts[number * n : (number + 1) * n]
        why = _refusal(votes.count(True), votes.count(False), rule)
        if why is None:
            kept.append(finding)
        else:
            dropped.append(f"number {number} {why}")
    if dropped:
        print(f"verify: {len(kept)} of {len(listed)} kept; dropped: {_some(dropped)}")
    return kept


async def _verdict(verifier: Any, finding: Any, number: int) -> bool | None:
    asked = f"{as_text(finding)}\n\nIs this so? {_SIDES[number % len(_SIDES)]} Confirm it only if you are sure."
    if verifier is None:
        verdict = await llm(asked, _VERDICT, label="verify")
    else:
        verdict = await work(verifier, [finding], asked, _VERDICT)
    verdict = _field(verdict, "confirmed")
    if isinstance(verdict, str):
        words = verdict.strip().lower()
        if words.startswith(("yes", "true", "confirm")):
            return True
        return False if words.startswith(("no", "false", "refut")) else None
    return None if verdict is None else bool(verdict)


def _refusal(confirmed: int, refuted: int, rule: str) -> str | None:
    """Return why a finding is dropped, or None if it is kept."""
    if confirmed + refuted == 0:
        return "unverified"
    if rule == "majority":
        if confirmed == refuted:
            return f"tied {confirmed}:{refuted}"
        keep = confirmed > refuted
    else:
        keep = refuted == 0 if rule == "all" else confirmed > 0
    return None if keep else f"refuted {refuted}:{confirmed}"


async def generate_and_filter(n: int, generate: Any, score: Any, keep: int = 1) -> list[Any]:
    """Make `n` proposals that know nothing of each other, `generate(1)` to `generate(n)`; return the `keep` that score
    highest, best first."""
    if n < 0 or keep < 0:
        raise ValueError(f"generate_and_filter: n={n}, keep={keep}: neither can be less than 0")
    numbers = bounded(range(1, n + 1))
    await _phase("generate")
    made = await asyncio.gather(
        *[settled(work(generate, [number], f"Make proposal {number} of {n}, on your own.")) for number in numbers]
    )
    without_failures("generate_and_filter: proposals", made)
    proposals = [value for value, error in made if error is None]
    await _phase("filter")
    scores = await asyncio.gather(*[settled(_score(score, proposal)) for proposal in proposals])
    without_failures("generate_and_filter: scores", scores)
    scored = [(value, at) for at, (value, error) in enumerate(scores) if error is None]
    best = sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:keep]
    return [proposals[at] for _, at in best]


async def _score(score: Any, proposal: Any) -> float:
    value = _field(await work(score, [proposal], None, _SCORE), "score")
    if not isinstance(value, (int, float)) or math.isnan(value):
        raise TypeError(f"a score must be a number, not {value!r}")
    return value


async def tournament(entries: Any, judge: Any) -> Any:
    """Return the entry that is left when each round's losers are gone. `judge(a, b)` says "A" or "B"; an odd one out
    goes on. Raises `ValueError` without entries."""
    left: list[Any] = bounded(entries)
    if not left:
        raise ValueError("tournament: there are no entries")
    number = 0
    while len(left) > 1:
        number += 1
        await _phase(f"tournament round {number}")
        pairs: list[Any] = [(left[at], left[at + 1]) for at in range(0, len(left) - 1, 2)]
        outcomes = await asyncio.gather(*[settled(_winner(judge, first, second)) for first, second in pairs])
        winners: list[Any] = []
        for at, (winner, error) in enumerate(outcomes):
            if error is not None:
                print(f"tournament: round {number}, pair {at}: the first stands, for its judge failed: {told(error)}")
            winners.append(pairs[at][0] if error is not None else winner)
        left = winners + left[len(pairs) * 2 :]
    return left[0]


async def _winner(judge: Any, first: Any, second: Any) -> Any:
    asked = f"Which is better?\n\nA:\n{as_text(first)}\n\nB:\n{as_text(second)}"
    said = await work(judge, [first, second], asked, _WINNER)
    said = _field(said, "winner", said)
    if said == "A" or said == first:
        return first
    if said == "B" or said == second:
        return second
    if isinstance(said, str) and said.strip().upper() in ["A", "B"]:
        return first if said.strip().upper() == "A" else second
    raise ValueError(f"it said {said!r}, neither A nor B")


async def loop_until_done(step: Any, key: Any = None, dry_rounds: int = 1, max_rounds: int = 20) -> list[Any]:
    """Call `step(found)` round after round until so many rounds bring nothing new; return all that was found. `key` is
    a function, or the name of a field, that tells items apart. An end before that is told."""
    if dry_rounds < 1 or max_rounds < 1:
        raise ValueError(f"loop_until_done: dry_rounds={dry_rounds}, max_rounds={max_rounds}: both must be above 0")
    found: list[Any] = []
    seen: set[str] = set()
    succeeded = dry = failed = 0
    for number in range(1, max_rounds + 1):
        await _phase(f"round {number}")
        asked = f"Find what is not yet among these, as items; none if there is nothing more:\n{as_text(found)}"
        items, error = await settled(_items(step, found, asked))
        if error is not None:
            failed += 1
            print(f"loop_until_done: round {number} failed: {told(error)}")
            if failed == 2 and not succeeded:
                raise error
            if failed == 2:
                print("loop_until_done: two rounds in a row failed: more may be left")
                return found
            continue
        succeeded, failed = succeeded + 1, 0
        fresh = _fresh(items, key, seen)
        found.extend(fresh)
        dry = 0 if fresh else dry + 1
        if dry == dry_rounds:
            return found
    print(f"loop_until_done: stopped after {max_rounds} rounds, before {dry_rounds} without anything new: {_LEFT}")
    return found


async def _items(step: Any, found: list[Any], asked: str) -> list[Any]:
    items = _field(await work(step, [list(found)], asked, _ITEMS), "items")
    if isinstance(items, str):
        raise TypeError("a step returns a list of items, not text")
    return [] if items is None else list(items)


def _fresh(items: list[Any], key: Any, seen: set[str]) -> list[Any]:
    """Return those not seen before, and note them."""
    fresh: list[Any] = []
    for item in items:
        name = canonical(told_apart(item, key))
        if name not in seen:
            seen.add(name)
            fresh.append(item)
    return fresh


def told_apart(item: Any, key: Any) -> Any:
    """Return what tells an item from others: itself, one of its fields, or what a function gives."""
    if key is None:
        return item
    return item[key] if isinstance(key, str) else key(item)


async def work(worker: Any, given: list[Any], asked: str | None = None, schema: dict[str, Any] | None = None) -> Any:
    """Have a function work on what is given, or the subagent of that name on what is asked: the item as text."""
    if isinstance(worker, str):
        told_of = given[0] if len(given) == 1 else given
        return await task(as_text(told_of) if asked is None else asked, worker, schema)
    value = worker(*given)
    return value if is_plain(value) else await value


def as_text(item: Any) -> str:
    """Return an item as an agent reads it."""
    if isinstance(item, str):
        return item
    try:
        return json.dumps(item, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(item)


def canonical(value: Any) -> str:
    """Return a text that is the same for values that are alike."""
    try:
        return json.dumps(value, sort_keys=True)
    except (TypeError, ValueError):
        return str(value)


def _field(value: Any, name: str, missing: Any = None) -> Any:
    """Return the field that was asked for, of whoever answers in an object; else what was answered."""
    return value.get(name, missing) if type(value).__name__ == "dict" else value


async def _phase(name: str) -> None:
    await host_call("phase", {"name": name})


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - _MOST_TOLD} more" if len(texts) > _MOST_TOLD else ""
    return ", ".join(texts[:_MOST_TOLD]) + more


_LEFT = "more may be left"
