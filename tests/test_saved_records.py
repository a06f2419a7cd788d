"""Records come back from their JSON field by field: drawn from their types, and those of a real run."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import hyperlens as hl
from hyperlens.errors import SourceError
from hyperlens.plain import plain, rebuilt
from hyperlens.record import Record, record_of
from hyperlens.runs.limits import with_limits

SPACE = hl.Space.of([hl.Parameter("x", "float", 0.0, 1.0), hl.Parameter("n", "integer", 1, 9)])


def kinds() -> list[type[Record]]:
    """Every class of records there is in the package."""
    for module in pkgutil.walk_packages(hl.__path__, "hyperlens."):
        importlib.import_module(module.name)
    return sorted(
        (k for k in below(Record) if k.__module__.startswith("hyperlens.")),
        key=lambda k: k.__name__,
    )


def below(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


def drawn(kind: Any, optional: bool = False) -> st.SearchStrategy[Any]:
    """Values of an annotated type; null stands for None where that is allowed, else for nan."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return (
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats(allow_nan=False)
            | st.text(max_size=5)
        )
    if origin in (Union, UnionType):
        return st.one_of(*(drawn(each, NoneType in inner) for each in inner))
    if origin is Literal:
        return st.sampled_from(inner)
    if (origin or kind) is np.ndarray:
        dtype = np.dtype(get_args(inner[1])[0])
        return arrays.arrays(
            dtype, arrays.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)
        )
    if origin is tuple and inner[-1] is Ellipsis:
        return st.lists(drawn(inner[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*(drawn(each) for each in inner))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        keys = st.text(max_size=5) if inner[0] is Any else drawn(inner[0])
        return st.dictionaries(keys, drawn(inner[1]), max_size=2)
    if kind is hl.Space:
        return st.just(SPACE)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        types = get_type_hints(kind)
        names = [f.name for f in dataclasses.fields(kind) if not f.name.startswith("_")]
        return st.builds(kind, **{name: drawn(types[name]) for name in names})
    return {
        float: st.floats(allow_nan=not optional),
        int: st.integers(),
        bool: st.booleans(),
        str: st.text(max_size=5),
        Fraction: st.fractions(max_denominator=99),
        NoneType: st.none(),
    }[kind]


def differences(one: Any, other: Any, at: str = "") -> Iterator[str]:
    """Where two values differ, in kind or in content."""
    if isinstance(one, np.generic):
        one = one.item()
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape
        if not (same and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")):
            yield f"{at}: {one!r} {other!r}"
    elif dataclasses.is_dataclass(one):
        assert type(one) is type(other)
        for field in dataclasses.fields(one):
            if not field.name.startswith("_"):
                values = [getattr(each, field.name) for each in (one, other)]
                yield from differences(values[0], values[1], f"{at}.{field.name}")
    elif isinstance(one, (tuple, list)):
        if type(one) is not type(other) or len(one) != len(other):
            yield f"{at}: {one!r} {other!r}"
        for k, (a, b) in enumerate(zip(one, other, strict=False)):
            yield from differences(a, b, f"{at}[{k}]")
    elif isinstance(one, Mapping):
        if list(one) != list(other):
            yield f"{at}: {one!r} {other!r}"
        for key in one:
            yield from differences(one[key], other[key], f"{at}[{key!r}]")
    elif isinstance(one, hl.Space):
        if one.to_json() != other.to_json():
            yield f"{at}: another space"
    elif type(one) is not type(other) or not (one == other or (one != one and other != other)):
        yield f"{at}: {one!r} {other!r}"


@pytest.mark.parametrize("kind", kinds())
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_record_comes_back(kind: type[Record], data: st.DataObject) -> None:
    record = data.draw(drawn(kind))
    text = record.to_json()
    back = kind.from_dict(json.loads(text))
    assert list(differences(record, back)) == []
    assert back.to_json() == text


@pytest.mark.parametrize("kind", kinds())
def test_every_record_speaks(kind: type[Record]) -> None:
    own = {field.name for field in dataclasses.fields(kind)} | set(dir(kind))
    assert {"sentence", "notes", "frame"} <= own


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    """Of a small run: every record that can be had of it, and those that need none."""
    rng = np.random.default_rng(0)
    space = hl.Space.of(
        [
            hl.Parameter("lr", "float", 1e-4, 1.0, log=True),
            hl.Parameter("opt", "categorical", choices=("adam", "sgd", True, 1.5)),
            hl.Parameter("depth", "integer", 1, 9),
        ],
        {"depth": ((("opt", "equal", "sgd"),),)},
    )
    X = space.sample(24, rng)
    trials = tuple(
        hl.Trial(
            k, values, (float(np.log(values["lr"]) ** 2 + rng.normal()),), started=k, ended=k + 0.5
        )
        for k, values in enumerate(space.decode(X))
    )
    run = hl.History(space, (hl.Objective("loss"),), trials, "a run")
    both = (hl.Objective("loss"), hl.Objective("gain", maximize=True))
    twice = hl.History(space, both, tuple(replace(t, costs=2 * t.costs) for t in trials))
    importance = hl.importance(run, level=None)
    effect, regions = hl.effect(run, "lr"), hl.regions(run, "lr", splits=2)
    common = hl.across({"one": run, "two": run})
    table = pd.DataFrame(
        {"a": [0.1, 0.2, 0.3, 0.5], "b": [0.2, 0.3, 0.5, 0.6], "c": [0.3, 0.2, 0.1, 0]}
    )
    made: list[Record] = [
        hl.overview(run),
        hl.trials(run),
        hl.timeline(run),
        hl.footprint(run),
        hl.spending(run),
        hl.bias(run),
        hl.winner(run),
        hl.pareto(twice),
        hl.choose(twice, "loss < 1e9"),
        hl.choose(twice, why=True),
        hl.true_front(twice),
        hl.feasibility(with_limits(run, ["loss < 5", "lr > 0.001"])),
        hl.tradeoff(twice),
        hl.effects_of(twice, "lr", surrogate="additive"),
        hl.compare_runs({"one": run, "two": run}),
        importance,
        importance.subspace(),
        hl.interactions(run, level=None, surrogate="forest"),
        hl.ablation(run),
        hl.local_importance(run),
        effect,
        regions,
        hl.reliability(run, regions, lambda values: math.log(values["lr"]) ** 2),
        hl.why(run, trial="best"),
        hl.path(run, trials=[20, 21, 22]),
        hl.schedule(9),
        hl.failure_probability([4.0, 2.0]),
        hl.compare(table),
        hl.confirm(run, "lr", 3),
        hl.tunability(run),
        common,
        common.effects[0],
        hl.formula(run, "lr"),
        hl.reach(run, 0),
        hl.top_importance(run),
    ]
    return {type(record).__name__: record for record in made}


def test_records_of_a_run_come_back_speak_and_draw(records: dict[str, Record]) -> None:
    for record in records.values():
        back = record_of(json.loads(record.to_json()))
        assert list(differences(record, back)) == []
        assert (back.sentence, back.notes) == (record.sentence, record.notes)
        assert back.frame.equals(record.frame)
        with suppress(TypeError):  # some have no figure
            assert record.plot().to_json() == back.plot().to_json()


def test_what_needs_the_run_says_so(records: dict[str, Record]) -> None:
    importance, regions = (
        record_of(json.loads(records[name].to_json())) for name in ("Importance", "Regions")
    )
    assert isinstance(importance, hl.Importance)
    assert isinstance(regions, hl.Regions)
    for question in (lambda: importance.subspace(), lambda: regions.split(0)):
        with pytest.raises(hl.AnalysisError, match="apart from its run"):
            question()


def test_values_of_parameters_keep_their_types(records: dict[str, Record]) -> None:
    values = plain(("adam", True, 1, 1.0, None, math.inf, "inf", "Infinity", "null"))
    back = rebuilt(tuple[Any, ...], json.loads(json.dumps(values)))
    assert list(map(repr, back)) == list(
        map(repr, ("adam", True, 1, 1.0, None, math.inf, "inf", "Infinity", "null"))
    )


@pytest.mark.parametrize(
    ("spoilt", "match"),
    [
        ({"record": "Nonsense"}, "no saved record"),
        ({"record": "read"}, "no saved record"),
        ({"record": ["Overview"]}, "no saved record"),
        ({}, "no saved record"),
        ({"record": "Bias", "trials": "many"}, "'trials' of Bias: 'many' is not of type int"),
        ({"record": "Bias", "trials": 3}, "'mmd' of Bias is missing"),
        ({"record": "Bias", "path": [[1.0], [1.0, 2.0]]}, "'path' of Bias"),
        ({"record": "Bias", "path": {"shape": [2, 10**9]}}, "shape of an empty array"),
        ({"record": "Schedule", "total": "1e999999999"}, "is not a fraction"),
        ({"record": "Schedule", "total": "1/0"}, "'total' of Schedule"),
        ({"record": "Effect", "band": "wide"}, "is not one of pointwise, joint"),
    ],
)
def test_what_was_spoilt_is_refused_in_one_sentence(spoilt: Any, match: str) -> None:
    with pytest.raises(SourceError, match=match):
        record_of(spoilt)


def test_a_class_reads_its_own_records_alone(records: dict[str, Record]) -> None:
    with pytest.raises(SourceError, match=r"a saved Overview; read it with Overview\.from_dict"):
        hl.Bias.from_json(records["Overview"].to_json())
    with pytest.raises(SourceError, match="no JSON"):
        hl.Bias.from_json("{")
