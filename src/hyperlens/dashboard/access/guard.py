"""Who may talk to the page: only requests to its own names, from its own pages, with its token.

A page of another site can make a browser send requests here: by an address that resolves to this
machine (DNS rebinding), or across origins. The first is refused by the Host header, the second by Origin
and Sec-Fetch-Site. On an address that others can reach, a token is asked for as well.

A link to the page may stand anywhere: what opens it in a window of its own is answered, since that
shows nothing to the page it came from.

Browsers send a cookie to every port of a host, so it is named after the port, and pages on two ports do
not take each other's; who listens on another port of the same host still gets to see it. Below a path
of a proxy it is sent to that path alone.
"""

import hmac
import ipaddress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "hyperlens"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Wraps the application; `hosts` are the names it answers to, "*" for any address in numbers.

    `proxies` are names, with a port where it is not the usual one, by which browsers reach the page
    through a proxy, `path` is what the proxy has before the page's own addresses.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str | None = None,
        hosts: tuple[str, ...] = LOOPBACK,
        proxies: tuple[str, ...] = (),
        path: str = "",
    ) -> None:
        self._app = app
        self._token = token
        self._origins = {name.lower() for name in proxies}
        self._hosts = {name.lower() for name in hosts} | {_host(name) for name in proxies}
        self._path = f"{path}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refuse = self._refusal(scope)
        if refuse is not None:
            await refuse(scope, receive, send)
            return
        await self._app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        if not self._known(_host(headers.get("host", ""))):
            return _no(421, "This page does not answer to that name.")
        origin = headers.get("origin")
        own = {headers.get("host", "").lower()} | self._origins
        if origin is not None and _of(origin) not in own:
            return _no(403, "Requests from other pages are not answered.")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and not _opens(scope, headers):
            return _no(403, "Requests from other pages are not answered.")
        if self._token is None:
            return None
        return self._without_token(Request(scope), headers)

    def _without_token(self, request: Request, headers: Headers) -> ASGIApp | None:
        """None where the token is right; a right one in the address becomes a cookie."""
        assert self._token is not None
        token = request.query_params.get("token")
        if token is not None and request.url.path == "/" and _equal(token, self._token):
            return self._welcome(request)
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        cookie = _cookie(headers, self._named(request))
        if _equal(cookie, self._token) or _equal(bearer, self._token):
            return None
        return _no(401, "A token is needed: open the address that hyperlens serve printed.")

    def _welcome(self, request: Request) -> ASGIApp:
        """To the page itself, whatever path it has for the browser, with all else that was asked for."""
        rest = [(k, v) for k, v in request.query_params.multi_items() if k != "token"]
        answer = RedirectResponse(f"./?{urlencode(rest)}" if rest else "./", 303, headers=HEADERS)
        looks: dict[str, Any] = {"httponly": True, "samesite": "lax", "path": self._path}
        answer.set_cookie(
            self._named(request), self._token or "", secure=request.url.scheme == "https", **looks
        )
        return answer

    def _named(self, request: Request) -> str:
        """The cookie's name: of this port, and with TLS one that no other host can set."""
        strict = "__Host-" if self._path == "/" else "__Secure-"
        prefix = strict if request.url.scheme == "https" else ""
        return f"{prefix}{COOKIE}-{request.url.port or request.url.scheme}"

    def _known(self, host: str) -> bool:
        return host in self._hosts or ("*" in self._hosts and _is_address(host))


def _host(value: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{value}").hostname or "").lower()
    except ValueError:
        return ""


def _of(origin: str) -> str | None:
    """Name and port in an Origin header."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None


def _opens(scope: Scope, headers: Headers) -> bool:
    """Does a request open the page in a window of its own, as a link does?"""
    window = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return scope["method"] == "GET" and scope["path"] == "/" and window == ("navigate", "document")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _cookie(headers: Headers, name: str) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def _equal(text: str, token: str) -> bool:
    return hmac.compare_digest(text.encode("utf-8", "replace"), token.encode())


def _no(status: int, sentence: str) -> ASGIApp:
    return PlainTextResponse(f"{sentence}\n", status_code=status, headers=HEADERS)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return sending
