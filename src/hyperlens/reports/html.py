"""Cards as one HTML file that needs nothing else: no network, no server, no other file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape
from itertools import groupby
from string import Template

from hyperlens.front import asset, front_end, plotly_js
from hyperlens.reports.card import Card
from hyperlens.reports.fragments import card_html


def render(cards: Iterable[Card], title: str) -> str:
    """The page. The same cards give the same bytes; every text in them is shown literally."""
    sections = [(name, list(group)) for name, group in groupby(cards, key=lambda c: c.section)]
    plotly, script = plotly_js(), front_end()
    page = Template(asset("report.html")).substitute(
        policy=_policy(plotly, script),
        title=escape(title),
        style=asset("report.css"),
        contents=_contents(sections),
        sections="\n".join(_section(name, group) for name, group in sections),
        plotly=plotly,
        script=script,
    )
    return page.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be written


def _policy(*scripts: str) -> str:
    """Only these very scripts may run, and nothing may be loaded."""
    digests = (hashlib.sha256(s.encode("utf-8")).digest() for s in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(d).decode()}'" for d in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _contents(sections: list[tuple[str, list[Card]]]) -> str:
    items = []
    for name, group in sections:
        inner = "".join(
            f'<li><a href="#{escape(c.id)}">{escape(c.title)}</a></li>'
            for c in group
            if c.title != name
        )
        link = f'<a href="#{_anchor(group)}">{escape(name)}</a>'
        items.append(f"<li>{link}{f'<ol>{inner}</ol>' if inner else ''}</li>")
    return f"<ol>{''.join(items)}</ol>"


def _anchor(group: list[Card]) -> str:
    return f"section-{escape(group[0].id)}"


def _section(name: str, group: list[Card]) -> str:
    anchor = _anchor(group)
    body = "\n".join(card_html(c, own_title=c.title != name) for c in group)
    return (
        f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{escape(name)}</h2>\n'
        f"{body}\n</section>"
    )
