"""How user text is put into figures, and the small texts that they share."""

import html
from collections.abc import Sequence
from typing import Any

from hyperlens.words import counted, number

LONGEST = 26  # characters of a tick label


def safe(text: object) -> str:
    """User text as Plotly shows it literally: no tags, no links, no hover template fields.

    Plotly decodes `&lt;`, `&gt;`, `&amp;` and numbered entities, but not `&quot;`.

    >>> safe('<b>%{x}</b>')
    '&lt;b&gt;&#37;{x}&lt;/b&gt;'
    """
    return html.escape(str(text), quote=False).replace("%{", "&#37;{")


def short(text: str, longest: int = LONGEST) -> str:
    """Text cut in its middle where it is too long for a tick."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[: longest - 1 - half]}…{text[-half:]}"


def directed(objective: str, maximize: bool) -> str:
    """Axis title of an objective: its name and which way is better."""
    return f"{safe(short(objective, 40))} ({'higher' if maximize else 'lower'} is better)"


def unshown(count: int, noun: str, which: str = "") -> str:
    """A line under an axis title: how many of what did not fit into the figure; empty if all did."""
    return small(f"not shown: {counted(count, noun)}{which}") if count > 0 else ""


def small(text: str) -> str:
    """A small line of its own under an axis title."""
    return f"<br><span style='font-size:11px'>{text}</span>"


def value_text(value: object) -> str:
    """A parameter's value; None is inactive."""
    return "inactive" if value is None else number(value)


def labels(values: Sequence[Any]) -> list[str]:
    """One text per value, different for different values (1 and "1"), not yet escaped."""
    texts = [str(v) for v in values]
    return texts if len(set(texts)) == len(texts) else [repr(v) for v in values]
