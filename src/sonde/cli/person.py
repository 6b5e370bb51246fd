"""Ask the person at the terminal."""

import asyncio

import click

from sonde.cli.output import harmless, say


async def in_terminal(question: str, subject: str) -> str:
    """Return what the person says to a question about something, such as code."""
    say(f"\n{harmless(subject)}\n")
    return await asyncio.to_thread(click.prompt, f"{harmless(question)} [yes / no, and why / all]", err=True)
