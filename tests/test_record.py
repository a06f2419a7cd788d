"""Records: valid JSON without NaN, the same text every time."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperlens.plain import plain
from hyperlens.record import Record
from hyperlens.runs.history import State


@dataclass(frozen=True)
class Part:
    name: str
    share: float
    inner: Part | None = None


@dataclass(frozen=True)
class Whole(Record):
    title: str
    numbers: np.ndarray[Any, Any]
    parts: tuple[Part, ...] = ()
    more: dict[Any, Any] = field(default_factory=dict)
    _source: object = None  # a private field is no part of the JSON


def refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def strict(text: str) -> Any:
    """JSON as other languages read it: NaN and Infinity are not in it."""
    return json.loads(text, parse_constant=refuse)


WHOLE = Whole(
    "größer <b>",
    np.array([[1.0, math.nan], [math.inf, -2.5]]),
    (Part("a", 0.25, Part("b", -math.inf)), Part("c", np.float64(0.5))),
    {
        "count": np.int64(3),
        "truth": np.True_,
        "half": np.float32(0.5),
        "not": np.float64(math.nan),
        "text": np.str_("t"),
        "state": State.FAILED,
        "path": Path("a/b"),
        "zero-d": np.array(7),
        "levels": np.array([None, "u", 1], dtype=object),
        3: (True, None, 1, "s"),
    },
)


def test_a_record_as_json() -> None:
    assert strict(WHOLE.to_json()) == {
        "record": "Whole",
        "title": "größer <b>",
        "numbers": [[1.0, None], [{"float": "inf"}, -2.5]],
        "parts": [
            {
                "name": "a",
                "share": 0.25,
                "inner": {"name": "b", "share": {"float": "-inf"}, "inner": None},
            },
            {"name": "c", "share": 0.5, "inner": None},
        ],
        "more": {
            "count": 3,
            "truth": True,
            "half": 0.5,
            "not": None,
            "text": "t",
            "state": "failed",
            "path": "a/b",
            "zero-d": 7,
            "levels": [None, "u", 1],
            "3": [True, None, 1, "s"],
        },
    }


def test_truth_and_counts_keep_their_types() -> None:
    more = strict(WHOLE.to_json())["more"]
    assert more["truth"] is True
    assert isinstance(more["count"], int)
    assert [type(v) for v in plain([np.int32(1), np.bool_(False), np.float64(2)])] == [
        int,
        bool,
        float,
    ]


def test_text_is_the_same_every_time() -> None:
    again = Whole(WHOLE.title, WHOLE.numbers.copy(), WHOLE.parts, dict(WHOLE.more))
    assert again.to_json().encode() == WHOLE.to_json().encode()
    assert list(strict(WHOLE.to_json())) == ["record", "title", "numbers", "parts", "more"]


def test_text_is_ascii_so_that_no_name_steers_a_terminal() -> None:
    record = Whole("größer \x1b[31m\u202e", np.empty(0))
    assert record.to_json().isascii()
    assert "\x1b" not in record.to_json()
    assert strict(record.to_json())["title"] == record.title


def test_arrays_of_a_record_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        WHOLE.numbers[0, 0] = 5.0


leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.floats(width=32).map(np.float32)
    | st.integers(-(2**31), 2**31).map(np.int64)
    | st.lists(st.floats(), max_size=3).map(np.array)
)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(), inner, max_size=3)
        | st.builds(Part, name=st.text(), share=inner)
    ),
    max_leaves=8,
)


@given(trees)
def test_anything_inside_becomes_json_and_comes_back(content: Any) -> None:
    text = Whole("t", np.empty(0), more={"content": content}).to_json()
    back = strict(text)["more"]["content"]
    assert back == plain(content)
    assert plain(back) == back  # what is plain stays as it is


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=5))
def test_finite_numbers_come_back_exactly(numbers: list[float]) -> None:
    assert strict(Whole("t", np.array(numbers)).to_json())["numbers"] == numbers


def test_a_record_without_a_table_says_so() -> None:
    with pytest.raises(NotImplementedError):
        _ = WHOLE.frame


@dataclass(frozen=True)
class Listed(Record):
    names: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def frame(self) -> Any:
        import pandas as pd

        return pd.DataFrame({"name": list(self.names), "part": [p.name for p in self.parts]})


@pytest.mark.parametrize("half", ["", "\ud800"])
def test_csv_writes_out_what_would_steer_or_cannot_be_written(half: str) -> None:
    record = Listed((f"a\x1b[31m{half}", "b,c"), (Part(f"p{half}", 1.0), Part('"q"', 2.0)))
    shown = half.encode("unicode_escape").decode()
    assert record.to_csv() == (f'name,part\na\\x1b[31m{shown},p{shown}\n"b,c","""q"""\n')
    record.to_csv().encode("utf-8")
