"""What users see when a run's record is damaged, cannot be written, or may only be read: one clear line."""

import fcntl
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sonde.journal.reader import Reader
from sonde.testing.server import DEFAULTS, ChatRequest, FaultServer, Said, run_code
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer
from tests.users import AS_NOBODY, as_an_ordinary_user, python_for_everybody

DOCUMENTATION = Path(__file__).parents[2] / "docs/journal.md"
FEW, MANY = 3, 120


def asking(number: int) -> Callable[[ChatRequest], Said | str]:
    """Have three cells: look, ask for squares, ask once more and answer. Replies are too long to be kept in facts."""
    asks = f"squares = await gather(*[llm(f'Square {{n}}') for n in range({number})])"
    ends = "more = await llm('Square 9')\nFINAL(sum(map(int, squares)) + int(more))"

    def reply(request: ChatRequest) -> Said | str:
        if not request.system:
            return str(int(request.prompt.removeprefix("Square ")) ** 2).rjust(5000)
        return [run_code("print(len(context))"), run_code(asks), run_code(ends)][request.turn]

    return reply


def answer_for(number: int) -> int:
    return sum(n * n for n in range(number)) + 81


@pytest.fixture(scope="module")
def served() -> Iterator[FaultServer]:
    with FaultServer(asking(FEW), settings=DEFAULTS, faults=None) as server:
        yield server


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, served: FaultServer) -> Path:
    """A run that was completed, to be copied and damaged."""
    cli = Cli(tmp_path_factory.mktemp("made"))
    outcome = cli.ask(served.url, "Sum?", "--run-id", "victim")
    assert outcome.json["answer"] == answer_for(FEW), outcome.stderr
    return cli.folder / ".sonde/runs/victim"


@pytest.fixture
def journal(cli: Cli, made: Path) -> Path:
    """The record of a run that was completed, in the folder of `cli`."""
    return shutil.copytree(made, cli.folder / ".sonde/runs/victim") / "journal.db"


def sql(journal: Path, *statements: str) -> None:
    with closing(sqlite3.connect(journal)) as database, database:
        for statement in statements:
            database.execute(statement)


def unfinish(journal: Path) -> None:
    """Make a run one that was killed before its last call was answered."""
    last = 'SELECT max(seq) FROM event WHERE fact LIKE \'%"function":"llm"%\''
    sql(journal, f"DELETE FROM event WHERE seq > ({last})")


def rot(journal: Path, text: str) -> None:
    """Change a byte of a text, wherever the file has it."""
    content = journal.read_bytes()
    assert text.encode() in content
    journal.write_bytes(content.replace(text.encode(), b"\x01" + text.encode()[1:]))


def refused(outcome: Outcome, *words: str, code: int = 5) -> None:
    assert outcome.code == code, outcome
    for word in words:
        assert word in outcome.error, outcome.error
    assert len(outcome.error) < 500


def findings(outcome: Outcome) -> dict[str, str]:
    return {each["what"]: each["standing"] for each in outcome.json["findings"]}


def cut_in_half(journal: Path) -> None:
    os.truncate(journal, journal.stat().st_size // 2)


def rot_in_a_fact(journal: Path) -> None:
    rot(journal, "Square 1")


def rot_in_a_page(journal: Path) -> None:
    with journal.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(range(200)))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no-database": (lambda journal: journal.write_bytes(b"not a database" * 1000), "doctor victim --repair"),
    "cut": (cut_in_half, "doctor victim --repair"),
    "rot-in-a-fact": (rot_in_a_fact, "doctor victim --repair"),
    "rot-in-a-page": (rot_in_a_page, "doctor victim --repair"),
    "fact-gone": (lambda journal: sql(journal, "DELETE FROM event WHERE seq = 4"), "doctor victim --repair"),
    "empty": (lambda journal: os.truncate(journal, 0), "is empty: the run had not begun. Start it again"),
    "newer": (lambda journal: sql(journal, "PRAGMA user_version = 9"), "Upgrade Sonde"),
    "anothers": (lambda journal: sql(journal, "DROP TABLE journal"), "not the record of a run"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_is_told_in_one_line_and_left_as_it_is(cli: Cli, journal: Path, damage: str) -> None:
    harm, remedy = DAMAGES[damage]
    harm(journal)
    before = journal.read_bytes()
    refused(cli("show", "victim"), "victim/journal.db", remedy)
    refused(cli("resume", "victim"), "victim/journal.db", remedy)
    assert cli("runs").code == 0
    outcome = cli("doctor", "victim", "--json")
    assert outcome.code == 5
    assert "missing" in findings(outcome).values()
    assert journal.read_bytes() == before


def test_a_whole_record_is_found_whole(cli: Cli, journal: Path) -> None:
    outcome = cli("doctor", "last")
    assert outcome.code == 0
    assert outcome.text.splitlines()[1:] == [
        "✓ integrity: SQLite finds nothing wrong",
        "✓ numbers: 27, without a gap",
        "✓ facts: each is as it was written",
        "✓ texts: 4, each as it was written",
        "✓ calls: 8 made, 0 of them without an end",
        "✓ status: completed",
    ]
    again = cli("doctor", "last", "--repair")
    assert again.code == 0
    assert "there is nothing to repair" in again.text
    assert [each.name for each in journal.parent.glob("*.broken*")] == []


def test_a_repaired_run_goes_on_and_pays_only_for_what_was_lost(cli: Cli, journal: Path, served: FaultServer) -> None:
    """A fact of the last cell is damaged in a run that was killed in that cell."""
    unfinish(journal)
    rot(journal, '"call":7,"agent":"root","cell":3,"function":"llm"')
    assert cli("resume", "victim").code == 5
    outcome = cli("doctor", "victim", "--repair")
    assert outcome.code == 0
    assert "the damaged file is journal.db.broken-1" in outcome.text
    assert "✓ status: not finished; `sonde resume victim` goes on with it" in outcome.text
    assert journal.with_name("journal.db.broken-1").exists()
    before = len(served.log)
    outcome = cli("resume", "victim", "--json", "--quiet")
    assert outcome.json["answer"] == answer_for(FEW)
    assert len(served.log) == before + 1
    assert "this record was damaged and repaired" in cli("show", "victim").text


def test_an_answer_that_was_lost_is_found_again(cli: Cli, journal: Path, served: FaultServer) -> None:
    rot(journal, '"kind":"answered"')
    before = len(served.log)
    outcome = cli("doctor", "victim", "--repair", "--json")
    assert outcome.code == 0
    assert findings(outcome)["numbers"] == "warning"
    assert cli("resume", "victim", "--json", "--quiet").json["answer"] == answer_for(FEW)
    assert len(served.log) == before


def test_a_run_that_lost_its_beginning_is_told_to_be_over(cli: Cli, journal: Path) -> None:
    rot(journal, '"kind":"run_started"')
    outcome = cli("doctor", "victim", "--repair")
    assert outcome.code == 5
    assert "✗ beginning: what the run was asked, or an input of it, is lost. It cannot be resumed" in outcome.text
    refused(cli("resume", "victim"), "no beginning", code=2)
    again = cli("doctor", "victim", "--repair")
    assert again.code == 5
    assert "there is nothing to repair" in again.text


def test_nothing_is_repaired_while_a_process_drives_the_run(cli: Cli, journal: Path) -> None:
    rot_in_a_fact(journal)
    before = journal.read_bytes()
    with journal.with_name("lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused(cli("doctor", "victim", "--repair"), "driven by another process", code=2)
        assert "✓ driven: a process drives the run now" in cli("doctor", "victim").text
    assert journal.read_bytes() == before


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="there is no sqlite3 command here")
def test_the_commands_of_the_documentation(cli: Cli, journal: Path) -> None:
    [script] = re.findall(r"```sh\n(.*?)```", DOCUMENTATION.read_text(encoding="utf-8"), re.DOTALL)
    command = ["bash", "-euc", script.replace("RUN", "victim")]
    told = subprocess.run(command, cwd=cli.folder, check=True, capture_output=True, text=True).stdout
    assert "call_finished|8\n" in told
    assert told.endswith('81"\n')


def test_repair_wants_a_run(cli: Cli) -> None:
    refused(cli("doctor", "--repair"), "sonde doctor RUN --repair", code=2)
    refused(cli("doctor", "nobody"), "there is no run 'nobody'", code=2)


@contextmanager
def small_disk(folder: Path, size: str) -> Generator[Cli]:
    """A disk of its own at a folder, and the command line there. Skips where one cannot be had."""
    folder.mkdir()
    script = 'mount -t tmpfs -o size="$1" none "$2" && echo ready && read wait'
    holder = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", script, "sh", size, folder],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        if holder.stdout.readline() != b"ready\n":
            pytest.skip("no file system can be mounted here")
        cli = Cli(folder.parent)
        inside = f'cd "{folder}" && exec "$@"'
        cli.launcher = ["nsenter", "--mount", f"--target={holder.pid}", "sh", "-c", inside, "sh"]
        yield cli
    finally:
        holder.communicate()


def on(cli: Cli, *command: str) -> None:
    subprocess.run([*cli.launcher, *command], check=True, capture_output=True)


def test_a_full_disk_is_told_and_nothing_is_paid_twice_once_there_is_room(tmp_path: Path, serve: OpenServer) -> None:
    server = serve(asking(MANY))
    with small_disk(tmp_path / "disk", "500k") as cli:
        outcome = cli.ask(server.url, "Sum?", "--run-id", "full")
        refused(outcome, "full/journal.db: the disk is full. Free some space, then `sonde resume full`")
        assert outcome.json["status"] == "failed"
        shown = cli("show", "full", "--json").json
        kept = shown["calls"]["ok"]
        assert 0 < kept < MANY
        on(cli, "mount", "-o", "remount,size=20m", ".")
        before = len(server.log)
        resumed = cli("resume", "full", "--json", "--quiet").json
        assert resumed["answer"] == answer_for(MANY)
        assert len(server.log) - before == MANY - kept + 2, "the calls that were not kept, a turn, and its call"


def test_a_disk_that_is_full_from_the_first(tmp_path: Path, serve: OpenServer) -> None:
    server = serve(asking(MANY))
    with small_disk(tmp_path / "disk", "20k") as cli:
        outcome = cli("ask", "Sum?", "--model", f"openai:test@{server.url}")
        refused(outcome, "journal.db", "the disk is full")
        assert len(server.log) == 0


def test_a_medium_that_may_only_be_read(tmp_path: Path, made: Path) -> None:
    """With the log folded in, and with a log that still waits for it."""
    with small_disk(tmp_path / "disk", "20m") as cli:
        on(cli, "mkdir", "-p", ".sonde/runs")
        on(cli, "cp", "-a", str(made), ".sonde/runs/victim")
        on(cli, "cp", "-a", str(live_copy(made, tmp_path / "live")), ".sonde/runs/waiting")
        on(cli, "mount", "-o", "remount,ro", ".")
        assert cli("show", "victim", "--json").json["answer"] == answer_for(FEW)
        assert cli("doctor", "victim").code == 0
        assert "✓ log: 1 pages wait to be folded in" in cli("doctor", "waiting").text
        assert "victim  completed" in cli("runs").text
        refused(cli("resume", "victim"), "cannot write in", "Read-only file system")
        refused(cli("doctor", "victim", "--repair"), "cannot write in", "Read-only file system")


def live_copy(made: Path, to: Path) -> Path:
    """Return a copy of a run whose last fact is in the log only."""
    own = shutil.copytree(made, to.with_name("own"))
    with closing(sqlite3.connect(own / "journal.db", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        last, at, fact, crc = database.execute("SELECT * FROM event ORDER BY seq DESC LIMIT 1").fetchone()
        database.execute("INSERT INTO event VALUES (?, ?, ?, ?)", (last + 1, at, fact, crc))
        shutil.copytree(own, to, ignore=shutil.ignore_patterns("*-shm"))
    return to


@as_an_ordinary_user
def test_what_belongs_to_somebody_else(made: Path) -> None:
    """May be read where that is allowed, and no more; files that may not be read are named."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        cli = Cli(Path(folder), str(python_for_everybody()))
        cli.launcher = AS_NOBODY
        cli.environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        run = shutil.copytree(made, Path(folder, ".sonde/runs/victim"))
        for each in (run, run.parent, run.parent.parent, run / "journal.db", run / "lock"):
            each.chmod(0o755)
        assert cli("show", "victim", "--json").json["answer"] == answer_for(FEW)
        assert [each.name for each in run.iterdir() if "journal" in each.name] == ["journal.db"]
        refused(cli("resume", "victim"), "cannot write in", "Permission denied", "Check who may write there")
        refused(cli("doctor", "victim", "--repair"), "cannot write in", "Permission denied")
        (run / "journal.db").chmod(0o600)
        refused(cli("show", "victim"), "journal.db may not be read by this user")


@as_an_ordinary_user
def test_a_record_that_may_not_be_written(made: Path) -> None:
    with TemporaryDirectory() as folder:
        cli = Cli(Path(folder), str(python_for_everybody()))
        cli.launcher = AS_NOBODY
        cli.environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        run = shutil.copytree(made, Path(folder, ".sonde/runs/victim"))
        unfinish(run / "journal.db")
        for each in (Path(folder), *Path(folder).rglob("*")):
            os.chown(each, 65534, 65534)
        (run / "journal.db").chmod(0o400)
        refused(cli("resume", "victim"), "journal.db may not be written by this user", "Make the file and its folder")
        with Reader(run / "journal.db") as reader:
            assert len(list(reader.records())) == 20
