"""Numbers and names as people write them: shared by records, report and terminal."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

FIXED = "\N{NO-BREAK SPACE}"  # keeps a number and its unit on one line
FORMULA = ("=", "+", "-", "@")  # how a cell begins that spreadsheets compute
FAR, MOST_DIGITS = 100, 15  # times their differences, from which on; that a float tells apart
SLIGHT = 0.001  # a share of the variance below this is not worth a word
_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
SURROGATES = {
    "additive": "additive Gaussian process",
    "gp": "Gaussian process",
    "forest": "random forest",
}


def number(value: Any, digits: int = 4, unknown: str = "–") -> str:
    """Floats to some digits, everything else as it is written.

    >>> number(0.123456), number(12345.6), number(3), number("adam")
    ('0.1235', '12346', '3', 'adam')
    """
    if not isinstance(value, (float, np.floating)):
        return str(value)
    if not math.isfinite(value):
        return unknown
    whole = 10.0**digits <= abs(float(value)) < 1e9  # more before the point than was asked for
    return f"{value:.0f}" if whole else f"{value:.{digits}g}"


def told_apart(values: Sequence[float], digits: int = 4, most: int = 12) -> Callable[[Any], str]:
    """Numbers to as many digits as it takes that different ones look different, and at most so many.

    >>> [told_apart([0.123451, 0.123452, 0.5])(v) for v in (0.123451, 0.123452)]
    ['0.123451', '0.123452']
    """
    different = {float(v) for v in values if math.isfinite(v)}
    while digits < most and len({number(v, digits) for v in different}) < len(different):
        digits += 1
    return partial(number, digits=digits)


def with_a_point(cell: Any) -> Any:
    """A text that is a number with a decimal comma, with a point; anything else as it is.

    >>> with_a_point("1,5e-05"), with_a_point("64,32,16"), with_a_point("0.1")
    ('1.5e-05', '64,32,16', '0.1')
    """
    comma = isinstance(cell, str) and _COMMA.fullmatch(cell)
    return cell.replace(",", ".") if comma else cell


def digits_of(values: Any, digits: int = 4) -> int:
    """How many digits numbers need: more where all are so far from 0 that these hardly tell them apart,
    so many that about three are left for what they differ by.

    >>> digits_of([1000000.25, 1000000.5]), digits_of([0.25, 0.5])
    (9, 4)
    """
    known = np.asarray(values, dtype=float).ravel()
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    largest, apart = max(abs(low), abs(high)), high - low  # of Python's floats: inf at the most
    if not 0 < apart < largest / FAR:
        return digits
    return min(digits - 1 + math.floor(math.log10(largest / apart)), MOST_DIGITS)


def beside(values: Any, digits: int = 4) -> Callable[[Any], str]:
    """Writes numbers that are to be told from these.

    >>> [beside([1000000.25, 1000000.5])(v) for v in (1000000.25, 1000000.5)]
    ['1000000.25', '1000000.5']
    """
    return partial(number, digits=digits_of(values, digits))


def decimals(x: float, unknown: str = "–") -> str:
    """A number of about one to two decimals; never -0.00."""
    return f"{round(x, 2) + 0.0:.2f}" if math.isfinite(x) else unknown


def percent(share: float) -> str:
    """A share for a sentence, with a decimal only where it is small."""
    if share < 0.0005:
        return f"under 0.1{FIXED}%" if share > 0 else f"0{FIXED}%"
    return f"{100 * share:.{int(share < 0.0995)}f}{FIXED}%"


def tenths(share: float, unknown: str = "–") -> str:
    """A share for a table, always to a tenth of a percent."""
    return f"{100 * share:.1f}{FIXED}%" if math.isfinite(share) else unknown


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def article(noun: str) -> str:
    """A noun with its article, by the letter it begins with.

    >>> article("error"), article("loss")
    ('an error', 'a loss')
    """
    return f"{'an' if noun[:1].lower() in tuple('aeio') else 'a'} {noun}"


_SINGULAR = {
    "were": "was",
    "are": "is",
    "have": "has",
    "count": "counts",
    "hold": "holds",
    "lie": "lies",
    "vary": "varies",
    "they": "it",
    "them": "it",
    "their": "its",
    "costs": "a cost",
}


def agreeing(count: int, text: str) -> str:
    """What is said of several, as it is said of so many; of what follows a colon nothing changes.

    >>> agreeing(1, "were pruned and count with their cost: best and trace are of the others")
    'was pruned and counts with its cost: best and trace are of the others'
    """
    if count != 1:
        return text
    said, colon, rest = text.partition(":")
    return re.sub(r"\w+", lambda word: _SINGULAR.get(word[0], word[0]), said) + colon + rest


def first_few(names: list[str], most: int) -> str:
    """Some names of many: "a, b, c and 4 more"; where one would be left, it is named."""
    if len(names) == most + 1:
        return ", ".join(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def printable(text: str) -> str:
    """A text whose control characters are written out, so that it cannot steer a terminal.

    >>> printable("one\\x1b[31m")
    'one\\\\x1b[31m'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def setting(value: Any) -> str:
    """The value of a parameter."""
    return "inactive" if value is None else number(value)


def changing(before: Any, after: Any) -> str:
    """From one value of a parameter to another, numbers to as many digits as tell them apart.

    >>> changing(0.7441, 0.74412), changing("adam", None)
    ('from 0.7441 to 0.74412', 'from adam to inactive')
    """
    numbers = [x for x in (before, after) if isinstance(x, float)]
    said = told_apart(numbers) if len(numbers) == 2 else setting
    return f"from {said(before)} to {said(after)}"


def signed(change: float) -> str:
    """A change, or what adds to something.

    >>> signed(0.5), signed(-12345.6), signed(0.0)
    ('+0.5', '-12346', '0')
    """
    if not math.isfinite(change) or not change:
        return number(float(change))
    return f"{'-' if change < 0 else '+'}{number(abs(float(change)))}"


def p_value(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


def effect_name(parameters: Sequence[object], when: Mapping[str, str] | None = None) -> str:
    """An effect by its parameters, and when those of them that are conditional are active.

    >>> effect_name(("lr", "batch")), effect_name(("mlp_lr",), {"mlp_lr": "model is mlp"})
    ('lr × batch', 'mlp_lr, when model is mlp')
    """
    name, conditions = " × ".join(map(str, parameters)), effect_when(parameters, when)
    return f"{name}, when {conditions}" if conditions else name


def effect_when(parameters: Sequence[object], when: Mapping[str, str] | None) -> str:
    """When all of these parameters are active, each condition said once; empty if always."""
    known = when or {}
    return " and ".join(dict.fromkeys(known[str(p)] for p in parameters if str(p) in known))


def surrogate_name(name: str) -> str:
    return SURROGATES.get(name, "given surrogate")


def rank(low: float, high: float) -> str:
    """Between which ranks an effect stays."""
    if math.isnan(low):
        return "unknown"
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"


def duration(seconds: float) -> str:
    """A length of time.

    >>> duration(90), duration(7200), duration(0.25)
    ('90 seconds', '2 hours', '0.25 seconds')
    """
    for least, unit, name in ((172800, 86400, "days"), (7200, 3600, "hours"), (120, 60, "minutes")):
        if seconds >= least:
            return f"{number(seconds / unit, 3)} {name}"
    return f"{number(float(seconds), 3)} seconds"


def no_formula(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, behind an apostrophe; numbers stay.

    >>> [no_formula(text) for text in ("=1+1", "-0.5", "@x", "a=1")]
    ["'=1+1", '-0.5', "'@x", 'a=1']
    """
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
