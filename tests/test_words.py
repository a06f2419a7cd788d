"""Numbers as people write them, at their borders."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hyperlens.explain.importance.importance_words import disagreements
from hyperlens.words import counted, decimals, first_few, percent, tenths


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1e-9, "under 0.1 %"),
        (0.00049, "under 0.1 %"),
        (0.0005, "0.1 %"),
        (0.0994, "9.9 %"),
        (0.0996, "10 %"),
        (1.0, "100 %"),
    ],
)
def test_shares(share: float, text: str) -> None:
    assert percent(share).replace("\N{NO-BREAK SPACE}", " ") == text


def test_nothing_is_never_negative_and_the_unknown_is_a_dash() -> None:
    assert decimals(-0.001) == "0.00"
    assert decimals(float("nan")) == tenths(float("nan")) == "–"


def test_counts_and_lists() -> None:
    assert [counted(k, "trial") for k in (0, 1, 2)] == ["0 trials", "1 trial", "2 trials"]
    assert first_few(["a", "b"], 2) == "a, b"
    assert first_few(["a", "b", "c"], 2) == "a, b, c"
    assert first_few(["a", "b", "c", "d"], 2) == "a, b and 2 more"


def test_surrogates_that_disagree_are_told_of_once() -> None:
    """Four effects apart beyond their intervals and one that is not: the widest first."""

    def fitted(name: str, r2: float) -> Any:
        return SimpleNamespace(name=name, quality=SimpleNamespace(r2=r2))

    share = np.array([0.5, 0.2, 0.1, 0.1, 0.1])
    other = np.array([0.3, 0.3, 0.4, 0.15, 0.11])
    ends = {"low": share - 0.01, "high": share + 0.01}
    seconds = {"secondary_low": other - 0.01, "secondary_high": other + 0.01}
    numbers = {"share": share, "secondary": other, **ends, **seconds}
    names, effects = ("a", "b", "c", "d"), ((0,), (1,), (0, 1), (2,), (3,))
    additive, forest = fitted("additive", 0.9), fitted("forest", 0.8)
    (note,) = disagreements(names, additive, forest, effects, numbers, "over the whole space")
    assert note.replace("\N{NO-BREAK SPACE}", " ") == (
        "The additive Gaussian process and the random forest differ beyond their intervals on shares "
        "over the whole space: a × b 10.0 % and 40.0 %, a 50.0 % and 30.0 %, b 20.0 % and 30.0 %, "
        "c 10.0 % and 15.0 %; cross-validated, their R2 are 0.90 and 0.80."
    )
    assert disagreements(names, additive, fitted("forest", 0.1), effects, numbers, "") == []
