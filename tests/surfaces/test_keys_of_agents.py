"""A key goes to addresses that its owner named, and to no other."""

from sonde.testing.server import ChatRequest, Said, Settings, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

AGENT = "---\nname: {name}\ndescription: Reads.\nmodel: {model}\n---\nYou are {name}.\n"


def test_an_address_that_an_agents_file_names_gets_no_key(cli: Cli, serve: OpenServer) -> None:
    """A server that asks for the key takes none: it would answer if it got it."""
    cli.environment["OPENAI_API_KEY"] = "sk-real"
    other = serve(lambda _: "read", settings=Settings(key="sk-real"))
    cell = "try:\n    FINAL(await task('x', 'reader'))\nexcept TaskError as error:\n    FINAL('refused')"

    def reply(request: ChatRequest) -> Said | str:
        return run_code(cell) if "Question: " in request.prompt else "ok"

    root = serve(reply, settings=Settings(key="sk-real"))
    folder = cli.folder / ".sonde/agents"
    folder.mkdir(parents=True)
    (folder / "reader.md").write_text(AGENT.format(name="reader", model=f"openai:m@{other.url}"))
    outcome = cli.ask(root.url, "Go.")
    assert outcome.json["status"] == "limit"  # the other server is out of service: it was shown no key
    assert [entry.status for entry in other.log] == [401]
    named = cli.ask(root.url, "Go.", "--also-model", f"openai:m@{other.url}")
    assert named.json["answer"] == "read", "the user has named it"
