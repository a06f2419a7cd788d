"""What is kept with a proposal: its stored form, that of version 0.1, and what is damaged or foreign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.trial import TrialState, create_trial

import hyperlens as hl
from hyperlens.optimize.optimizers.halving import Hyperband
from hyperlens.optimize.storage.distributions import distributions
from hyperlens.proposal import (
    LEASE,
    PROPOSAL,
    RUNGS,
    SPACE,
    About,
    Acquisition,
    Belief,
    Proposal,
    from_ranges,
    to_ranges,
)

BOX = hl.Space.of([hl.Parameter("x", "float", 0, 1), hl.Parameter("k", "integer", 1, 9)])

# The stored form


names = st.text(min_size=1, max_size=5)
number = st.none() | st.floats(allow_nan=False, allow_infinity=False)
known = st.floats(allow_nan=False, allow_infinity=False)
moment = st.floats(0, 1e9)


@st.composite
def beliefs(draw: st.DrawFn) -> Belief:
    about = draw(st.sampled_from(get_args(About)))
    return Belief(about, draw(known), draw(known), draw(names), {"nugget": draw(known)})


@st.composite
def proposals(draw: st.DrawFn) -> Proposal:
    surrogate = draw(st.none() | names)
    parameters = st.dictionaries(names.filter(lambda n: n != "name"), number, max_size=3)
    span = st.tuples(moment, moment).map(lambda ends: (min(ends), max(ends)))
    return Proposal(
        kind=draw(st.sampled_from([None, "initial", "proposed", "confirm"])),
        optimizer=draw(st.none() | names),
        acquisition=draw(st.sampled_from([None, *get_args(Acquisition)])),
        tau=draw(number),
        mean=draw(number),
        std=draw(number),
        bound=draw(number),
        score=draw(number),
        best=draw(number),
        chance=draw(number),
        failing=draw(number),
        beside=tuple(draw(st.lists(beliefs(), max_size=2))),
        objectives=tuple(draw(st.lists(names, max_size=3))),
        surrogate=surrogate,
        surrogate_parameters={} if surrogate is None else draw(parameters),
        learned=to_ranges(draw(st.lists(st.integers(0, 50), unique=True))),
        awaited=to_ranges(draw(st.lists(st.integers(0, 50), unique=True))),
        parameters=tuple(draw(st.lists(names, max_size=3))),
        budget=draw(number),
        about=draw(st.none() | names),
        rung=draw(st.none() | st.integers(0, 20)),
        final=draw(st.booleans()),
        entry=draw(st.none() | names),
        spans=tuple(draw(st.lists(span, max_size=3))),
    )


@given(proposals())
def test_what_is_stored_is_read_again(proposal: Proposal) -> None:
    stored = json.loads(json.dumps(proposal.to_dict()))
    assert Proposal.from_dict(stored) == (None if proposal == Proposal() else proposal)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
keys = st.sampled_from([*Proposal.__dataclass_fields__, "resource"])


@given(st.dictionaries(keys, json_values) | json_values)
def test_nothing_damaged_or_foreign_is_an_error(stored: Any) -> None:
    proposal = Proposal.from_dict(stored)
    if proposal is not None:
        assert Proposal.from_dict(proposal.to_dict()) == proposal


@given(st.lists(st.integers(0, 50), unique=True))
def test_ranges_keep_numbers_and_their_order(numbers: list[int]) -> None:
    assert from_ranges(to_ranges(numbers)) == numbers


def test_ranges_by_hand() -> None:
    assert to_ranges([0, 1, 2, 4, 3, 7, 8]) == "0-2,4,3,7-8"
    assert from_ranges(" 0-2, 4,3,,7-8 ") == [0, 1, 2, 4, 3, 7, 8]
    for text in ("all", "1-", "-1", "1-2-3", "0x3"):
        with pytest.raises(ValueError, match="in no known way"):
            from_ranges(text)
    for text in ("0-99999999", "0-999999,0-999999"):
        with pytest.raises(ValueError, match="too many"):
            from_ranges(text)


def test_only_a_surrogate_s_choice_is_one() -> None:
    assert Proposal("proposed", surrogate="gp").by_surrogate
    assert not Proposal("proposed").by_surrogate
    assert not Proposal("initial", surrogate="gp").by_surrogate


# Runs that version 0.1 has kept, attributes as they stand in its storages

SMBO_RUN: list[tuple[float, int, float]] = [  # x, k, cost
    (0.23171776518214787, 1, 0.014662),
    (0.84646623531518, 4, 0.338625),
    (0.6660354641871264, 9, 0.223982),
    (0.27118974180600347, 6, 0.06083),
    (0.10044428443672641, 1, 0.049822),
    (0.21966012903923268, 1, 0.016454),
]
UNASKED: dict[str, Any] = {
    "mean": None,
    "std": None,
    "bound": None,
    "score": None,
    "best": None,
    "surrogate": None,
}
INITIAL = {"optimizer": "smbo", "kind": "initial", "acquisition": "ei", "tau": 1.0, **UNASKED}
SMBO_LAST = {
    "optimizer": "smbo",
    "kind": "proposed",
    "acquisition": "lcb",
    "tau": 0.1,
    "mean": 0.014587360796844279,
    "std": 0.005270169836281653,
    "bound": 0.014060343813216114,
    "score": 0.014060343813216114,
    "best": 0.014662000034256162,
    "surrogate": {
        "name": "gp",
        "lengthscales": [1.7777777777777777, 0.312297848588623],
        "thetas": [None, None],
        "rhos": [None, None],
        "nugget": 1e-10,
        "variance": 0.013342255766768896,
        "trend": 0.18009391538148212,
    },
    "learned": "0-4",
    "awaited": "",
}
RANDOM = {
    "optimizer": "random",
    "kind": "proposed",
    "acquisition": None,
    "tau": None,
    **UNASKED,
    "learned": "0-4",
    "awaited": "",
}
HYPERBAND = {
    "optimizer": "hyperband",
    "kind": "proposed",
    "resource": 0.1111111111111111,
    "rung": 0,
    "final": False,
    "entry": "SH2:0",
    "acquisition": None,
    "tau": None,
    **UNASKED,
    "learned": "",
    "awaited": "",
    "spans": [[1794777194.4142005, 1794777194.4955747]],
}


def keep(storage: str, trials: list[dict[str, Any]]) -> None:
    """Write a study as version 0.1 left it."""
    study = optuna.create_study(storage=storage, study_name="hyperlens")
    study.set_user_attr(SPACE, json.loads(BOX.to_json()))
    for trial in trials:
        study.add_trial(create_trial(distributions=distributions(BOX), **trial))


def test_an_old_run_of_smbo_is_explained_by_its_recorded_surrogate(tmp_path: Path) -> None:
    known = [{**INITIAL, "learned": to_ranges(range(k)), "awaited": ""} for k in range(5)]
    keep(
        f"sqlite:///{tmp_path}/old.db",
        [
            {"params": {"x": x, "k": k}, "value": cost, "user_attrs": {PROPOSAL: proposal}}
            for (x, k, cost), proposal in zip(SMBO_RUN, [*known, SMBO_LAST], strict=True)
        ],
    )
    history = hl.read(f"{tmp_path}/old.db")
    assert [t.proposer for t in history.trials] == ["smbo"] * 6
    assert [t.proposal is not None and t.proposal.by_surrogate for t in history.trials] == [
        *[False] * 5,
        True,
    ]
    why = hl.why(history, 5)
    assert why.recorded
    assert not why.notes
    assert (why.tau, why.proposed_by) == (0.1, "lcb")
    assert why.actual["mean"] == pytest.approx(0.014587360796844279, rel=1e-9)
    assert why.actual["uncertainty"] == pytest.approx(0.005270169836281653, rel=1e-6)


def test_an_old_random_search_was_proposed_by_no_surrogate(tmp_path: Path) -> None:
    trials = [
        {"params": {"x": x, "k": k}, "value": cost, "user_attrs": {PROPOSAL: RANDOM}}
        for x, k, cost in SMBO_RUN
    ]
    keep(f"sqlite:///{tmp_path}/old.db", trials)
    history = hl.read(f"{tmp_path}/old.db")
    assert history.trials[5].proposal == Proposal("proposed", optimizer="random", learned="0-4")
    assert "drawn at random" in hl.why(history, 5).notes[0]


def test_an_old_race_is_read_and_goes_on(tmp_path: Path) -> None:
    def loss(values: Any, budget: float) -> float:
        return float((values["x"] - 0.3) ** 2 + 0.01 * values["k"] + 0.1 * (1 - budget))

    search = Hyperband(BOX, trials=9)
    drawn = [candidate for _ in range(9) if (candidate := search.ask()) is not None]
    storage = f"sqlite:///{tmp_path}/old.db"
    keep(
        storage,
        [
            {
                "state": TrialState.WAITING,
                "params": dict(candidate.values),
                "intermediate_values": {0: loss(candidate.values, 1 / 9)},
                "user_attrs": {
                    PROPOSAL: {**HYPERBAND, "entry": f"SH2:{place}"},
                    RUNGS: [0.1111111111111111],
                },
                "system_attrs": {LEASE: {"paused": True}},
            }
            for place, candidate in enumerate(drawn)
        ],
    )
    calls: list[float] = []

    def counted(values: Any, budget: float) -> float:
        calls.append(budget)
        return loss(values, budget)

    history = hl.minimize(counted, BOX, "hyperband", 9, storage=storage)
    alone = hl.minimize(loss, BOX, "hyperband", 9)
    assert calls.count(1 / 9) == 0
    assert [t.costs for t in history.trials] == [t.costs for t in alone.trials]
    assert [t.budget for t in history.trials] == [t.budget for t in alone.trials]
    assert history.trials[0].spans[0] == (1794777194.4142005, 1794777194.4955747)
    assert hl.read(f"{tmp_path}/old.db").trials == history.trials
