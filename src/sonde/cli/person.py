"""Ask the person at the terminal."""

import asyncio
import sys
import termios

import click

from sonde.cli.output import harmless, say


async def in_terminal(question: str, subject: str) -> str:
    """Return what the person says to a question about something, such as code. Nobody there any more is a no."""
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before it was shown is no answer to it
    say(f"\n{harmless(subject)}\n")
    while True:
        click.echo(f"{harmless(question)} [yes / no, and why / all]: ", nl=False, err=True)
        line = await _line()
        if line.strip() or not line:
            return line.strip() or "no"


async def _line() -> str:
    """Return the next line. No thread waits for it, so that Ctrl-C need not wait for a thread."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline()
