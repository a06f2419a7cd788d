"""Odd studies against every public analysis."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator

import odd_studies

from benchmarks.reliability import Row

ABOUT = """
An odd study fails an analysis that gives neither a record, which can be written and drawn, nor a
sentence. The same cases, by their numbers: `python tests/odd_studies.py --case 17`.
"""


def rows(first: int, cases: int, minutes: float) -> Iterator[Row]:
    """So many cases, or as many as are tried in some minutes."""
    wrong, number, until = 0, first, time.monotonic() + 60 * minutes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while number < first + cases and time.monotonic() < until:
            problem = odd_studies.attack(*odd_studies.case(number))
            if problem is not None:
                print(number, odd_studies.case(number), problem, file=sys.stderr, flush=True)
                wrong += 1
            number += 1
            if (number - first) % 500 == 0:
                print(number - first, "cases,", wrong, "wrong", file=sys.stderr, flush=True)
    many = len(odd_studies.analyses())
    what = f"odd studies against {many} analyses, cases {first} to {number - 1}"
    yield Row(what, number - first, wrong)
