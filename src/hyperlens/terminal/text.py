"""Text for a terminal: nothing that a file says may steer it."""

import sys
import textwrap
import unicodedata

from hyperlens.record import CONTROL
from hyperlens.words import FIXED


def printable(text: object) -> str:
    """One line without control characters: what a file says must not steer the terminal."""
    return _clean(text).replace(FIXED, " ")


def _clean(text: object) -> str:
    clean = (" " if c in "\n\r\t" else c for c in str(text))
    return "".join(c for c in clean if unicodedata.category(c) not in CONTROL)


def paragraph(text: object, width: int, begin: str = "") -> str:
    """The same in lines of a width, a number never apart from its unit; below what it begins with the
    others are indented."""
    lines = textwrap.wrap(
        _clean(text),
        max(width, len(begin) + 20),
        initial_indent=begin,
        subsequent_indent=" " * len(begin),
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace(FIXED, " ")


def say(*sentences: str) -> None:
    """Sentences on standard error, as they come."""
    for sentence in sentences:
        print(printable(sentence), file=sys.stderr, flush=True)
