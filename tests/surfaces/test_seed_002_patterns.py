"""The six patterns through the command: subagents that work, judge and fail, and the phases that can be seen after."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import pytest

from sonde.testing.server import ChatRequest, Latency, Script, Settings
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer
from tests.heard import Heard
from tests.scripts import add_agents, below, led_by, role_of, shown


class Ran(NamedTuple):
    """What came of a cell."""

    outcome: Outcome
    heard: Heard
    phases: dict[str, int]
    """The phases that the code named, each with how many pieces of work were sent in it."""
    most_at_once: int

    @property
    def answer(self) -> Any:
        return self.outcome.json["answer"]

    @property
    def output(self) -> str:
        """What the root was shown of its cell."""
        return shown(self.heard)[0]

    @property
    def roles(self) -> Counter[str]:
        """How often each kind of subagent was sent."""
        return Counter(role_of(request) for request in below(self.heard))


class Run(Protocol):
    """Runs a cell, given in both languages, and then answers; with agents of these names, played by a script."""

    def __call__(
        self, cells: tuple[str, str], sub: Script, agents: Sequence[str], *flags: str, latency: float = 0
    ) -> Ran:
        """Run it."""
        ...


@pytest.fixture(params=["python", "javascript"])
def run(request: pytest.FixtureRequest, cli: Cli, serve: OpenServer) -> Run:
    """Run cells in a language."""
    language: str = request.param

    def run_in(cells: tuple[str, str], sub: Script, agents: Sequence[str], *flags: str, latency: float = 0) -> Ran:
        add_agents(cli, *agents)
        cell = cells[language == "javascript"]
        heard = Heard(led_by([cell, "FINAL(answer)"], sub))
        server = serve(heard, settings=Settings(latency=Latency(latency)))
        outcome = cli.ask(server.url, "Go.", "--interpreter", language, "--retries", "0", *flags)
        plan = cli("show", "last", "--plan", "--json").json
        phases = {phase["name"]: phase["items"] for phase in plan["phases"] if phase["agent"]}
        return Ran(outcome, heard, phases, server.most_at_once)

    return run_in


CLASSIFY = (
    """
tickets = [f'ticket {n}: ' + ['it crashes', 'please add', 'how do I'][n * n % 3] for n in range(30)]
answer = await classify_and_act(tickets, 'classifier',
    {'bug': 'bug-fixer', 'feature': 'feature-analyst', 'question': 'support-agent'})
""",
    """
const texts = ["it crashes", "please add", "how do I"];
const tickets = Array.from({ length: 30 }, (_, n) => `ticket ${n}: ${texts[n * n % 3]}`);
const answer = await classifyAndAct(tickets, "classifier",
  { bug: "bug-fixer", feature: "feature-analyst", question: "support-agent" });
""",
)
SPECIALISTS = ("classifier", "bug-fixer", "feature-analyst", "support-agent")
LABELS = {"it crashes": "bug", "please add": "feature", "how do I": "Question "}


def support(request: ChatRequest) -> str:
    if role_of(request) == "classifier":
        return LABELS[request.prompt.partition(": ")[2]]
    return f"{role_of(request)} did {request.prompt.partition(':')[0]}"


def test_thirty_tickets_go_where_their_labels_say(run: Run) -> None:
    ran = run(CLASSIFY, support, SPECIALISTS)
    kinds = [("bug-fixer", "feature-analyst", "support-agent")[n * n % 3] for n in range(30)]
    assert ran.answer == [f"{kind} did ticket {n}" for n, kind in enumerate(kinds)]
    assert ran.roles == Counter(kinds) + Counter(classifier=30)
    assert ran.phases == {"classify": 30, "act": 30}


def test_a_label_that_nobody_has_stops_before_anything_is_done(run: Run) -> None:
    ran = run(CLASSIFY, lambda request: "spam" if "ticket 7:" in request.prompt else support(request), SPECIALISTS)
    assert "'spam'" in ran.output.replace('"', "'")
    assert "known: bug, feature, question" in ran.output
    assert ran.roles == {"classifier": 30}


def test_a_label_that_nobody_has_can_have_a_default(run: Run) -> None:
    other = (
        CLASSIFY[0].replace("'})", "'}, default='support-agent')"),
        CLASSIFY[1].replace('" })', '" }, { default: "support-agent" })'),
    )
    ran = run(other, lambda request: "spam" if role_of(request) == "classifier" else support(request), SPECIALISTS)
    assert ran.roles == {"classifier": 30, "support-agent": 30}


def test_workers_overlap_up_to_the_limit_and_keep_their_order(run: Run) -> None:
    cells = (
        """
def join(reviews):
    issues = [issue for review in reviews for issue in json.loads(review)]
    unique = {issue['id']: issue for issue in issues}
    return sorted(unique.values(), key=lambda issue: -issue['severity'])
import json
files = [f'src/{n}.ts' for n in range(12)]
answer = [await fan_out(files, 'reviewer'), await fan_out(files, 'reviewer', join)]
""",
        """
const files = Array.from({ length: 12 }, (_, n) => `src/${n}.ts`);
const join = (reviews) => {
  const unique = new Map(reviews.flatMap((review) => JSON.parse(review)).map((issue) => [issue.id, issue]));
  return [...unique.values()].sort((a, b) => b.severity - a.severity);
};
const answer = [await fanOut(files, "reviewer"), await fanOut(files, "reviewer", join)];
""",
    )

    def sub(request: ChatRequest) -> str:
        number = int(request.prompt[4:-3])
        if number == 5:
            raise ValueError("it cannot be read")
        return json.dumps([{"id": number % 4, "severity": number % 4}])

    ran = run(cells, sub, ["reviewer"], "--concurrency", "4", latency=0.01)
    listed, joined = ran.answer
    wanted = [None if n == 5 else [{"id": n % 4, "severity": n % 4}] for n in range(12)]
    assert [None if each is None else json.loads(each) for each in listed] == wanted
    assert [issue["severity"] for issue in joined] == [3, 2, 1, 0]
    assert ran.phases == {"fan out": 24, "synthesize": 0}
    assert ran.most_at_once == 4
    assert "1 of 12 failed; the first, number 5" in ran.output
    assert ran.roles == {"reviewer": 24}


def test_findings_stay_where_most_of_three_confirm_them(run: Run) -> None:
    cells = (
        (
            "findings = ['kept 2:1', 'dropped 1:2', 'one is dead', 'all are dead']\n"
            "answer = await verify(findings, 3, 'majority', 'verifier')"
        ),
        (
            'const findings = ["kept 2:1", "dropped 1:2", "one is dead", "all are dead"];\n'
            'const answer = await verify(findings, { n: 3, rule: "majority", verifier: "verifier" });'
        ),
    )
    votes = {"kept 2:1": [True, False, True], "dropped 1:2": [False, True, False], "one is dead": [True, None, True]}
    asked: Counter[str] = Counter()

    def sub(request: ChatRequest) -> str:
        finding = request.prompt.splitlines()[0]
        asked[finding] += 1
        vote = votes.get(finding, [None] * 3)[asked[finding] - 1]
        if vote is None:
            raise ValueError("the verifier is dead")
        return json.dumps({"confirmed": vote})

    ran = run(cells, sub, ["verifier"])
    assert ran.answer == ["kept 2:1", "one is dead"]
    assert asked == dict.fromkeys(["kept 2:1", "dropped 1:2", "one is dead", "all are dead"], 3)
    assert "number 1 refuted 2:1, number 3 unverified" in ran.output
    assert ran.phases == {"verify": 12}
    assert len({request.prompt for request in below(ran.heard)}) == 12, "each looks from another side"


def test_the_best_of_three_proposals_is_kept(run: Run) -> None:
    cells = (
        "answer = await generate_and_filter(3, 'architect', lambda p: len(p))",
        'const answer = await generateAndFilter(3, "architect", (p) => p.length);',
    )
    ran = run(cells, lambda request: "x" * int(request.prompt.split()[2]), ["architect"])
    assert ran.answer == ["xxx"]
    assert ran.roles == {"architect": 3}
    assert ran.phases == {"generate": 3, "filter": 0}


def test_five_entries_meet_in_four_matches_and_one_in_none(run: Run) -> None:
    cells = (
        (
            "answer = [await tournament(['a', 'b', 'c', 'd', 'e'], 'judge'), await tournament(['z'], 'judge')]\n"
            "try:\n    await tournament([], 'judge')\nexcept ValueError as error:\n    answer.append(str(error))"
        ),
        (
            'const answer = [await tournament(["a", "b", "c", "d", "e"], "judge"), await tournament(["z"], "judge")];\n'
            'try { await tournament([], "judge") } catch (error) { answer.push(error.message) }'
        ),
    )
    ran = run(cells, lambda _: '{"winner": "B"}', ["judge"])
    assert ran.answer == ["e", "z", "tournament: there are no entries"]
    assert ran.roles == {"judge": 4}
    assert ran.phases == {"tournament round 1": 2, "tournament round 2": 1, "tournament round 3": 1}


def test_a_search_goes_on_until_a_round_brings_nothing_new(run: Run) -> None:
    cells = (
        "answer = [item['id'] for item in await loop_until_done('analyzer', key='id')]",
        'const answer = (await loopUntilDone("analyzer", { key: "id" })).map((item) => item.id);',
    )
    rounds = [["a", "b", "c"], ["b", "d"], ["a", "d"]]
    told: list[str] = []

    def sub(request: ChatRequest) -> str:
        told.append(request.prompt)
        return json.dumps({"items": [{"id": each, "round": len(told)} for each in rounds[len(told) - 1]]})

    ran = run(cells, sub, ["analyzer"])
    assert ran.answer == ["a", "b", "c", "d"]
    assert ran.roles == {"analyzer": 3}
    assert ran.phases == {"round 1": 1, "round 2": 1, "round 3": 1}
    assert ['"d"' in each for each in told] == [False, False, True], "each round is told what was found"


def test_a_search_that_always_finds_more_stops_and_says_so(run: Run) -> None:
    cells = (
        "answer = await loop_until_done('analyzer', max_rounds=3)",
        'const answer = await loopUntilDone("analyzer", { maxRounds: 3 });',
    )
    ran = run(cells, lambda request: json.dumps({"items": [len(request.prompt)]}), ["analyzer"])
    assert len(ran.answer) == 3
    assert ran.roles == {"analyzer": 3}
    assert "stopped after 3 rounds" in ran.output
    assert "more may be left" in ran.output
