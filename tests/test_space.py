"""Spaces on ConfigSpace: its own sampler, validity check and files are the second route.

Frequencies are compared within five standard deviations of a binomial share; seeds are fixed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from ConfigSpace import hyperparameters as hp
from ConfigSpace.exceptions import (
    ActiveHyperparameterNotSetError,
    InactiveHyperparameterSetError,
)
from ConfigSpace.types import NotSet
from conftest import data_dir
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from hyperlens.errors import SpaceError
from hyperlens.spaces.clauses import Clauses
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space


def five_sigma(share: float, n: int) -> float:
    return 5 * math.sqrt(share * (1 - share) / n)


def one_sentence(refusal: pytest.ExceptionInfo[SpaceError], *parts: str) -> None:
    message = str(refusal.value)
    assert all(part in message for part in parts), message
    assert message.endswith(".")
    assert not re.search(r"\.\s|\n", message), "more than one sentence"


def space_of(*items: Any, seed: int = 0) -> CS.ConfigurationSpace:
    space = CS.ConfigurationSpace(seed=seed)
    space.add(list(items))
    return space


def every_kind() -> CS.ConfigurationSpace:
    """Each kind of hyperparameter and of condition, and a forbidden clause."""
    space = space_of(
        hp.UniformFloatHyperparameter("lr", 1e-5, 1e-1, default_value=1e-3, log=True),
        hp.UniformFloatHyperparameter("momentum", 0.0, 0.9),
        hp.UniformIntegerHyperparameter("depth", 1, 6, default_value=2),
        hp.UniformIntegerHyperparameter("width", 4, 512, log=True),
        hp.UniformIntegerHyperparameter("steps", 100, 100_000),
        hp.CategoricalHyperparameter("optimizer", ["adam", "sgd", "lbfgs"]),
        hp.OrdinalHyperparameter("batch", [16, 32, 64]),
        hp.OrdinalHyperparameter("quality", ["low", "middle", "high"]),
        hp.CategoricalHyperparameter("mixed", [None, True, 1.5, "a", "1"]),
        hp.Constant("version", 3),
    )
    space.add(
        CS.EqualsCondition(space["momentum"], space["optimizer"], "sgd"),
        CS.InCondition(space["batch"], space["optimizer"], ["sgd", "adam"]),
        CS.GreaterThanCondition(space["width"], space["depth"], 2),
        CS.AndConjunction(
            CS.NotEqualsCondition(space["quality"], space["mixed"], "a"),
            CS.LessThanCondition(space["quality"], space["lr"], 1e-2),
        ),
        CS.OrConjunction(
            CS.GreaterThanCondition(space["steps"], space["batch"], 16),
            CS.LessThanCondition(space["steps"], space["quality"], "high"),
        ),
    )
    space.add(
        CS.ForbiddenAndConjunction(
            CS.ForbiddenEqualsClause(space["optimizer"], "lbfgs"),
            CS.ForbiddenInClause(space["depth"], [5, 6]),
        )
    )
    return space


# --- reading ConfigSpace ----------------------------------------------------------------------


def test_every_kind_of_hyperparameter_is_read() -> None:
    space = Space(every_kind())
    assert sorted(space.names) == sorted(set(every_kind()) - {"version"})
    assert space.constants == {"version": 3}
    assert space["lr"] == Parameter("lr", "float", 1e-5, 1e-1, log=True, default=1e-3)
    assert space["depth"] == Parameter("depth", "integer", 1, 6, default=2)
    assert space["mixed"].choices == (None, True, 1.5, "a", "1")
    assert space["quality"].kind == "ordinal"
    assert [space["width"].log, space["steps"].log] == [True, False]
    assert len(space) == 9
    assert all(space.parameters[space.column(name)].name == name for name in space.names)


def test_conditions_in_words() -> None:
    assert Space(every_kind()).conditions == {
        "momentum": "optimizer is sgd",
        "batch": "optimizer in sgd, adam",
        "width": "depth > 2",
        "quality": "mixed is not a and lr < 0.01",
        "steps": "batch > 16 or quality < high",
    }


def test_a_choice_of_one_is_a_constant() -> None:
    space = Space(
        space_of(
            hp.CategoricalHyperparameter("c", ["only"]),
            hp.OrdinalHyperparameter("o", [7]),
            hp.UniformFloatHyperparameter("x", 0, 1),
        )
    )
    assert space.constants == {"c": "only", "o": 7}
    assert space.names == ("x",)


def test_conditions_on_constants_are_decided() -> None:
    space = space_of(
        hp.Constant("one", 1),
        *(hp.UniformFloatHyperparameter(name, 0, 1) for name in ("always", "never", "below")),
        hp.CategoricalHyperparameter("c", ["u", "v"]),
        hp.UniformFloatHyperparameter("either", 0, 1),
        hp.UniformFloatHyperparameter("both", 0, 1),
    )
    one, c = space["one"], space["c"]
    space.add(
        CS.InCondition(space["always"], one, [1]),
        CS.NotEqualsCondition(space["never"], one, 1),
        CS.GreaterThanCondition(space["below"], space["never"], 0.5),
        CS.OrConjunction(
            CS.NotEqualsCondition(space["either"], one, 1),
            CS.EqualsCondition(space["either"], c, "u"),
        ),
        CS.AndConjunction(
            CS.EqualsCondition(space["both"], one, 1), CS.EqualsCondition(space["both"], c, "v")
        ),
    )
    read = Space(space)
    assert set(read.names) == {"always", "c", "either", "both"}  # never, and what hangs on it, left
    assert read.conditions == {"either": "c is u", "both": "c is v"}


def test_a_conditional_constant_hands_its_conditions_on() -> None:
    space = space_of(
        hp.CategoricalHyperparameter("c", ["u", "v"]),
        hp.Constant("k", 1),
        hp.UniformFloatHyperparameter("x", 0, 1),
    )
    space.add(
        CS.EqualsCondition(space["k"], space["c"], "u"),
        CS.EqualsCondition(space["x"], space["k"], 1),
    )
    assert Space(space).conditions == {"x": "c is u"}


def test_an_inactive_parent_fulfils_no_condition() -> None:
    """Not even "is not": ConfigSpace 1.2 samples otherwise, since nan differs from every code."""
    clauses: dict[str, Clauses] = {
        "b": ((("a", "equal", "on"),),),
        "x": ((("b", "not equal", "p"),),),
    }
    a = Parameter("a", "categorical", choices=("on", "off"))
    b = Parameter("b", "categorical", choices=("p", "q"))
    space = Space.of([a, b, Parameter("x", "float")], clauses)
    latents = np.column_stack([[0.1, 0.1, 0.9, 0.9], [0.1, 0.9, 0.1, 0.9], np.full(4, 0.5)])
    active = space.cube.active(latents[:, [space.names.index(n) for n in ("a", "b", "x")]])
    assert active[:, space.column("x")].tolist() == [False, True, False, False]


def test_plain_descriptions_come_back_from_configspace() -> None:
    parameters = [
        Parameter("a", "float", 1e-3, 1.0, log=True, default=0.1),
        Parameter("b", "integer", 1, 9, default=2),
        Parameter("c", "categorical", choices=("u", None, 2), default="u"),
        Parameter("d", "ordinal", choices=("s", "m", "l"), default="m"),
    ]
    clauses: dict[str, Clauses] = {
        "a": ((("b", "greater", 3), ("c", "in", ("u", None))), (("d", "not equal", "l"),))
    }
    space = Space.of(parameters, clauses, {"k": "fixed"}, ["b was guessed."])
    assert sorted(space.parameters, key=lambda p: p.name) == parameters
    assert space.clauses == clauses
    assert space.constants == {"k": "fixed"}
    assert space.inferred == ("b was guessed.",)
    with pytest.raises(SpaceError, match="without any clause"):
        Space.of(parameters, {"a": ()})


# --- against ConfigSpace's own activity --------------------------------------------------------


@st.composite
def configspaces(draw: st.DrawFn, plain: bool) -> CS.ConfigurationSpace:
    """Random spaces of all kinds with equal, not equal, in, greater, less, and, or, nested.

    `plain` ones avoid what ConfigSpace 1.2's sampler gets wrong: "is not" on an inactive parent,
    parents of different depths in one condition, and conditions of two children that it takes for
    the same because each part of one ("a and a", "a or b") occurs in the other ("a and b").
    """
    space = CS.ConfigurationSpace(seed=draw(st.integers(0, 2**16)))
    items = [_item(f"p{i}", draw) for i in range(draw(st.integers(2, 6)))]
    space.add(items)
    depth = {item.name: 0 for item in items}
    for i, child in enumerate(items[1:], start=1):
        if draw(st.booleans()):
            parents = items[:i]
            if plain:
                level = depth[draw(st.sampled_from(parents)).name]
                parents = [p for p in parents if depth[p.name] == level]
            condition = _condition(child, parents, plain and depth[parents[0].name] > 0, draw)
            if plain and any(
                a.equivalent_condition_on_parent(b)
                for other in space.conditions
                for a, b in ((other, condition), (condition, other))
            ):
                continue
            try:
                space.add(condition)
            except (InactiveHyperparameterSetError, ActiveHyperparameterNotSetError):
                reject()  # its default configuration met the same mistakes
            depth[child.name] = 1 + max(depth[p.name] for p in space.parents_of[child.name])
    return space


def _item(name: str, draw: st.DrawFn) -> Any:
    makers: list[Callable[[], Any]] = [
        lambda: hp.UniformFloatHyperparameter(name, -2.0, 3.0),
        lambda: hp.UniformFloatHyperparameter(name, 1e-4, 10.0, log=True),
        lambda: hp.UniformIntegerHyperparameter(name, -2, 3),
        lambda: hp.UniformIntegerHyperparameter(name, 1, 40, log=True),
        lambda: hp.UniformIntegerHyperparameter(name, 1, 5000),
        lambda: hp.OrdinalHyperparameter(name, ["s", "m", "l"]),
        lambda: hp.OrdinalHyperparameter(name, [1, 8, 64]),
        lambda: hp.CategoricalHyperparameter(name, ["u", "v", "w"]),
        lambda: hp.CategoricalHyperparameter(name, [None, True, 1.5, "a", "1"]),
        lambda: hp.Constant(name, "k"),
    ]
    return draw(st.sampled_from(makers))()


def _condition(child: Any, parents: list[Any], nested: bool, draw: st.DrawFn) -> Any:
    def atom() -> Any:
        return _atom(child, draw(st.sampled_from(parents)), nested, draw)

    shape = draw(st.sampled_from(["one", "and", "or", "or of and", "and of or"]))
    if shape == "one":
        return atom()
    outer: Any = CS.AndConjunction
    inner: Any = CS.OrConjunction
    if shape.startswith("or"):
        outer, inner = inner, outer
    return outer(inner(atom(), atom()), atom()) if "of" in shape else outer(atom(), atom())


def _atom(child: Any, parent: Any, nested: bool, draw: st.DrawFn) -> Any:
    if isinstance(parent, hp.Constant):
        return CS.EqualsCondition(child, parent, parent.value)
    ordered: list[Any] = [CS.GreaterThanCondition, CS.LessThanCondition]
    exact: list[Any] = [CS.EqualsCondition, CS.InCondition]
    if not nested:
        exact.append(CS.NotEqualsCondition)
    if isinstance(parent, hp.CategoricalHyperparameter):
        values, comparisons = list(parent.choices), exact
    elif isinstance(parent, hp.OrdinalHyperparameter):
        values, comparisons = list(parent.sequence), ordered + exact
    elif isinstance(parent, hp.UniformIntegerHyperparameter) and parent.upper < 100:
        values = [parent.lower, parent.lower + 1, parent.upper - 1, parent.upper]
        comparisons = ordered + exact
    else:
        values, comparisons = [parent.to_value(v) for v in (0.2, 0.5, 0.7)], ordered
    comparison = draw(st.sampled_from(comparisons))
    if comparison is CS.InCondition:
        some = draw(st.lists(st.sampled_from(range(len(values))), min_size=1, unique=True))
        return CS.InCondition(child, parent, [values[k] for k in some])
    return comparison(child, parent, draw(st.sampled_from(values)))


def same(parameter: Parameter, found: Any, expected: Any) -> bool:
    if parameter.kind == "float":
        slack = 1e-12 * (parameter.upper - parameter.lower)  # codes carry 2^-53 of the range
        return math.isclose(found, expected, rel_tol=1e-12, abs_tol=0 if parameter.log else slack)
    return bool(found == expected)


@given(configspaces(plain=True))
@settings(max_examples=150, deadline=None)
def test_encoding_agrees_with_configspaces_own_configurations(
    source: CS.ConfigurationSpace,
) -> None:
    space = Space(source)
    drawn: list[dict[str, Any]] = [dict(c) for c in source.sample_configuration(25)]
    vectors = space.encode(drawn)
    assert space.misfits(vectors).tolist() == []
    for found, expected in zip(space.decode(vectors), drawn, strict=True):
        tunable = {name: v for name, v in expected.items() if name not in space.constants}
        assert found.keys() == tunable.keys()  # what we leave out is never active either
        assert all(same(space[name], found[name], v) for name, v in tunable.items())


def active_for_configspace(
    source: CS.ConfigurationSpace, everything: Mapping[str, Any]
) -> dict[str, Any]:
    """The active among values of all hyperparameters: each condition asked, parents first."""
    values = dict.fromkeys(source, NotSet)
    for name in source:
        if all(c.satisfied_by_value(values) for c in source.parent_conditions_of[name]):
            values[name] = everything[name]
    return {name: v for name, v in values.items() if v is not NotSet}


@given(configspaces(plain=False))
@settings(max_examples=150, deadline=None)
def test_activity_agrees_with_configspaces_conditions(source: CS.ConfigurationSpace) -> None:
    space = Space(source)
    latents = np.random.default_rng(0).random((25, len(space)))
    everything = space.decode(latents)
    left_out = {name: source[name].default_value for name in source if name not in space.names}
    for seen, values in zip(space.decode(space.cube.vectors(latents)), everything, strict=True):
        expected = active_for_configspace(source, {**left_out, **values})
        assert seen.keys() == expected.keys() - space.constants.keys()


@given(configspaces(plain=True))
@settings(max_examples=60, deadline=None)
def test_samples_are_valid_for_configspace(source: CS.ConfigurationSpace) -> None:
    space = Space(source)
    left_out = {name: source[name].default_value for name in source if name not in space.names}
    for values in space.decode(space.sample(10)):
        constants = {k: v for k, v in left_out.items() if k in space.constants}
        full = active_for_configspace(source, {**dict.fromkeys(source), **constants, **values})
        CS.Configuration(source, values=full).check_valid_configuration()


def test_default_is_configspaces_default() -> None:
    expected = dict(every_kind().get_default_configuration())
    expected.pop("version")
    found = Space(every_kind()).default
    assert found.keys() == expected.keys()
    assert {k: pytest.approx(v) if k == "lr" else v for k, v in expected.items()} == found


def test_a_space_without_defaults_has_its_midpoint() -> None:
    parameters = [
        Parameter("lr", "float", 1e-5, 1, log=True),
        Parameter("batch", "integer", 16, 512, log=True),
        Parameter("width", "integer", 4, 256, log=True, default=32),  # not the middle of its cells
        Parameter("layers", "integer", 1, 2),
        Parameter("kind", "categorical", choices=("a", "b")),
    ]
    assert Space.of(parameters).central
    assert not Space.of([Parameter("lr", "float", 1e-5, 1, log=True, default=0.1)]).central
    assert not Space.of([Parameter("batch", "integer", 16, 512, default=32)]).central
    assert not Space.of([Parameter("kind", "categorical", choices=(1, 2), default=2)]).central


def test_default_on_a_threshold_is_not_greater() -> None:
    space = space_of(
        hp.UniformFloatHyperparameter("x", 0.0, 1.0, default_value=0.3),
        hp.UniformFloatHyperparameter("y", 0.0, 1.0),
    )
    space.add(CS.GreaterThanCondition(space["y"], space["x"], 0.3))
    assert dict(space.get_default_configuration()) == {"x": 0.3}
    assert Space(space).default.keys() == {"x"}


def test_misfits_are_the_rows_that_contradict_the_conditions() -> None:
    space = space_of(
        hp.CategoricalHyperparameter("c", ["u", "v"]),
        hp.UniformFloatHyperparameter("x", 0.0, 1.0),
        hp.UniformFloatHyperparameter("y", 0.0, 1.0),
    )
    space.add(
        CS.EqualsCondition(space["x"], space["c"], "u"),
        CS.GreaterThanCondition(space["y"], space["x"], 0.4),
    )
    rows: list[Mapping[str, Any]] = [
        {"c": "u", "x": 0.5, "y": 0.1},
        {"c": "u", "x": 0.3, "y": 0.1},  # y although x is small
        {"c": "v"},
        {"c": "v", "x": 0.5},  # x although c is v
        {"c": "u"},  # x is missing
        {"c": "u", "x": 0.3},
        {"x": 0.5, "y": 0.5},  # c is missing
    ]
    read = Space(space)
    assert read.misfits(read.encode(rows)).tolist() == [1, 3, 4, 6]


# --- sampling ---------------------------------------------------------------------------------


def test_samples_are_uniform_and_honour_conditions() -> None:
    space = space_of(
        hp.CategoricalHyperparameter("c", ["u", "v", "w"]),
        hp.UniformIntegerHyperparameter("k", 1, 4),
        hp.UniformFloatHyperparameter("lr", 1e-4, 1.0, log=True),
    )
    space.add(
        CS.InCondition(space["k"], space["c"], ["u", "v"]),
        CS.GreaterThanCondition(space["lr"], space["k"], 1),
    )
    n = 6000
    read = Space(space)
    drawn = read.decode(read.sample(n, seed=1))

    def share(holds: Callable[[dict[str, Any]], bool]) -> float:
        return sum(map(holds, drawn)) / n

    for c in "uvw":
        found = share(lambda v, c=c: v["c"] == c)  # type: ignore[misc] # default argument
        assert abs(found - 1 / 3) < five_sigma(1 / 3, n)
    for k in (1, 2, 3, 4):
        found = share(lambda v, k=k: v.get("k") == k)  # type: ignore[misc] # default argument
        assert abs(found - 2 / 3 / 4) < five_sigma(1 / 6, n)
    assert all(("k" in v) == (v["c"] != "w") for v in drawn)
    assert all(("lr" in v) == (v.get("k", 0) > 1) for v in drawn)
    assert abs(share(lambda v: v.get("lr", 1) < 1e-3) - 0.5 / 4) < five_sigma(1 / 8, n)


def test_the_same_seed_gives_the_same_samples() -> None:
    space = Space(every_kind())
    for sobol in (False, True):
        first, again, other = (space.sample(50, s, sobol).tobytes() for s in (3, 3, 4))
        assert first == again
        assert first != other


def test_sobol_puts_one_point_in_each_stratum() -> None:
    space = Space.of([Parameter("a", "float"), Parameter("b", "float", 1, 2)])
    points = space.sample(64, seed=5, sobol=True)
    for j in range(2):  # a scrambled Sobol sequence is a (0, m, 1)-net in each coordinate
        assert sorted((points[:, j] * 64).astype(int).tolist()) == list(range(64))
    assert sorted(set((space.sample(64, seed=5)[:, 0] * 64).astype(int))) != list(range(64))


@pytest.mark.parametrize("sobol", [False, True])
@pytest.mark.parametrize("n", [0, 1, 37, 256])
def test_samples_are_never_forbidden(sobol: bool, n: int) -> None:
    source = every_kind()
    space = Space(source)
    points = space.sample(n, seed=2, sobol=sobol)
    assert points.shape == (n, 9)
    assert space.misfits(points).tolist() == []
    for v in space.decode(points):
        assert v["optimizer"] != "lbfgs" or v["depth"] < 5
        CS.Configuration(source, values={**v, "version": 3}).check_valid_configuration()


def test_forbidden_relations_leave_a_uniform_rest() -> None:
    space = space_of(
        hp.UniformFloatHyperparameter("low", 0.0, 1.0, default_value=0.2),
        hp.UniformFloatHyperparameter("high", 0.0, 1.0, default_value=0.8),
    )
    space.add(CS.ForbiddenGreaterThanRelation(space["low"], space["high"]))
    read = Space(space)
    n = 3000
    points = read.sample(n, seed=0)
    low, high = points[:, read.column("low")], points[:, read.column("high")]
    assert (low <= high).all()
    # uniform on the triangle low <= high: P(high < 1/2) = 1/4
    assert abs((high < 0.5).mean() - 0.25) < five_sigma(0.25, n)
    assert read.forbidden(np.array([[0.5, 0.5], [0.1, 0.9], [0.9, 0.1]])).sum() == 1
    nothing = read.forbidden(np.empty((0, 2)))
    assert nothing.dtype == bool


def test_a_clause_on_a_constant_forbids() -> None:
    space = space_of(hp.Constant("k", 1), hp.CategoricalHyperparameter("c", ["u", "v"]))
    space.add(
        CS.ForbiddenAndConjunction(
            CS.ForbiddenEqualsClause(space["k"], 1), CS.ForbiddenEqualsClause(space["c"], "v")
        )
    )
    assert {v["c"] for v in Space(space).decode(Space(space).sample(40))} == {"u"}


@pytest.mark.skipif(
    not hasattr(CS, "ForbiddenGreaterThanClause"), reason="this ConfigSpace has no such clause"
)
def test_a_fully_forbidden_space_is_refused() -> None:
    space = space_of(hp.UniformFloatHyperparameter("x", 0.0, 1.0, default_value=0.5))
    space.add(
        CS.ForbiddenGreaterThanClause(space["x"], 0.5), CS.ForbiddenLessThanClause(space["x"], 0.5)
    )
    with pytest.raises(SpaceError) as refusal:
        Space(space).sample(2)
    one_sentence(refusal, "Forbidden clauses", "loosen them")


def test_a_space_of_constants_has_one_empty_configuration() -> None:
    space = Space(space_of(hp.Constant("k", 1)))
    assert space.default == {}
    assert space.sample(3).shape == (3, 0)


# --- values and vectors -----------------------------------------------------------------------


def test_absent_is_inactive_and_unknown_names_do_not_matter() -> None:
    space = Space.of([Parameter("a", "float"), Parameter("b", "integer", 0, 3)])
    vectors = space.encode([{"a": 0.25}, {"b": 3, "budget": 7}])
    assert np.isnan(vectors).tolist() == [[False, True], [True, False]]
    assert space.decode(vectors) == [{"a": 0.25}, {"b": 3}]
    assert space.encode([]).shape == (0, 2)


def test_unknown_columns_are_refused_with_the_known_ones() -> None:
    space = Space.of([Parameter("a", "float"), Parameter("b", "float")], constants={"k": 1})
    with pytest.raises(SpaceError) as refusal:
        space.column("z")
    one_sentence(refusal, "'z' is not in this space", "choose one of 'a', 'b'")
    with pytest.raises(SpaceError) as refusal:
        space["k"]
    one_sentence(refusal, "'k' is a constant of this space", "'a', 'b'")


def test_grid_of_one_parameter() -> None:
    codes, values = Space(every_kind()).grid("lr", 5)
    assert codes.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert values == pytest.approx([1e-5, 1e-4, 1e-3, 1e-2, 1e-1], rel=1e-12)


def test_a_restricted_space_keeps_the_conditions_among_what_is_kept() -> None:
    space = Space(every_kind())
    smaller = space.restricted(["optimizer", "momentum"], {"lr": 0.01, "mixed": None})
    assert smaller.names == ("optimizer", "momentum")
    assert smaller.conditions == {"momentum": "optimizer is sgd"}
    assert smaller.constants == {"version": 3, "lr": 0.01, "mixed": None}
    assert smaller["optimizer"] == space["optimizer"]


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["json", "yaml", "yml"])
def test_written_and_read_again_is_the_same_space(tmp_path: Path, ending: str) -> None:
    space = Space(every_kind())
    path = tmp_path / f"space.{ending}"
    space.save(path)
    again = Space.load(path)
    assert again.to_json() == space.to_json()
    assert again.parameters == space.parameters
    assert again.clauses == space.clauses
    assert again.sample(64).tobytes() == space.sample(64).tobytes()  # forbidden clauses too
    assert set(json.loads(space.to_json())) >= {"hyperparameters", "conditions", "forbiddens"}


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SpaceError) as refusal:
        Space.load(tmp_path / "nowhere.json")
    assert "nowhere.json'; check the path" in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.json", "[1, 2]"),
        ("text.json", "hello"),
        ("other.json", '{"lr": 0.1}'),
        ("list.yaml", "- 1"),
        ("empty.json", ""),
    ],
)
def test_a_file_that_is_no_space(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SpaceError) as refusal:
        Space.load(tmp_path / name)
    message = str(refusal.value)
    assert name in message
    assert message.endswith("or all with ConfigurationSpace.to_json or to_yaml.")


@pytest.mark.parametrize("bounds", [{}, {"lower": None, "upper": None}])
def test_a_normal_hyperparameter_without_bounds(tmp_path: Path, bounds: dict[str, None]) -> None:
    normal = {"name": "n", "type": "normal_float", "mu": 0.0, "sigma": 1.0, "log": False, **bounds}
    text = json.dumps({"hyperparameters": [normal], "conditions": [], "forbiddens": []})
    (tmp_path / "normal.json").write_text(text)
    with pytest.raises(SpaceError, match=r"normal\.json"):
        Space.load(tmp_path / "normal.json")


def test_a_normal_hyperparameter_with_bounds_is_a_float() -> None:
    space = Space(space_of(hp.NormalFloatHyperparameter("n", 0, 1, lower=-3, upper=3)))
    assert space.parameters == (Parameter("n", "float", -3.0, 3.0, default=0.0),)


def recorded() -> list[str]:
    root = data_dir()
    found = sorted(root.glob("hpo_logs/**/configspace.json"))
    names = [str(path.relative_to(root)) for path in found] or ["hpo_logs"]
    return [*names, "yahpo_lcbench/config_space.json"]


@pytest.mark.parametrize("name", recorded())
def test_recorded_spaces_are_read(name: str, data: Callable[[str], Path], tmp_path: Path) -> None:
    path = data(name)
    space = Space.load(path)
    declared = {h["name"] for h in json.loads(path.read_text())["hyperparameters"]}
    assert {*space.names, *space.constants} == declared
    points = space.sample(100)
    assert space.misfits(points).tolist() == []
    for values in space.decode(points[:20]):
        full = {**values, **space.constants}
        CS.Configuration(space.configspace, values=full).check_valid_configuration()
    space.save(tmp_path / "again.json")
    assert Space.load(tmp_path / "again.json").to_json() == space.to_json()


def test_a_recorded_space_with_conditions(data: Callable[[str], Path]) -> None:
    space = Space.load(data("hpo_logs/smac/multi-fidelity/run_1/configspace.json"))
    assert space.conditions == {
        "batch_size": "solver in sgd, adam",
        "learning_rate": "solver is sgd",
        "learning_rate_init": "solver in sgd, adam",
    }
