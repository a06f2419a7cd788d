"""The application behind the live page: a few addresses, none of which takes a path or a query."""

import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import lru_cache
from itertools import groupby
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperlens.dashboard.access.guard import LOOPBACK, Guard
from hyperlens.dashboard.access.root_path import RootPath
from hyperlens.dashboard.catalogue import Source
from hyperlens.dashboard.dispatcher import Dispatcher, Look
from hyperlens.dashboard.jobs import Job
from hyperlens.dashboard.query import SECTIONS, BadQuery, part_of
from hyperlens.dashboard.worker import work
from hyperlens.front import asset, front_end, plotly_js
from hyperlens.front.templates import live_html

MOST_BODY = 64 * 1024  # bytes of a query
LIVE = ("keeping.js", "saying.js", "address.js", "comparing.js", "runs.js", "rooms.js", "live.js")
DAY = "public, max-age=86400"


def create_app(
    sources: Iterable[Source | str],
    *,
    token: str | None = None,
    hosts: tuple[str, ...] = LOOPBACK,
    proxies: tuple[str, ...] = (),
    path: str = "",
    worker: Callable[..., None] = work,
) -> Starlette:
    """The live page on these sources.

    With a `token`, every request must carry it. `hosts` are the names the page answers to, `proxies`
    those by which a proxy is reached that hands requests on, and `path` what it has before the page's
    own addresses.
    """
    unique = tuple(dict.fromkeys(s if isinstance(s, Source) else Source(s) for s in sources))

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        app.state.dispatcher = Dispatcher(unique, worker)
        try:
            yield
        finally:
            app.state.dispatcher.close()

    return Starlette(
        lifespan=life,
        routes=[
            Route("/", _file("text/html", _page)),
            Route(
                "/report.css", _file("text/css", lambda: asset("report.css") + asset("live.css"))
            ),
            Route(
                "/front.js",
                _file(
                    "text/javascript",
                    lambda: front_end(*LIVE),
                ),
            ),
            Route("/plotly.js", _file("text/javascript", plotly_js)),
            Route("/api/runs", _runs),
            Route("/api/state", _state),
            Route("/api/ask", _ask, methods=["POST"]),
            Route("/api/job", _job),
            Route("/api/cancel", _cancel, methods=["POST"]),
        ],
        middleware=[
            Middleware(RootPath, path=path),
            Middleware(Guard, token=token, hosts=hosts, proxies=proxies, path=path),
            Middleware(GZipMiddleware, minimum_size=2048, compresslevel=3),
        ],
        exception_handlers={BadQuery: _bad_query},
    )


def _page() -> str:
    groups = groupby(SECTIONS.values(), key=lambda section: section.title)
    return live_html([(title, list(sections)) for title, sections in groups])


def _file(kind: str, content: Callable[[], str]) -> Callable[[Request], Any]:
    """A file of the front end; the same for every request, so encoded once."""
    encoded = lru_cache(maxsize=1)(lambda: content().encode())

    async def serve(request: Request) -> Response:
        caching = (
            DAY if kind == "text/javascript" and request.url.path == "/plotly.js" else "no-cache"
        )
        return Response(encoded(), media_type=kind, headers={"Cache-Control": caching})

    return serve


async def _runs(request: Request) -> Response:
    dispatcher = _dispatcher(request)
    listed, edition = dispatcher.runs(), dispatcher.edition
    told = {"ready": dispatcher.listed, "edition": edition}
    if request.query_params.get("known") == str(edition):  # thousands of runs are told once
        return JSONResponse(told)
    runs = [
        {"id": k, "key": dispatcher.key(run), "title": run.title, "size": dispatcher.size(k)}
        for k, run in enumerate(listed)
    ]
    return JSONResponse({**told, "runs": runs})


async def _state(request: Request) -> Response:
    part = part_of(_json(request.query_params.get("part", "null")))
    look = _dispatcher(request).state(_number(request.query_params.get("run")), part)
    return JSONResponse(_public(look))


def _public(look: Look) -> dict[str, Any]:
    if look.state is None:
        return {"ready": False, "problem": look.problem}
    return {"ready": True, "problem": look.problem, **look.state.public()}


async def _ask(request: Request) -> Response:
    body = await _body(request)
    answer = _dispatcher(request).ask(_number(body.get("run")), body)
    return JSONResponse(_progress(answer) if isinstance(answer, Job) else _done(answer))


async def _job(request: Request) -> Response:
    job = _dispatcher(request).job(request.query_params.get("ticket", ""))
    if job is None:
        raise BadQuery("There is no such ticket any more; ask again.")
    return JSONResponse(_done(job.result) if job.state == "done" else _progress(job))


async def _cancel(request: Request) -> Response:
    body = await _body(request)
    _dispatcher(request).cancel(
        str(body.get("ticket", "")), only_waiting=body.get("waiting") is True
    )
    return JSONResponse({})


def _done(result: dict[str, Any]) -> dict[str, Any]:
    version, trials = result["versions"][0], result["trials"]
    return {"state": "done", "version": version, "trials": trials, "html": result["html"]}


def _progress(job: Job) -> dict[str, Any]:
    return {
        "state": job.state,
        "ticket": job.ticket,
        "what": job.what,
        "part": job.done,
        "problem": job.problem,
    }


async def _body(request: Request) -> dict[str, Any]:
    """A small JSON object, sent as such, which no form of another page can do."""
    if request.headers.get("content-type", "").split(";")[0] != "application/json":
        raise BadQuery("Send JSON.")
    raw = b""
    async for part in request.stream():
        raw += part
        if len(raw) > MOST_BODY:
            raise BadQuery("That is too long.")
    body = _json(raw)
    if not isinstance(body, dict):
        raise BadQuery("Send a JSON object.")
    return body


def _json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:  # the latter: brackets in brackets
        raise BadQuery("Send JSON.") from problem


def _number(value: Any) -> int:
    """The number of a run, as JSON or out of an address."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 7:
        return int(value)
    if type(value) is int:
        return value
    raise BadQuery("There is no such run.")


def _dispatcher(request: Request) -> Dispatcher:
    dispatcher: Dispatcher = request.app.state.dispatcher
    return dispatcher


async def _bad_query(request: Request, problem: Exception) -> Response:
    return JSONResponse({"problem": str(problem)}, status_code=400)
