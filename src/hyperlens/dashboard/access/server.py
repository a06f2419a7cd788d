"""Listening: on this machine alone, or with a token where others can reach it."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hyperlens.dashboard.catalogue import Source
from hyperlens.errors import SourceError

if TYPE_CHECKING:
    import uvicorn

PEOPLE = range(1000, 60_000)  # numbers of users that are no services


def check(sources: Iterable[Source]) -> None:
    """Refuse what cannot be served, before a browser is opened on it."""
    for source in sources:
        if "://" not in source.where and not Path(source.where).expanduser().exists():
            raise SourceError(f"There is no file '{source.where}'; check the path.")


def each_run(sources: Iterable[Source]) -> list[Source]:
    """Of a folder that holds several runs, every run; what reads folders is loaded for folders alone."""
    every: list[Source] = []
    for source in sources:
        places = [source.where]
        if "://" not in source.where and Path(source.where).expanduser().is_dir():
            from hyperlens.importers import finding

            places = finding.each_run(source.where)
        every += [replace(source, where=place) for place in places]
    return every


def reachable(host: str) -> bool:
    """Can others than this machine connect to it?"""
    if host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


def names(host: str) -> tuple[str, ...]:
    """The names a page on this address answers to."""
    hosts = ["127.0.0.1", "localhost", "::1"]
    if reachable(host):
        hosts += [host, socket.gethostname(), socket.getfqdn()]
        if host in ("0.0.0.0", "::"):
            hosts.append("*")  # any address in numbers
    return tuple(hosts)


def shared() -> bool:
    """Are other people at work on this machine, who could open the page too?"""
    owners: set[int] = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            owners.add(process.stat().st_uid)
    return any(user in PEOPLE and user != os.getuid() for user in owners)


def token_for(host: str, wanted: bool | None, proxies: tuple[str, ...] = ()) -> str | None:
    """A token, if one was asked for, or, unless refused, wherever others could open the page."""
    if wanted is False and reachable(host):
        raise SourceError(
            f"Others can reach a page on {host}; leave out --no-token, or listen on 127.0.0.1."
        )
    if wanted is None:
        wanted = reachable(host) or bool(proxies) or shared()
    return secrets.token_urlsafe(24) if wanted else None


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    listening: socket.socket | None = None
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(256)
    except OSError as problem:
        if listening is not None:
            listening.close()
        reason = problem.strerror or type(problem).__name__
        raise SourceError(
            f"The page cannot listen on {host}, port {port} ({reason}); choose another --port."
        ) from problem
    return listening


def address(host: str, listening: socket.socket, token: str | None, path: str = "") -> str:
    """What to open in a browser."""
    port = listening.getsockname()[1]
    shown = "127.0.0.1" if host == "0.0.0.0" else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}{path}/" + (f"?token={token}" if token else "")


def server(
    sources: Iterable[Source],
    host: str,
    token: str | None,
    proxies: tuple[str, ...] = (),
    path: str = "",
) -> uvicorn.Server:
    """What answers requests on a socket, when it is run."""
    import uvicorn

    from hyperlens.dashboard.access.connections import Connection
    from hyperlens.dashboard.app import create_app

    app = create_app(sources, token=token, hosts=names(host), proxies=proxies, path=path)
    config = uvicorn.Config(
        app,
        http=Connection,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)
