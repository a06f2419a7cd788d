"""Odd studies against every public analysis."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Iterator, Sequence

import odd_studies

from benchmarks.reliability import Row

ABOUT = """
An odd study fails an analysis that gives neither a record, which can be written and drawn, nor a
sentence. The same cases, by their numbers: `python tests/odd_studies.py --case 17`.
"""


AGAIN = """
The odd cases of the last 20,000 that were wrong, after what they had found was mended; one of each kind
is in `make test`.
"""
EACH = 2000  # cases of a row


def rows(first: int, cases: int, minutes: float) -> Iterator[Row]:
    """So many cases, or as many as are tried in some minutes."""
    until, after = time.monotonic() + 60 * minutes, first + cases
    for begun in range(first, after, EACH):
        tried, wrong = _tried(range(begun, min(begun + EACH, after)), until)
        if tried:
            many = len(odd_studies.analyses())
            what = f"odd studies against {many} analyses, cases {begun} to {begun + tried - 1}"
            yield Row(what, tried, wrong)


def again(numbers: Sequence[int]) -> Iterator[Row]:
    """Cases by their numbers."""
    tried, wrong = _tried(numbers, math.inf)
    yield Row("odd cases that had been wrong", tried, wrong)


def _tried(numbers: Sequence[int], until: float) -> tuple[int, int]:
    """How many cases were tried until then, and how many of them are wrong."""
    tried = wrong = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in numbers:
            if time.monotonic() > until:
                break
            problem = odd_studies.attack(*odd_studies.case(number))
            if problem is not None:
                print(number, odd_studies.case(number), problem, file=sys.stderr, flush=True)
                wrong += 1
            tried += 1
            if tried % 500 == 0:
                print(tried, "cases,", wrong, "wrong", file=sys.stderr, flush=True)
    return tried, wrong
