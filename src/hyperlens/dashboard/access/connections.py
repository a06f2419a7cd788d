"""Connections to the page: not too many, and none that does not say what it wants."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 400
HEADER_TIME = 10.0  # seconds until the head of a request must be there


class Connection(H11Protocol):
    """One connection; closed without a word if there are too many, or if its request does not come."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._late: asyncio.TimerHandle | None = None
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._late = self.loop.call_later(HEADER_TIME, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def _close_if_silent(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.abort()
