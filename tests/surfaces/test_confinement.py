"""What users see of the confinement of cells: where it holds, where the system grants less, where it cannot be had."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sonde.testing.server import ChatRequest, Said, run_code
from tests.cli import Cli
from tests.conftest import OpenServer
from tests.users import AS_NOBODY, as_an_ordinary_user, python_for_everybody

ROOT = Path(__file__).parents[2]


def refusing(cli: Cli, *calls: str) -> None:
    """Let the commands run where the kernel lacks some calls."""
    cli.environment["PYTHONPATH"] = str(ROOT)
    cli.launcher = [sys.executable, "-m", "tests.refusing", *calls, "--"]


def reads_a_file(request: ChatRequest) -> Said | str:
    """A root that tries to read a file, and answers with what came of it."""
    tries = "try:\n    told = open('secret.txt').read()\nexcept OSError as error:\n    told = type(error).__name__\n"
    return run_code(tries + "FINAL(told)")


def findings(cli: Cli) -> dict[str, dict[str, str]]:
    return {each["what"]: each for each in cli("doctor", "--json").json["findings"]}


def test_cells_reach_no_file_and_no_key(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "secret.txt").write_text("a secret")
    server = serve(reads_a_file)
    assert cli.ask(server.url, "What?").json["answer"] == "PermissionError"
    cli.environment["OPENAI_API_KEY"] = "sk-canary"
    server = serve(lambda _: run_code("import os\nFINAL(str(dict(os.environ)))"))
    assert cli.ask(server.url, "What?").json["answer"] == "{}"


def test_without_confinement_cells_do_what_the_user_may(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "secret.txt").write_text("a secret")
    outcome = cli.ask(serve(reads_a_file).url, "What?", "--interpreter-unconfined")
    assert outcome.json["answer"] == "a secret"


def test_doctor_names_the_layers(cli: Cli) -> None:
    found = findings(cli)["interpreter python (usual)"]
    assert found["standing"] == "ok"
    assert "confined by limits, privileges, seccomp" in found["detail"]


def test_a_kernel_that_grants_less_is_told_and_still_confines(cli: Cli, serve: OpenServer) -> None:
    refusing(cli, "landlock_create_ruleset", "unshare")
    found = findings(cli)["interpreter python (usual)"]
    assert found["standing"] == "ok"
    assert "does not grant namespaces, landlock" in found["detail"]
    assert cli.ask(serve(reads_a_file).url, "What?").json["answer"] == "PermissionError"


def test_without_the_essential_part_monty_takes_over(cli: Cli, serve: OpenServer) -> None:
    refusing(cli, "seccomp")
    assert "Python cannot be confined here" in findings(cli)["confinement"]["detail"]
    outcome = cli("ask", "What?", "--model", f"openai:test@{serve(lambda _: run_code('FINAL(6 * 7)')).url}", "--json")
    assert outcome.json["answer"] == 42
    assert "Cells run in Monty" in outcome.stderr


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_without_the_essential_part_a_chosen_interpreter_is_refused(cli: Cli, serve: OpenServer, language: str) -> None:
    refusing(cli, "seccomp")
    server = serve(lambda _: run_code("FINAL(6 * 7)"))
    outcome = cli.ask(server.url, "What?", "--interpreter", language)
    assert outcome.code == 2
    assert "cannot be confined here" in outcome.error
    assert "--interpreter-unconfined" in outcome.error
    assert len(server.log) == 0
    outcome = cli.ask(server.url, "What?", "--interpreter", language, "--interpreter-unconfined")
    assert outcome.json["answer"] == 42


@as_an_ordinary_user
def test_an_ordinary_user_is_confined_as_well(serve: OpenServer) -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)  # the usual folder of a test lies in one that is root's alone
        cli = Cli(Path(folder), str(python_for_everybody()))
        cli.launcher = AS_NOBODY
        cli.environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        (cli.folder / "secret.txt").write_text("a secret")
        assert cli.ask(serve(reads_a_file).url, "What?").json["answer"] == "PermissionError"
