"""Text for a terminal: nothing that a file says may steer it."""

import sys
import unicodedata

from hyperlens.record import CONTROL
from hyperlens.words import FIXED


def printable(text: object) -> str:
    """One line without control characters: what a file says must not steer the terminal."""
    clean = (" " if c in f"\n\r\t{FIXED}" else c for c in str(text))
    return "".join(c for c in clean if unicodedata.category(c) not in CONTROL)


def say(*sentences: str) -> None:
    """Sentences on standard error, as they come."""
    for sentence in sentences:
        print(printable(sentence), file=sys.stderr, flush=True)
