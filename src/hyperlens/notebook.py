"""What a notebook shows of a result: verdict, sentence, first rows, notes; light and dark alike."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from hyperlens.words import number, tenths

if TYPE_CHECKING:
    import pandas as pd

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
    frame: pd.DataFrame | None = None,
    notes: Iterable[str] = (),
    verdict: str = "",
    shares: Collection[str] = (),
) -> str:
    """A result as HTML; all texts are escaped. Columns named in `shares` are shown in percent."""
    badge = f'<span class="badge {verdict.replace(" ", "-")}">{verdict}</span>' if verdict else ""
    parts = [f"<h4>{escape(title)}{badge}</h4>"]
    parts += [f"<p>{escape(sentence)}</p>"] if sentence else []
    parts += [_table(frame, shares)] if frame is not None and len(frame.columns) else []
    parts += [f'<p class="note">{escape(note)}</p>' for note in dict.fromkeys(notes) if note]
    return f'{STYLE}<div class="hyperlens">{"".join(parts)}</div>'


def title_of(kind: type) -> str:
    """The name of a class in words.

    >>> class LocalImportance: ...
    >>> title_of(LocalImportance)
    'Local importance'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).capitalize()


def _table(frame: pd.DataFrame, shares: Collection[str]) -> str:
    """The first rows; a column in which nothing is known is left out."""
    known = frame.loc[:, frame.notna().any().to_numpy() | (len(frame) == 0)]
    columns = []
    for k, name in enumerate(known.columns):
        values = list(known.iloc[:ROWS, k])
        place = ' class="n"' if _numeric(values) else ""
        write = tenths if name in shares else _text
        head = f"<th{place}>{escape(str(name).replace('_', ' '))}</th>"
        columns.append([head, *(f"<td{place}>{escape(write(v))}</td>" for v in values)])
    if not columns:
        return ""
    head, *rows = ("".join(row) for row in zip(*columns, strict=True))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    left = len(frame) - ROWS
    more = f'<p class="note">… and {left} more rows</p>' if left > 0 else ""
    return f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}"


def _text(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return " × ".join(map(str, value))
    return "–" if value is None else number(value)


def _numeric(column: Sequence[Any]) -> bool:
    import numpy as np

    numbers = [v for v in column if v is not None]
    return bool(numbers) and all(
        isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in numbers
    )
