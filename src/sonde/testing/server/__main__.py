"""`python -m sonde.testing.server`: a model server on loopback for tests and benchmarks."""

import argparse
import asyncio
import runpy
import signal
import sys
from contextlib import suppress
from pathlib import Path

from sonde.testing.server.faults import FAULTS, Faults, Latency
from sonde.testing.server.script import Script, echo
from sonde.testing.server.serve import Core, Settings


def main() -> None:
    """Serve until interrupted. The first line on stdout is the base address."""
    options = _parser().parse_args()
    settings = Settings(
        latency=options.latency,
        window=options.window,
        key=options.key,
        models=tuple(options.models),
        without_tools=options.without_tools,
        without_schemas=options.without_schemas,
        completion_tokens=options.completion_tokens,
        capacity=options.capacity,
        quota=options.quota,
        echo_key=options.echo_key,
        retry_after=options.retry_after,
    )
    faults = Faults(options.fault_rate, tuple(options.faults), seed=options.seed, spare_agents=options.spare_agents)
    log = options.log.open("a", encoding="utf-8") if options.log else None
    core = Core(_script(options.script), settings, faults, [], log)
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(core, options.port))


async def _serve(core: Core, port: int) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGINT, stop.set)
    sys.stdout.write(f"http://127.0.0.1:{await core.listen(port)}/v1\n")
    sys.stdout.flush()
    await stop.wait()
    await core.close()


def _script(path: Path | None) -> Script:
    return echo if path is None else runpy.run_path(str(path))["reply"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sonde.testing.server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="default: a free one, printed first")
    parser.add_argument(
        "--script",
        type=Path,
        help="a Python file with `def reply(request)`; default: echo the prompt",
    )
    parser.add_argument(
        "--latency",
        type=Latency.read,
        default=Latency(),
        help="SECONDS, uniform:LOW,HIGH or exp:MEAN",
    )
    parser.add_argument("--fault-rate", type=float, default=0.0, help="the share of requests that fail")
    parser.add_argument("--faults", nargs="+", default=["429", "500", "disconnect"], choices=FAULTS, help="and how")
    parser.add_argument("--seed", type=int, default=0, help="decides which requests fail")
    parser.add_argument("--spare-agents", action="store_true", help="only requests without a system prompt fail")
    parser.add_argument("--retry-after", type=float, default=1.0, help="what a 429 asks for, in seconds")
    parser.add_argument("--window", type=int, help="refuse prompts with more tokens")
    parser.add_argument("--key", help="refuse requests without this key")
    parser.add_argument("--models", nargs="*", default=[], help="refuse other models")
    parser.add_argument("--without-tools", action="store_true", help="refuse requests that offer tools")
    parser.add_argument("--without-schemas", action="store_true", help="refuse requests for a JSON schema")
    parser.add_argument("--completion-tokens", action="store_true", help="demand max_completion_tokens")
    parser.add_argument("--capacity", type=int, help="refuse with 429 what comes while so many are under way")
    parser.add_argument("--quota", type=int, help="refuse all requests after this many")
    parser.add_argument("--echo-key", action="store_true", help="repeat the key in what goes wrong")
    parser.add_argument("--log", type=Path, help="append a JSON line for each request as it ends")
    return parser


if __name__ == "__main__":
    main()
