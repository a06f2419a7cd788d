"""Cards as HTML: those of a report in one file, or one for a live page that asked for it."""

import base64
import gzip
import hashlib
from collections.abc import Container, Iterable, Mapping
from functools import cache
from itertools import groupby
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from hyperlens.front import asset, front_end, plotly_js
from hyperlens.front.templates import environment
from hyperlens.reports.said_once import without_repeats
from hyperlens.sections.cards import meanings
from hyperlens.sections.cards.card import Card, Control


@cache
def _templates() -> Environment:
    return environment(meanings=meanings, at_first=_at_first, texts=_texts)


def card_html(card: Card, own_title: bool = True, live: bool = False) -> str:
    """One card. `live` adds what only a page with a server behind it can do."""
    macros: Any = _templates().get_template("card.html").module
    return _writable(macros.card_html(card, own_title, live))


def report_html(cards: Iterable[Card], title: str) -> str:
    """A page that needs nothing else: no network, no server, no other file.

    The same cards give the same bytes.
    """
    plotly, script, loader = plotly_js(), front_end("places.js"), asset("unpacking.js")
    page = _templates().get_template("report.html")
    return _writable(
        page.render(
            title=title,
            sections=[
                (name, list(group))
                for name, group in groupby(without_repeats(cards), lambda c: c.section)
            ],
            policy=_policy(plotly, script, loader),
            style=Markup(asset("report.css")),
            plotly=Markup(_packed(plotly)),
            script=Markup(script),
            loader=Markup(loader),
        )
    )


@cache
def _packed(script: str) -> str:
    """A long script as letters, a third as long; the page unpacks it."""
    return base64.b64encode(gzip.compress(script.encode("utf-8"), mtime=0)).decode()


def _policy(*scripts: str) -> str:
    """Only these very scripts may run, and nothing may be loaded."""
    digests = (hashlib.sha256(s.encode("utf-8")).digest() for s in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(d).decode()}'" for d in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _at_first(when: Mapping[str, Container[int]], controls: Iterable[Control]) -> bool:
    """Does a caption go with what is chosen before anybody chooses?"""
    return all(c.chosen in when[c.name] for c in controls if c.name in when)


def _texts(rows: Iterable[Iterable[Any]]) -> list[list[str]]:
    """The cells of a grid as a table shows them."""
    return [[_text(value) for value in row] for row in rows]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _writable(html: str) -> str:
    """Half a character of Unicode, a lone surrogate, cannot be written; a question mark can."""
    return html.encode("utf-8", "replace").decode("utf-8")
