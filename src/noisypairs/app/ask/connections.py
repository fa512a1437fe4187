"""Connections of the server: how many may wait, and how long each may take.

uvicorn waits for the rest of a request without any limit, so a client that opens connections and
never ends a request takes all descriptors. Here a request has to arrive within `ASKING`, and where
too many connections wait the first of them is closed. An honest request arrives in one piece: it
does not wait. How many are answered at once is limited by uvicorn itself (``limit_concurrency``).
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

ASKING, ANSWERING = 10.0, 300.0
"""Seconds in which a request has to arrive, all of it, and the answer to leave."""

MOST_OPEN = 1024
"""Connections that are open at once."""

MOST_WAITING, MOST_OF_AN_ADDRESS = 512, 256
"""Connections that wait for a request: of all, and of one address, which many may share."""

LARGEST_HEADER = 16_384
"""Bytes of a header."""

ACCEPTED_AT_ONCE = 64
"""Connections that are accepted before those that are open are served again."""

RESERVED = 128
"""Descriptors for all else: the store, pictures that are being sent, connections just accepted."""


class Crowd:
    """The connections that wait for a request, those first that wait longest."""

    def __init__(self, most: int = MOST_WAITING, most_of_an_address: int = MOST_OF_AN_ADDRESS):
        self.most, self.most_of_an_address = most, most_of_an_address
        self._waiting: dict[Connection, str] = {}
        self._neighbours: dict[str, dict[Connection, None]] = {}

    def enter(self, connection: Connection, address: str) -> None:
        """Add a connection; close the one that waits longest if these are too many."""
        self._waiting[connection] = address
        neighbours = self._neighbours.setdefault(address, {})
        neighbours[connection] = None
        if len(neighbours) > self.most_of_an_address:
            self._close(next(iter(neighbours)))
        elif len(self._waiting) > self.most:
            self._close(next(iter(self._waiting)))

    def leave(self, connection: Connection) -> None:
        """Take a connection out, if it is there."""
        address = self._waiting.pop(connection, None)
        if address is not None:
            neighbours = self._neighbours[address]
            del neighbours[connection]
            if not neighbours:
                del self._neighbours[address]

    def disperse(self) -> None:
        """Close all connections that wait, and from now on each that begins to."""
        self.most_of_an_address = 0
        for connection in list(self._waiting):
            self._close(connection)

    def _close(self, connection: Connection) -> None:
        self.leave(connection)
        connection.transport.abort()


class Connection(H11Protocol):
    """A connection of uvicorn's with deadlines, and with a place in the `Crowd` while it waits."""

    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, crowd: Crowd, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._crowd = crowd

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; wait no longer once it is whole."""
        super().data_received(data)
        if not self._is_asking():
            self._crowd.leave(self)
            self._close_in(ANSWERING)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless it is here already."""
        super().on_response_complete()
        if self._is_asking() and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up the place."""
        self._close_in(None)
        self._crowd.leave(self)
        super().connection_lost(exc)

    def _is_asking(self) -> bool:
        """Whether a request is still to come, or is not here in full."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _wait(self) -> None:
        self._crowd.leave(self)
        self._crowd.enter(self, self.client[0] if self.client else "")
        self._close_in(ASKING)

    def _close_in(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        late = self.transport.abort
        self._deadline = None if seconds is None else self.loop.call_later(seconds, late)


def most_open() -> int:
    """Let the process open as many files as the system lets it; return how many connections fit."""
    if sys.platform == "win32":  # which has no such limit
        return MOST_OPEN
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_OPEN + RESERVED
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MOST_OPEN if soft == resource.RLIM_INFINITY else max(min(MOST_OPEN, soft - RESERVED), 1)
