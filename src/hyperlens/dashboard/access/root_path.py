"""The page below a path of a proxy, whether or not the proxy takes that path away."""

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from hyperlens.errors import SourceError


def clean(path: str) -> str:
    """A path as browsers write it, without a slash at its end; empty for none.

    >>> clean("user/ada/live/")
    '/user/ada/live'
    """
    whole = "/" + path.strip("/")
    if whole == "/":
        return ""
    if any(sign in whole for sign in "?#\\ ") or "//" in whole or "/../" in f"{whole}/":
        raise SourceError(
            f"The path '{path}' cannot stand in an address; write --root-path like /hyperlens."
        )
    return whole


class RootPath:
    """Wraps the application, which never sees the path: its own addresses are all relative."""

    def __init__(self, app: ASGIApp, path: str = "") -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._path and scope["type"] == "http":
            if scope["path"] == self._path:  # relative addresses need the slash
                query = scope["query_string"].decode("latin-1")
                there = f"{self._path}/?{query}" if query else f"{self._path}/"
                await RedirectResponse(there, 307)(scope, receive, send)
                return
            if scope["path"].startswith(f"{self._path}/"):
                scope = {**scope, "path": scope["path"].removeprefix(self._path)}
        await self._app(scope, receive, send)
