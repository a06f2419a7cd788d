"""What can be wrong with what a user gave us. Each message is one sentence with its remedy.

HyperlensError
├── SourceError     a run cannot be read
│   └── NoTrials    a run that has only just begun
├── SpaceError      a search space, or a value that does not fit it
└── AnalysisError   the run was read, but the question cannot be answered from it
"""

from collections.abc import Iterable

ONE_LINE = str.maketrans("\r\n", "  ")
LONGEST = 480  # characters of a message: five lines of a terminal


class HyperlensError(Exception):
    """Base of all errors that are about the user's input rather than about our code.

    A long message, which a file's own names may make, keeps what is wrong and the remedy at its end.

    >>> len(str(HyperlensError("x" * 9000)))
    480
    """

    def __init__(self, message: object = "") -> None:
        text = str(message)
        if len(text) > LONGEST:
            text = f"{text[: LONGEST - 161]}…{text[-160:]}"
        super().__init__(text)


class SourceError(HyperlensError):
    """A run cannot be read."""


class NoTrials(SourceError):
    """A run has nothing to read yet, and may have later."""


class SpaceError(HyperlensError):
    """A search space is not usable, or a value does not fit it."""


class AnalysisError(HyperlensError):
    """The run was read, but the question cannot be answered from it."""


# what to say where a table in Parquet cannot be read for want of a reader
NO_PARQUET = (
    "The table '{}' is in Parquet, which needs the extra 'parquet'; install it with "
    "'pip install hyperlens[parquet]', or give a CSV."
)


def listed(names: Iterable[object], most: int = 8) -> str:
    """Names for a message: quoted, on one line, joined by commas, cut after `most`.

    >>> print(listed(["lr", "two\\nlines"]))
    'lr', 'two lines'
    """
    items = [f"'{name}'".translate(ONE_LINE) for name in names]
    shown = ", ".join(items[:most])
    return f"{shown} and {len(items) - most} more" if len(items) > most else shown or "none"
