"""What every interpreter must do with the six patterns, at their edges above all."""

from tests.conformance.delegating import Delegate, delegating, error_of, plain
from tests.sessions import Session


@delegating
async def test_fan_out_keeps_order_and_the_places_of_the_dead(session: Session, host: Delegate) -> None:
    result = await session.run(
        session.pick(
            "await fan_out(['a', 'fail', 'c'], llm, lambda found: '+'.join(found))",
            js="await fanOut(['a', 'fail', 'c'], x => llm(x), found => found.join('+'))",
        )
    )
    assert plain(result.value) == "'A+C'"
    assert "1 of 3 failed; the first, number 1" in result.stdout
    assert host.phases == ["fan out", "synthesize"]
    listed = session.pick("await fan_out(['fail', 'b'], llm)", js="await fan_out(['fail', 'b'], x => llm(x))")
    assert plain(await session.value(listed)) == "[null, 'B']"
    assert await session.value(session.pick("await fan_out([], llm)", js="await fanOut([], llm)")) == "[]"


@delegating
async def test_a_worker_can_be_a_subagent(session: Session, host: Delegate) -> None:
    code = session.pick(
        "await fan_out(['a', {'b': 1}], 'reviewer', 'reviewer')",
        js="await fanOut(['a', {b: 1}], 'reviewer', 'reviewer')",
    )
    await session.value(code)
    first, second, last = host.asked("task")
    assert first == {"description": "a", "subagent_type": "reviewer"}
    assert second["description"].replace(" ", "") == '{"b":1}'
    assert "reviewer" in last["subagent_type"]
    assert '"a"' in last["description"]


@delegating
async def test_each_item_goes_where_its_label_says(session: Session, host: Delegate) -> None:
    code = session.pick(
        """
kinds = ['bug', 'feature', 'question']
tickets = [{'text': f'{kinds[n % 3]} {n}', 'kind': kinds[n % 3]} for n in range(30)]
done = await classify_and_act(tickets, lambda t: t['kind'], {
    'bug': lambda t: llm('fix ' + t['text']), 'feature': lambda t: t['text'], 'question': 'reviewer'})
[len(done), done[0], done[1], sum(1 for d in done if d.startswith('FIX'))]
""",
        js="""
const kinds = ['bug', 'feature', 'question'];
const tickets = Array.from({ length: 30 }, (_, n) => ({ text: `${kinds[n % 3]} ${n}`, kind: kinds[n % 3] }));
const done = await classifyAndAct(tickets, t => t.kind, {
  bug: t => llm('fix ' + t.text), feature: t => t.text, question: 'reviewer' });
[done.length, done[0], done[1], done.filter(d => d.startsWith('FIX')).length]
""",
    )
    assert plain(await session.value(code)) == "[30, 'FIX BUG 0', 'feature 1', 10]"
    assert len(host.asked("task")) == 10
    assert host.phases == ["classify", "act"]


@delegating
async def test_an_unknown_label_has_a_default_or_is_an_error(session: Session, host: Delegate) -> None:
    code = session.pick(
        "await classify_and_act(['a', 'b'], lambda x: x, {'a': llm}{})",
        js="await classifyAndAct(['a', 'b'], x => x, {a: x => llm(x)}{})",
    ).replace("{}", "<>")
    error = await error_of(session, code.replace("<>", ""))
    assert "'b'" in plain(error)
    assert "known: a" in error
    assert host.asked("llm") == [], "none of them began"
    default = session.pick(", default=lambda x: 'other'", js=", {default: () => 'other'}")
    assert plain(await session.value(code.replace("<>", default))) == "['A', 'other']"
    dead = session.pick(
        "await classify_and_act(['fail', 'A'], llm, {'A': llm})",
        js="await classifyAndAct(['fail', 'A'], x => llm(x), {A: x => llm(x)})",
    )
    assert plain(await session.value(dead)) == "[null, 'A']"


VERIFY = (
    """
votes = {'both': [True, True], 'more': [True, True, False], 'less': [False, True, False], 'tie': [True, False, None],
    'dead': ['dead', True, 'dead'], 'none': [None, None, None]}
turn = {}
def look(finding):
    turn[finding] = turn.get(finding, -1) + 1
    vote = votes[finding][turn[finding]]
    if vote == 'dead':
        raise ValueError('dead')
    return vote
""",
    """
const votes = { both: [true, true], more: [true, true, false], less: [false, true, false], tie: [true, false, null],
  dead: ['dead', true, 'dead'], none: [null, null, null] }
let turn = {}
function look(finding) {
  turn[finding] = (turn[finding] ?? -1) + 1
  const vote = votes[finding][turn[finding]]
  if (vote === 'dead') throw new Error('dead')
  return vote
}
""",
)


@delegating
async def test_findings_are_kept_by_the_rule(session: Session, host: Delegate) -> None:
    await session.run(session.pick(VERIFY[0], js=VERIFY[1]))
    found = "['more', 'less', 'tie', 'dead', 'none']"
    code = session.pick(
        f"turn = {{}}\nawait verify({found}, 3, RULE, look)",
        js=f"turn = {{}}; await verify({found}, {{n: 3, rule: RULE, verifier: look}})",
    )
    result = await session.run(code.replace("RULE", "'majority'"))
    assert plain(result.value) == "['more', 'dead']"
    assert "2 of 15 failed" in result.stdout
    assert "number 1 refuted 2:1, number 2 tied 1:1, number 4 unverified" in result.stdout
    assert plain(await session.value(code.replace("RULE", "'all'"))) == "['dead']"
    assert plain(await session.value(code.replace("RULE", "'any'"))) == "['more', 'less', 'tie', 'dead']"
    assert "majority, all, any" in await error_of(session, code.replace("RULE", "'most'"))
    assert host.phases == ["verify"] * 3
    assert await session.value("await verify([])") == "[]"


@delegating
async def test_each_verifier_is_told_to_look_from_another_side(session: Session, host: Delegate) -> None:
    assert plain(await session.value("await verify(['birds', 'fish'])")) == "['birds']"
    prompts = [call["prompt"] for call in host.asked("llm")]
    assert len(set(prompts)) == len(prompts) == 6
    code = session.pick(
        "await verify(['x'], n=2, verifier='reviewer')", js="await verify(['x'], {n: 2, verifier: 'reviewer'})"
    )
    assert plain(await session.value(code)) == "['x']"
    assert all(call["description"].startswith("x\n") for call in host.asked("task"))


@delegating
async def test_the_best_of_what_was_made_is_kept(session: Session, host: Delegate) -> None:
    code = session.pick(
        "await generate_and_filter(4, lambda k: llm('fail' if k == 2 else f'n{k}'), lambda p: int(p[1:]) % 4, keep=<>)",
        js="await generateAndFilter(4, k => llm(k == 2 ? 'fail' : `n${k}`), p => Number(p.slice(1)) % 4, {keep: <>})",
    )
    result = await session.run(code.replace("<>", "2"))
    assert plain(result.value) == "['N3', 'N1']"
    assert "proposals: 1 of 4 failed" in result.stdout
    assert host.phases == ["generate", "filter"]
    ties = session.pick(
        "await generate_and_filter(3, lambda k: k, lambda p: 1)", js="await generateAndFilter(3, k => k, p => 1)"
    )
    assert await session.value(ties) == "[1]"
    none = session.pick("await generate_and_filter(0, llm, len)", js="await generateAndFilter(0, llm, llm)")
    assert await session.value(none) == "[]"
    odd = session.pick(
        "await generate_and_filter(1, lambda k: k, lambda p: 'good')",
        js="await generateAndFilter(1, k => k, p => 'good')",
    )
    result = await session.run(odd)
    assert result.value == "[]"
    assert "must be a number" in result.stdout


@delegating
async def test_five_entries_need_four_judgements(session: Session, host: Delegate) -> None:
    await session.run(
        session.pick(
            "asked = []\nasync def judge(a, b):\n    asked.append([a, b])\n    await llm('x')\n    return 'B'",
            js="const asked = []; async function judge(a, b) { asked.push([a, b]); await llm('x'); return 'B' }",
        )
    )
    assert await session.value("await tournament([1, 2, 3, 4, 5], judge)") == "5"
    assert await session.value("asked") == "[[1, 2], [3, 4], [2, 4], [4, 5]]"
    assert host.phases == ["tournament round 1", "tournament round 2", "tournament round 3"]
    assert await session.value("await tournament([7], judge)") == "7"
    assert len(host.asked("llm")) == 4
    assert "no entries" in await error_of(session, "await tournament([], judge)")
    assert plain(await session.value("await tournament(['a', 'b'], 'reviewer')")) == "'b'"


@delegating
async def test_where_a_judge_fails_the_first_stands(session: Session, host: Delegate) -> None:
    for judge in (
        session.pick("lambda a, b: llm('fail')", js="() => llm('fail')"),
        session.pick("lambda a, b: 'both'", js="() => 'both'"),
    ):
        result = await session.run(f"await tournament([1, 2], {judge})")
        assert result.value == "1"
        assert "the first stands" in result.stdout


@delegating
async def test_a_loop_ends_when_nothing_new_comes(session: Session, host: Delegate) -> None:
    step = session.pick(
        "rounds = [[{'id': 1}, {'id': 2}, {'id': 3}, {'id': 1}], [{'id': 2, 'x': 1}, {'id': 4}], [{'id': 4}]]\n"
        "sizes = []\n"
        "async def step(found):\n    sizes.append(len(found))\n    await llm('x')\n    return rounds[len(sizes) - 1]",
        js="const rounds = [[{id: 1}, {id: 2}, {id: 3}, {id: 1}], [{id: 2, x: 1}, {id: 4}], [{id: 4}]];\n"
        "const sizes = [];\n"
        "async function step(found) { sizes.push(found.length); await llm('x'); return rounds[sizes.length - 1] }",
    )
    await session.run(step)
    found = session.pick(
        "[[e['id'] for e in await loop_until_done(step, key='id')], sizes]",
        js="[(await loopUntilDone(step, {key: 'id'})).map(e => e.id), sizes]",
    )
    if session.language == "monty":  # it cannot wait in the header of a comprehension
        found = "r = await loop_until_done(step, key='id')\n[[e['id'] for e in r], sizes]"
    assert await session.value(found) == "[[1, 2, 3, 4], [0, 3, 4]]"
    assert host.phases == ["round 1", "round 2", "round 3"]


@delegating
async def test_a_loop_that_always_finds_more_stops_and_says_so(session: Session, host: Delegate) -> None:
    code = session.pick(
        "await loop_until_done(lambda found: [len(found)], max_rounds=3)",
        js="await loopUntilDone(found => [found.length], {maxRounds: 3})",
    )
    result = await session.run(code)
    assert result.value == "[0, 1, 2]"
    assert "stopped after 3 rounds" in result.stdout
    two = session.pick(
        "await loop_until_done(lambda found: [], dry_rounds=2)", js="await loopUntilDone(() => [], {dryRounds: 2})"
    )
    assert await session.value(two) == "[]"
    assert len(host.phases) == 5
    assert await session.value("await loop_until_done('reviewer')") == "[]"


@delegating
async def test_a_failed_round_is_not_a_dry_one(session: Session, host: Delegate) -> None:
    await session.run(
        session.pick(
            "n = 0\nasync def step(found):\n    global n\n    n += 1\n"
            "    return [await llm('fail' if n == 2 else f'a{n % 2}')]",
            js="let n = 0; async function step() { n += 1; return [await llm(n == 2 ? 'fail' : `a${n % 2}`)] }",
        )
    )
    result = await session.run(session.pick("await loop_until_done(step)", js="await loopUntilDone(step)"))
    assert plain(result.value) == "['A1']"
    assert "round 2 failed" in result.stdout
    assert len(host.phases) == 3
    dead = session.pick("await loop_until_done(lambda found: llm('fail'))", js="await loopUntilDone(() => llm('fail'))")
    assert "it is down" in await error_of(session, dead)
    assert len(host.phases) == 5
