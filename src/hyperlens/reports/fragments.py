"""Cards as HTML, the same for the report and for the live page. Every text is shown literally."""

from __future__ import annotations

import json
from html import escape
from itertools import count
from typing import Any

from hyperlens.reports import meanings
from hyperlens.reports.card import Card, Control, Fact, Grid, Node, Table, Tree
from hyperlens.surrogates.quality import Quality

OPEN_ROWS = 12  # a longer table starts folded
LONG_HEADLINE = 9  # characters
FIRST_ROWS = 20  # of a grid, shown without a script


def embedded(value: Any) -> str:
    """JSON that may stand inside a script element: nothing in it can close the element.

    >>> embedded("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII: U+2028 is escaped
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def card_html(card: Card, own_title: bool = True, live: bool = False) -> str:
    """One card. `live` adds what only a page with a server behind it can do."""
    asides = _Asides(card.id)
    parts = [
        f"<h3>{escape(card.title)}</h3>" if own_title else "",
        f'<p class="problem">{escape(card.problem)}</p>' if card.problem else "",
        _facts(card.facts, asides) if card.facts else "",
        "".join(f"<p>{escape(s)}</p>" for s in card.lead),
        "".join(_badge(q, asides) for q in card.qualities),
        _figure(card) if card.figure else "",
        _tree(card.tree, card.id, live, asides) if card.tree and (live or card.tree.splits) else "",
        _table(card.table, asides, card.title) if card.table else "",
        _grid(card.grid, asides, card) if card.grid else "",
        _notes(card.notes) if card.notes else "",
        _how(card.how) if card.how else "",
    ]
    body = "\n".join(p for p in parts if p)
    return f'<article class="card" id="{escape(card.id)}">\n{body}\n</article>'


class _Asides:
    """Sentences on demand: a button, and what it opens. Works without a script."""

    def __init__(self, card: str) -> None:
        self._card = card
        self._number = count(1)

    def __call__(self, what: str, meaning: str) -> str:
        if not meaning:
            return ""
        id = escape(f"{self._card}-what-{next(self._number)}")
        return (
            f' <button type="button" class="what" popovertarget="{id}" '
            f'aria-label="What is {escape(what)}?">?</button>'
            f'<span class="meaning" popover id="{id}" role="note">'
            f"<strong>{escape(what)}</strong> {escape(meaning)}</span>"
        )


def _facts(facts: tuple[Fact, ...], asides: _Asides) -> str:
    items = "".join(
        f"<div><dt>{escape(f.label)}{asides(f.label, f.meaning)}</dt>"
        f"<dd><strong{_size(f.value)}>{escape(f.value)}</strong><span>{escape(f.detail)}</span></dd></div>"
        for f in facts
    )
    return f'<dl class="facts">{items}</dl>'


def _size(value: str) -> str:
    """A long headline is set smaller, so that no word of it is broken."""
    return ' class="long"' if len(value) > LONG_HEADLINE else ""


def _badge(quality: Quality, asides: _Asides) -> str:
    kind = quality.verdict.replace(" ", "-")
    return (
        f'<p class="quality"><span class="badge {escape(kind)}">{escape(quality.verdict)}</span> '
        f"{escape(quality.sentence)}{asides('this verdict', meanings.VERDICT)}</p>"
    )


def _figure(card: Card) -> str:
    assert card.figure is not None
    height = int(card.figure["layout"]["height"])
    label = escape(f"Plot: {card.title}. {' '.join(card.lead)}")
    controls = "".join(_control(c, f"{card.id}-{c.name}") for c in card.controls)
    chosen = {c.name: c.chosen for c in card.controls}
    captions = "".join(_caption(when, text, chosen) for when, text in card.captions)
    numbers = (
        ""
        if card.csv is None
        else f'<script type="application/json" class="csv">{embedded(card.csv)}</script>'
    )
    return (
        f'<figure data-name="{escape(card.id)}"{_elsewhere(card)}>'
        + (f'<div class="controls" hidden>{controls}</div>' if controls else "")
        + (f'<div class="captions" aria-live="polite">{captions}</div>' if captions else "")
        + f'<div class="plot" role="img" aria-label="{label}" style="height:{height}px"></div>'
        f'<script type="application/json">{embedded(card.figure)}</script>{numbers}'
        f"{_saving(card)}</figure>"
    )


def _elsewhere(card: Card) -> str:
    return f' data-csv-of="{escape(card.csv_of)}"' if card.csv_of else ""


def _caption(when: dict[str, tuple[int, ...]], text: str, chosen: dict[str, int]) -> str:
    """Without a script, that of the values which are chosen at first."""
    shown = all(chosen.get(name) in values for name, values in when.items() if name in chosen)
    kept = escape(json.dumps({name: list(values) for name, values in when.items()}))
    return f'<p data-when="{kept}"{"" if shown else " hidden"}>{escape(text)}</p>'


def _saving(card: Card) -> str:
    kinds = ("svg", "png", "csv") if card.csv or card.csv_of else ("svg", "png")
    buttons = "".join(
        f'<button type="button" data-save="{kind}" '
        f'aria-label="Save {escape(card.title)} as {kind.upper()}">{kind.upper()}</button>'
        for kind in kinds
    )
    return f'<p class="saving" hidden>Save as {buttons}</p>'


def _control(control: Control, id: str) -> str:
    """Hidden with its group until the script can serve it."""
    id, name, label = escape(id), escape(control.name), escape(control.label)
    if control.kind == "list":
        options = "".join(
            f'<option value="{value}"{" selected" * (value == control.chosen)}>{escape(text)}</option>'
            for value, text in control.options
        )
        return (
            f'<p class="control"><label for="{id}">{label}</label> '
            f'<select id="{id}" data-control="{name}">{options}</select></p>'
        )
    if control.kind == "slider":
        first, last = control.options[0][0], control.options[-1][0]
        said = dict(control.options)[control.chosen]
        texts = escape(json.dumps([text for _, text in control.options]))
        return (
            f'<p class="control"><label for="{id}">{label}</label> '
            f'<input type="range" id="{id}" data-control="{name}" data-texts="{texts}" '
            f'min="{first}" max="{last}" step="1" value="{control.chosen}" '
            f'aria-valuetext="{escape(said)}"> <output for="{id}">{escape(said)}</output></p>'
        )
    return (
        f'<p class="control"><input type="checkbox" role="switch" id="{id}" data-control="{name}"'
        f'{" checked" * bool(control.chosen)}> <label for="{id}">{label}</label></p>'
    )


def _tree(tree: Tree, card: str, live: bool, asides: _Asides) -> str:
    """The regions beneath each other; where they are leaves they can be highlighted."""
    below: dict[int | None, list[Node]] = {}
    for node in tree.nodes:
        below.setdefault(node.parent, []).append(node)
    parents = {node.id: node for node in tree.nodes}

    def made(node: Node) -> int:
        return node.leaf_after[0] if node.leaf_after else 0

    def item(node: Node) -> str:
        name = f"{escape(card)}-region"
        checked = " checked" * (node.id == tree.chosen)
        best = ' <span class="badge here">holds the best trial</span>' if node.best else ""
        split = node.id in below
        hand = _hand(node, split, tree) if live else ""
        inner = "".join(item(child) for child in below.get(node.id, ()))
        when = escape(json.dumps({"splits": list(range(made(node), tree.splits + 1))}))
        leaf = escape(json.dumps({"splits": list(node.leaf_after)}))
        return (
            f'<li data-when="{when}"><label><span class="pick" data-when="{leaf}">'
            f'<input type="radio" name="{name}" value="{node.id}" data-control="region"'
            f"{checked}{' data-best' * node.best}></span>"
            f'<span class="swatch" style="background:{escape(node.colour)}"></span>'
            f'<span class="rule">{escape(node.text)}</span></label> '
            f'<span class="detail">{escape(node.detail)}{best}</span>{hand}'
            + (f"<ul>{inner}</ul>" if inner else "")
            + "</li>"
        )

    assert parents
    roots = "".join(item(node) for node in below[None])
    return (
        '<fieldset class="tree"><legend>Regions; choose one to highlight'
        f"{asides('said of a region', meanings.REGION)}</legend>"
        f"<ul>{roots}</ul></fieldset>"
    )


def _hand(node: Node, split: bool, tree: Tree) -> str:
    """Grow or shrink the tree by hand."""
    what, text = ("merge", "Take back") if split else ("split", "Split")
    return (
        f' <button type="button" class="hand" data-hand="{what}" data-region="{node.id}" '
        f'aria-label="{text}: {escape(node.text)}">{text}</button>'
    )


def _head(
    columns: tuple[str, ...], kinds: list[str], said: tuple[str, ...], asides: _Asides
) -> str:
    meanings = said or ("",) * len(columns)
    return "".join(
        f'<th scope="col" class="{k}">{escape(c)}{asides(c, m)}</th>'
        for c, k, m in zip(columns, kinds, meanings, strict=True)
    )


def _body(rows: list[tuple[str, ...]], kinds: list[str]) -> str:
    return "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(
            f'<td class="{k}">{escape(cell)}</td>'
            for cell, k in zip(row[1:], kinds[1:], strict=True)
        )
        + "</tr>"
        for row in rows
    )


def _scrolling(head: str, body: str, name: str) -> str:
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table: {escape(name)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _table(table: Table, asides: _Asides, name: str) -> str:
    kinds = ["number" if n else "text" for n in table.numeric]
    text = _scrolling(
        _head(table.columns, kinds, table.meanings, asides), _body(list(table.rows), kinds), name
    )
    if len(table.rows) <= OPEN_ROWS:
        return text
    return f"<details><summary>Table of all {len(table.rows)} rows</summary>{text}</details>"


def _grid(grid: Grid, asides: _Asides, card: Card) -> str:
    """The first rows as a table; a script makes all of them sortable."""
    kinds = ["number" if n else "text" for n in grid.numeric]
    first = [tuple("" if v is None else _said(v) for v in row) for row in grid.rows[:FIRST_ROWS]]
    content = {"columns": grid.columns, "numeric": grid.numeric, "rows": grid.rows}
    table = _scrolling(
        _head(grid.columns, kinds, grid.meanings, asides), _body(first, kinds), card.title
    )
    return (
        f'<div class="grid" data-name="{escape(card.id)}">{table}'
        f'<script type="application/json" class="rows">{embedded(content)}</script>'
        f"<noscript><p>The first {len(first)} of {len(grid.rows)} rows.</p></noscript></div>"
    )


def _said(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _notes(notes: tuple[str, ...]) -> str:
    return f'<ul class="notes">{"".join(f"<li>{escape(n)}</li>" for n in notes)}</ul>'


def _how(how: tuple[str, ...]) -> str:
    text = "".join(f"<p>{escape(s)}</p>" for s in how)
    title = "How to read this, and how it was computed"
    return f'<details class="how"><summary>{title}</summary>{text}</details>'
