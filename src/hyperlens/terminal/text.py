"""Text for a terminal: nothing that a file says may steer it; numbers as people write them."""

from __future__ import annotations

import unicodedata
from typing import Any

from rich.text import Text

from hyperlens import words
from hyperlens.record import CONTROL


def printable(text: object) -> str:
    """One line without control characters: what a file says must not steer the terminal."""
    clean = (" " if c in "\n\r\t" else c for c in str(text))
    return "".join(c for c in clean if unicodedata.category(c) not in CONTROL)


def number(x: Any) -> str:
    return words.number(x, unknown="unknown")


def digits(x: float) -> str:
    return words.decimals(x, unknown="unknown")


def percent(x: float) -> str:
    return words.tenths(x, unknown="unknown").replace(words.FIXED, " ")


def setting(x: Any) -> Text:
    """The value of a parameter."""
    return Text("inactive" if x is None else printable(number(x)))
