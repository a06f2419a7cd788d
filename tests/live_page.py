"""The live page on a free port of this machine, and a small client for it."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette

from hyperlens.dashboard.access.connections import Connection
from hyperlens.dashboard.access.server import bind

PATIENCE = 90.0  # seconds; a busy machine is not a failure


@dataclass(frozen=True)
class Answer:
    """What the page answered; names of headers in small letters."""

    status_code: int
    headers: Mapping[str, str]
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Client:
    """Asks the page; every request has a connection of its own."""

    app: Starlette
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        return self._send("GET", path, None, headers or {})

    def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
        """Bytes are sent as they are, anything else as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {"Content-Type": "application/json", **(headers or {})}
        return self._send("POST", path, content, named)

    def _send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, named, answer.read().decode())
        finally:
            connection.close()


@contextmanager
def served(app: Starlette) -> Iterator[Client]:
    """The application behind a real server, until the end of the block."""
    begun = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            begun.set()

    config = uvicorn.Config(app, http=Connection, log_level="error", timeout_graceful_shutdown=1)
    server = Server(config)
    with bind("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert begun.wait(PATIENCE)
            yield Client(app, port)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def until(found: Any) -> Any:
    """What `found` returns as soon as it is something, asked again as the page itself does."""
    pause, late = threading.Event(), threading.Event()
    timer = threading.Timer(PATIENCE, late.set)
    timer.start()
    try:
        while not late.is_set():
            if value := found():
                return value
            pause.wait(0.02)
    finally:
        timer.cancel()
    raise AssertionError("nothing came")


def ready(client: Client, run: int = 0) -> dict[str, Any]:
    """What the page is told of a run, once it was read."""
    until(lambda: client.get("/api/runs").json()["ready"])

    def state() -> Any:
        found = client.get(f"/api/state?run={run}").json()
        return found if found["ready"] else None

    found: dict[str, Any] = until(state)
    return found
