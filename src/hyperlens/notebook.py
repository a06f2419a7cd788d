"""What a notebook shows of a result: verdict, sentence, first rows, notes; light and dark alike."""

import re
from collections.abc import Iterable
from html import escape

from hyperlens.tables import Table

ROWS = 20
# colours are those of the page with some of them let through, so that they fit any background
STYLE = """<style>
.hyperlens{font:13px/1.45 system-ui,sans-serif;max-width:60em}
.hyperlens p{margin:.35em 0;max-width:48em}
.hyperlens h4{font-size:15px;margin:.2em 0 .4em}
.hyperlens .badge{font-size:12px;font-weight:600;margin-left:.6em;padding:.1em .6em;border-radius:1em}
.hyperlens .trust{background:rgba(30,160,80,.25)}
.hyperlens .caution{background:rgba(220,160,0,.3)}
.hyperlens .do-not-trust{background:rgba(220,60,50,.28)}
.hyperlens div{overflow-x:auto}
.hyperlens table{border-collapse:collapse;margin:.5em 0;font-size:13px}
.hyperlens tr{background:none!important}
.hyperlens th,.hyperlens td{text-align:left!important;padding:.2em .9em .2em 0!important;border:0;
border-bottom:1px solid rgba(128,128,128,.3)!important;vertical-align:top;max-width:30em}
.hyperlens .n{text-align:right!important;font-variant-numeric:tabular-nums;white-space:nowrap}
.hyperlens .note{opacity:.75}
</style>"""


def view(
    title: str,
    sentence: str = "",
    tables: Iterable[Table] = (),
    notes: Iterable[str] = (),
    verdict: str = "",
) -> str:
    """A result as HTML; all texts are escaped."""
    badge = f'<span class="badge {verdict.replace(" ", "-")}">{verdict}</span>' if verdict else ""
    parts = [f"<h4>{escape(title)}{badge}</h4>"]
    parts += [f"<p>{escape(sentence)}</p>"] if sentence else []
    parts += [_table(table) for table in tables if table.columns]
    parts += [f'<p class="note">{escape(note)}</p>' for note in dict.fromkeys(notes) if note]
    return f'{STYLE}<div class="hyperlens">{"".join(parts)}</div>'


def title_of(kind: type) -> str:
    """The name of a class in words.

    >>> class LocalImportance: ...
    >>> title_of(LocalImportance)
    'Local importance'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).capitalize()


def _table(table: Table) -> str:
    """The first rows."""
    places = [' class="n"' if numeric else "" for numeric in table.numeric]

    def line(tag: str, cells: Iterable[str]) -> str:
        pairs = zip(places, cells, strict=True)
        return "".join(f"<{tag}{place}>{escape(cell)}</{tag}>" for place, cell in pairs)

    head = line("th", table.columns)
    body = "".join(f"<tr>{line('td', row)}</tr>" for row in table.rows[:ROWS])
    left = len(table.rows) + table.more - ROWS
    more = f'<p class="note">… and {left} more rows</p>' if left > 0 else ""
    return f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}"
