"""Runs whose cells are Monty's, from the command line."""

from sonde.testing.server import ChatRequest, Said, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

COUNT = [
    "pieces = context.splitlines()\nanswers = await gather(*[llm(f'Is this a failure? {piece}') for piece in pieces])",
    "FINAL(f'{answers.count(\"yes\")} of {len(answers)}')",
]


def about(prompt: str) -> str:
    return "yes" if "error" in prompt else "no"


def write_log(cli: Cli) -> None:
    (cli.folder / "app.log").write_text("".join(f"line {n} {'fine' if n % 7 else 'error'}\n" for n in range(1, 51)))


def test_an_answer_by_tools(cli: Cli, serve: OpenServer) -> None:
    def script(request: ChatRequest) -> Said | str:
        if request.system:
            assert "This Python is a small one" in request.system
        return run_code(COUNT[request.turn]) if request.system else about(request.prompt)

    write_log(cli)
    told = cli.ask(serve(script).url, "How many?", "app.log", "--interpreter", "monty").json
    assert (told["status"], told["answer"], told["calls"]["ok"]) == ("completed", "7 of 50", 50)


def test_an_answer_by_fenced_code(cli: Cli, serve: OpenServer) -> None:
    def script(request: ChatRequest) -> Said | str:
        if not request.system:
            return about(request.prompt)
        return f"I shall run this:\n```python\n{COUNT[request.turn]}\n```\n"

    write_log(cli)
    told = cli.ask(serve(script).url, "How many?", "app.log", "--interpreter", "monty").json
    assert (told["status"], told["answer"]) == ("completed", "7 of 50")


def test_variables_come_back_after_a_cell_that_took_too_long(cli: Cli, serve: OpenServer) -> None:
    cells = ["x = [await llm('error'), 2]", "while True: x.append(1)", "FINAL(x)"]

    def script(request: ChatRequest) -> Said | str:
        if request.system and request.turn == 2:
            assert "Timeout" in request.prompt
        return run_code(cells[request.turn]) if request.system else about(request.prompt)

    server = serve(script)
    told = cli.ask(server.url, "What is x?", "--interpreter", "monty", "--cell-cpu", "0.5").json
    assert (told["status"], told["answer"]) == ("completed", ["yes", 2])
    assert len(server.log) == 4, "the call was not made again"


def test_documents_are_read_by_their_words(cli: Cli, serve: OpenServer) -> None:
    cells = [
        "log = inputs['app.log']\nfailures = log.grep('error$', before=0, after=0)\nprint(len(log), len(failures))",
        "FINAL([failures[0].text, log.line(7), context.count('\\n')])",
    ]
    write_log(cli)
    server = serve(lambda request: run_code(cells[request.turn]))
    told = cli.ask(server.url, "What failed?", "app.log", "--interpreter", "monty").json
    assert (told["status"], told["answer"]) == ("completed", ["line 7 error", "line 7 error", 50])
