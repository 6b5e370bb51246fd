"""How the suite's tests run."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.sessions import Session, session_in


def conform(test: Callable[[Session], Awaitable[None]]) -> Callable[..., None]:
    """Run an async test in a session of its own."""

    def run(language: str) -> None:
        async def main() -> None:
            async with session_in(language) as session:
                await asyncio.wait_for(test(session), 30)

        asyncio.run(main())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run
