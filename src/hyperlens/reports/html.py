"""Cards as one HTML file that needs nothing else: no network, no server, no other file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from itertools import groupby
from string import Template
from typing import Any

from plotly.offline import get_plotlyjs

from hyperlens.reports.cards import Card, Choice, Fact, Table
from hyperlens.surrogates.quality import Quality

OPEN_ROWS = 12  # a longer table starts folded


def render(cards: Iterable[Card], title: str) -> str:
    """The page. The same cards give the same bytes; every text in them is shown literally."""
    sections = [(name, list(group)) for name, group in groupby(cards, key=lambda c: c.section)]
    plotly, script = get_plotlyjs(), _asset("report.js")
    page = Template(_asset("report.html")).substitute(
        policy=_policy(plotly, script),
        title=escape(title),
        style=_asset("report.css"),
        contents=_contents(sections),
        sections="\n".join(_section(name, group) for name, group in sections),
        plotly=plotly,
        script=script,
    )
    return page.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be written


def embedded(value: Any) -> str:
    """JSON that may stand inside a script element: nothing in it can close the element.

    >>> embedded("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII: U+2028 is escaped
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return files("hyperlens.reports").joinpath(name).read_text(encoding="utf-8")


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
    body = "\n".join(_card(c, own_title=c.title != name) for c in group)
    return (
        f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{escape(name)}</h2>\n'
        f"{body}\n</section>"
    )


def _card(card: Card, own_title: bool) -> str:
    parts = [
        f"<h3>{escape(card.title)}</h3>" if own_title else "",
        f'<p class="problem">{escape(card.problem)}</p>' if card.problem else "",
        _facts(card.facts) if card.facts else "",
        "".join(f"<p>{escape(s)}</p>" for s in card.lead),
        "".join(map(_badge, card.qualities)),
        _figure(card) if card.figure else "",
        _table(card.table) if card.table else "",
        _notes(card.notes) if card.notes else "",
    ]
    body = "\n".join(p for p in parts if p)
    return f'<article class="card" id="{escape(card.id)}">\n{body}\n</article>'


def _facts(facts: tuple[Fact, ...]) -> str:
    items = "".join(
        f"<div><dt>{escape(f.label)}</dt><dd><strong>{escape(f.value)}</strong>"
        f"<span>{escape(f.detail)}</span></dd></div>"
        for f in facts
    )
    return f'<dl class="facts">{items}</dl>'


def _badge(quality: Quality) -> str:
    kind = quality.verdict.replace(" ", "-")
    return (
        f'<p class="quality"><span class="badge {escape(kind)}">{escape(quality.verdict)}</span> '
        f"{escape(quality.sentence)}</p>"
    )


def _figure(card: Card) -> str:
    assert card.figure is not None
    height = int(card.figure["layout"]["height"])
    label = escape(f"Plot: {card.title}. {' '.join(card.lead)}")
    choice = _choice(card.choice, f"{card.id}-choice") if card.choice else ""
    return (
        f'<figure>{choice}<div class="plot" role="img" aria-label="{label}" '
        f'style="height:{height}px"></div>'
        f'<script type="application/json">{embedded(card.figure)}</script></figure>'
    )


def _choice(choice: Choice, id: str) -> str:
    """A list to choose the highlighted region from; hidden until the script can serve it."""
    options = "".join(
        f'<option value="{value}"{" selected" * (value == choice.chosen)}>{escape(text)}</option>'
        for value, text in choice.options
    )
    return (
        f'<p class="choice" hidden><label for="{escape(id)}">{escape(choice.label)}</label> '
        f'<select id="{escape(id)}">{options}</select></p>'
    )


def _table(table: Table) -> str:
    kinds = ["number" if n else "text" for n in table.numeric]
    head = "".join(
        f'<th scope="col" class="{k}">{escape(c)}</th>'
        for c, k in zip(table.columns, kinds, strict=True)
    )
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(
            f'<td class="{k}">{escape(cell)}</td>'
            for cell, k in zip(row[1:], kinds[1:], strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    text = (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr>{head}'
        f"</tr></thead><tbody>{body}</tbody></table></div>"
    )
    if len(table.rows) <= OPEN_ROWS:
        return text
    return f"<details><summary>Table of all {len(table.rows)} rows</summary>{text}</details>"


def _notes(notes: tuple[str, ...]) -> str:
    return f'<ul class="notes">{"".join(f"<li>{escape(n)}</li>" for n in notes)}</ul>'
