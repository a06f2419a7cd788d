"""Numbers as people write them, at their borders."""

from __future__ import annotations

import pytest

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
    assert first_few(["a", "b", "c"], 2) == "a, b and 1 more"
