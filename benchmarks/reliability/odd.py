"""Odd studies against every public analysis."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import odd_studies

from benchmarks.reliability import Row

ABOUT = """
An odd study fails an analysis that gives neither a record, which can be written and drawn, nor a
sentence. The same cases, by their numbers: `python tests/odd_studies.py --case 17`.
"""


def rows(first: int, cases: int) -> Iterator[Row]:
    wrong = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(first, first + cases):
            problem = odd_studies.attack(*odd_studies.case(number))
            if problem is not None:
                print(number, odd_studies.case(number), problem, file=sys.stderr, flush=True)
                wrong += 1
            if (number - first) % 500 == 499:
                print(number + 1 - first, "cases,", wrong, "wrong", file=sys.stderr, flush=True)
    many = len(odd_studies.analyses())
    yield Row(f"odd studies against {many} analyses, cases {first} to {number}", cases, wrong)
