"""Advice on the next space: functions whose best place is known, and spaces that stay valid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ConfigSpace as CS
import numpy as np
import optuna
import pytest

import hyperlens as hl
from hyperlens.spaces.changed import changed, tied
from hyperlens.spaces.suggestions import suggestions

FLOAT = hl.Parameter("x", "float", 0.0, 1.0)
OTHER = hl.Parameter("y", "float", 1.0, 2.0)


def run(
    parameters: list[hl.Parameter], cost: Callable[[Any], float], n: int = 60, **more: Any
) -> hl.History:
    space = hl.Space.of(parameters, **more)
    values = space.decode(space.sample(n, 1))
    trials = tuple(hl.Trial(k, v, (float(cost(v)),)) for k, v in enumerate(values))
    return hl.History(space, (hl.Objective("loss"),), trials)


def told(record: hl.Advice) -> dict[str, str]:
    return dict(zip(record.parameters, record.actions, strict=True))


def test_a_best_beyond_a_bound_widens_the_range_there() -> None:
    found = hl.advise(run([FLOAT, OTHER], lambda v: (v["x"] - 0.4) ** 2 - v["y"]))
    assert told(found)["y"] == "widen"
    assert (found.space["y"].lower, found.space["y"].upper) == (1.0, 2.5)
    assert found.probability[found.parameters.index("y")] > 0.9
    below = hl.advise(run([FLOAT, OTHER], lambda v: (v["x"] - 0.4) ** 2 + v["y"]))
    assert below.space["y"].lower < 1.0
    assert below.space["y"].upper == 2.0


def test_a_range_is_not_widened_where_a_limit_holds_the_best_back() -> None:
    """Costs fall with y, and only y below 1.6 is allowed: there the range is cut instead."""
    free = run([FLOAT, OTHER], lambda v: (v["x"] - 0.4) ** 2 - v["y"])
    trials = tuple(replace(t, excess=(t.values["y"] - 1.6,)) for t in free.trials)
    found = hl.advise(hl.History(free.space, free.objectives, trials, limits=("y <= 1.6",)))
    assert told(found).get("y") != "widen"
    assert found.space["y"].upper < 2.5
    column = free.space.names.index("y")
    assert found.places[column, 2] == pytest.approx(
        0.6, abs=0.05
    )  # where the best lies, in the middle


@pytest.mark.parametrize(
    ("parameter", "sign"),
    [
        (hl.Parameter("n", "integer", 1, 9), 1),
        (hl.Parameter("n", "float", 0.0, 9.0), 1),
        (hl.Parameter("n", "float", 0.0, 1.0), -1),
    ],
)
def test_natural_ends_are_not_passed(parameter: hl.Parameter, sign: int) -> None:
    found = hl.advise(run([FLOAT, parameter], lambda v: (v["x"] - 0.4) ** 2 + sign * v["n"]))
    assert found.space["n"].lower >= parameter.lower
    assert "widen" not in told(found).values()


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_what_hardly_matters_is_fixed_and_what_matters_is_not(noise: float) -> None:
    rng, idle = np.random.default_rng(0), hl.Parameter("idle", "float", -3.0, 3.0)

    def cost(v: Any) -> float:
        return float(np.sin(5 * v["x"]) + (v["y"] - 1.4) ** 2 + noise * rng.normal())

    found = hl.advise(run([FLOAT, OTHER, idle], cost, 120))
    assert told(found).get("idle") == (None if noise else "fix")
    assert "fix" not in (told(found).get("x"), told(found).get("y"))
    if not noise:
        assert -3.0 <= found.space.constants["idle"] <= 3.0
        assert found.low <= found.cost <= found.high
        assert "What is fixed costs" in found.reading
        known = found.space.decode(found.space.sample(3, 0))
        assert all("idle" not in values for values in known)


def test_narrowed_ranges_hold_the_best_place() -> None:
    """The lowest place is known; all ranges that were cut must still hold it."""
    rng = np.random.default_rng(5)
    parameters = [hl.Parameter(f"p{k}", "float", 0.0, 1.0) for k in range(3)]
    for seed in range(3):
        best = rng.uniform(0.15, 0.85, 3)

        def cost(v: Any, best: Any = best) -> float:
            return float(sum((v[f"p{k}"] - best[k]) ** 2 for k in range(3)))

        found = hl.advise(run(parameters, cost, 150 + seed))
        assert "narrow" in told(found).values()
        for k in range(3):
            p = found.space[f"p{k}"]
            assert p.lower < best[k] < p.upper


def test_decades_on_a_linear_scale_are_advised_to_be_a_logarithm() -> None:
    rate = hl.Parameter("lr", "float", 1e-5, 1.0)
    found = hl.advise(run([FLOAT, rate], lambda v: np.log10(v["lr"]) ** 2 + v["x"]))
    assert told(found)["lr"] == "log"
    assert found.space["lr"].log
    already = hl.Parameter("lr", "float", 1e-5, 1.0, log=True)
    assert (
        "log"
        not in told(
            hl.advise(run([FLOAT, already], lambda v: np.log10(v["lr"]) ** 2 + v["x"]))
        ).values()
    )


def test_poor_levels_are_dropped_with_what_only_they_use(tmp_path: Path) -> None:
    parameters = [
        hl.Parameter("opt", "categorical", choices=("sgd", "adam", "poor")),
        hl.Parameter("lr", "float", 1e-4, 1.0, log=True),
        hl.Parameter("momentum", "float", 0.0, 0.9),
        hl.Parameter("idle", "float", 0.0, 1.0),
    ]
    clauses = {"momentum": ((("opt", "equal", "sgd"),),), "idle": ((("opt", "equal", "poor"),),)}

    def cost(v: Any) -> float:
        base = {"sgd": 0.0, "adam": 0.0, "poor": 4.0}[v["opt"]]
        return float(base + (np.log10(v["lr"]) + 2) ** 2 + 0.3 * v.get("momentum", 0.0))

    found = hl.advise(run(parameters, cost, 90, clauses=clauses))
    assert told(found)["opt"] == "drop"
    assert set(found.space["opt"].choices) == {"sgd", "adam"}
    assert "idle" not in found.space.names
    assert "idle is left out" in " ".join(found.notes)
    for name in ("space.yaml", "space.json"):
        found.save(tmp_path / name)
        again = hl.Space.load(tmp_path / name)
        assert again.parameters == found.space.parameters
        assert again.clauses == found.space.clauses
        again.configspace.sample_configuration(5)
    found.save(tmp_path / "space.py")
    scope: dict[str, Any] = {}
    exec((tmp_path / "space.py").read_text(), scope)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    for _ in range(20):
        values = scope["suggest"](study.ask())
        vector = found.space.encode([values])
        assert not len(found.space.misfits(vector))


def test_records_are_read_again_and_drawn() -> None:
    found = hl.advise(run([FLOAT, OTHER], lambda v: (v["x"] - 0.4) ** 2 - v["y"]))
    again = hl.Advice.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert again.space.parameters == found.space.parameters
    assert len(found.plot().data) >= 3
    assert list(found.frame["parameter"]) == list(found.parameters)


NESTED = hl.Space.of(
    [
        hl.Parameter("a", "categorical", choices=("p", "q", "r")),
        hl.Parameter("b", "integer", 1, 9),
        hl.Parameter("c", "float", 0.0, 1.0),
        hl.Parameter("e", "float", 0.0, 1.0),
    ],
    {
        "b": ((("a", "in", ("p", "q")),),),
        "c": ((("b", "greater", 4),), (("a", "equal", "r"),)),
        "e": ((("a", "not equal", "q"),),),
    },
)


@pytest.mark.parametrize(
    "changes",
    [
        {"a": hl.Parameter("a", "categorical", choices=("p", "q"))},
        {"a": hl.Parameter("a", "categorical", choices=("p", "r"))},
        {"a": ("p",)},
        {"a": ("r",)},
        {"b": hl.Parameter("b", "integer", 5, 9)},
        {"b": hl.Parameter("b", "integer", 1, 4)},
        {"b": (7,)},
        {"b": (2,), "e": (0.5,)},
        {
            "a": hl.Parameter("a", "categorical", choices=("q", "r")),
            "b": hl.Parameter("b", "integer", 3, 6),
        },
    ],
)
def test_conditions_hold_as_before_in_a_changed_space(changes: dict[str, Any]) -> None:
    """Every configuration of the new space is one of the old, with the same parameters active."""
    new = changed(NESTED, changes)
    assert isinstance(new.configspace, CS.ConfigurationSpace)
    fixed = {n: c[0] for n, c in changes.items() if isinstance(c, tuple)}
    seen = set()
    for values in new.decode(new.sample(200, 0)):
        old = {k: v for k, v in {**fixed, **values}.items() if k in NESTED.names}
        active = NESTED.cube.active(np.array([[_code(n, old) for n in NESTED.names]]))[0]
        tunable = {n for n, on in zip(NESTED.names, active, strict=True) if on} - set(fixed)
        assert tunable == set(values)
        seen |= set(values)
    assert seen == set(new.names)
    code = suggestions(new)
    compile(code, "space.py", "exec")


def _code(name: str, values: dict[str, Any]) -> float:
    return float(NESTED[name].encode([values[name]])[0]) if name in values else 0.5


def test_parameters_that_forbidden_clauses_name_are_not_cut() -> None:
    history = run(
        [hl.Parameter("k", "categorical", choices=("a", "b", "c")), FLOAT, OTHER],
        lambda v: (v["k"] == "c") * 3.0 + (v["x"] - 0.3) ** 2,
    )
    space = history.space
    space.configspace.add(CS.ForbiddenEqualsClause(space.configspace["k"], "b"))
    assert tied(space) == {"k"}
    found = hl.advise(history)
    assert "k" not in found.parameters
    assert found.space.configspace.forbidden_clauses
