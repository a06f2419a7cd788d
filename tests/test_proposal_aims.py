"""What a proposal was chosen by: expected improvement, a bound, a function; and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

import hyperlens as hl
from hyperlens.explain.proposals.proposers import proposer
from hyperlens.explain.proposals.reasons import tidy
from hyperlens.sections.run.proposals import path_cards, unrecorded_card, why_card
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.acquisition import expected_improvement

SPACE = hl.Space.of(
    [
        hl.Parameter("lr", "float", 1e-4, 1.0, log=True),
        hl.Parameter("layers", "integer", 1, 5),
        hl.Parameter("decay", "float", 0.0, 1.0),
    ]
)


def cost(values: Mapping[str, Any]) -> float:
    rough = float(np.sin(6 * values["decay"])) * values["layers"] / 5
    return float((np.log10(values["lr"]) + 2) ** 2 + 0.3 * values["layers"] + rough)


def mirrored(history: hl.History) -> hl.History:
    """The same run, unrecorded, with a maximised objective."""
    trials = tuple(replace(t, costs=(-t.costs[0],), proposal=None) for t in history.trials)
    return replace(history, trials=trials, objectives=(hl.Objective("score", True),))


@pytest.fixture(scope="module")
def history() -> hl.History:
    """Even trials maximise the expected improvement, odd ones a bound with tau 0.1."""
    return hl.minimize(cost, SPACE, trials=24, initial=10, seed=1)


@pytest.fixture(scope="module")
def random() -> hl.History:
    return hl.minimize(cost, SPACE, trials=16, optimizer="random", seed=1)


def desirable(sentence: str) -> bool:
    assert sentence.endswith(("more desirable.", "less desirable."))
    return sentence.endswith("more desirable.")


# Expected improvement


def test_a_proposal_is_judged_by_the_improvement_that_made_it(history: hl.History) -> None:
    reordered = False
    for trial in range(10, 24, 2):
        why = hl.why(history, trial)
        assert (why.acquisition, why.proposed_by, why.recorded) == ("ei", "ei", True)
        assert why.tau == 1.0
        assert why.score is not None
        kept = history.trials[trial].proposal
        assert kept is not None
        assert why.actual["score"] == pytest.approx(kept.score, abs=1e-9)
        assert (np.diff(np.abs(why.score)) <= 0).all()
        reordered |= not (np.diff(np.abs(why.bound)) <= 0).all()
        first, second = why.parameters[:2]
        assert "It maximised the expected improvement, the score:" in why.sentence
        weights = f"'{first}' ({why.score[0]:+.3g}) and '{second}' ({why.score[1]:+.3g})"
        assert f"{weights} weigh most in it, and larger is better." in why.sentence
        assert "score = the expected improvement, which this proposal maximised" in why.basis
        assert f"{kept.best:.4g}" in why.basis
        for sentence, worth in zip(why.sentences, why.score, strict=True):
            if "hardly" not in sentence:
                moved = "raises" if worth > 0 else "lowers"
                assert (
                    f"{moved} the score, the expected improvement, by {abs(worth):.3g}" in sentence
                )
                assert desirable(sentence) == (worth > 0)
    assert reordered  # else ranking by the bound would do as well


def test_a_bound_is_said_to_have_made_its_proposal(history: hl.History) -> None:
    why = hl.why(history, 13)
    assert (why.acquisition, why.proposed_by, why.tau, why.score) == ("lcb", "lcb", 0.1, None)
    assert why.sentence.endswith("weigh most in the bound that it minimised.")
    assert why.basis == "bound = mean - 0.1 x uncertainty, which this proposal minimised."
    other = hl.why(history, 13, tau=3.0)
    assert other.sentence.endswith("weigh most in the bound.")
    assert other.basis == "bound = mean - 3 x uncertainty, less is better."


def test_another_acquisition_than_the_recorded_one_is_said(history: hl.History) -> None:
    asked = hl.why(history, 12, acquisition="lcb")
    assert (asked.acquisition, asked.proposed_by, asked.score) == ("lcb", "ei", None)
    assert (
        "Trial 12 maximised the expected improvement; it is explained by another" in asked.notes[-1]
    )
    improved = hl.why(history, 13, acquisition="ei")
    assert "Its score, the expected improvement, is" in improved.sentence
    assert "It maximised" not in improved.sentence
    assert "chose by a bound" in improved.notes[-1]
    refitted = hl.why(history, 12, surrogate="forest")  # not the surrogate that it maximised
    assert (refitted.acquisition, refitted.proposed_by) == ("ei", "ei")
    assert "It maximised" not in refitted.sentence


@pytest.mark.parametrize("maximize", [False, True])
def test_a_larger_improvement_is_better_in_either_direction(
    history: hl.History, maximize: bool
) -> None:
    """Against a baseline, by hand over all orders of three parameters."""
    run = mirrored(history) if maximize else history
    baseline = {"lr": 0.9, "layers": 5, "decay": 0.2}
    why = hl.why(run, 20, acquisition="ei", baseline=baseline, surrogate="gp")
    source = proposer(run, 20, "gp")
    x, b = run.vectors[20], run.space.encode([baseline])[0]

    def worth(inside: set[int]) -> float:
        point = np.array([[x[j] if j in inside else b[j] for j in range(3)]])
        return float(expected_improvement(*source.model.predict(point), source.best)[0])

    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    by_hand = np.zeros(3)
    for order in orders:
        for k, j in enumerate(order):
            by_hand[j] += (worth({*order[: k + 1]}) - worth({*order[:k]})) / len(orders)
    assert why.score is not None
    found = dict(zip(why.parameters, why.score, strict=True))
    np.testing.assert_allclose([found[name] for name in run.space.names], by_hand, atol=1e-12)
    assert desirable(why.sentences[0]) == (why.score[0] > 0)


@pytest.mark.parametrize("maximize", [False, True])
def test_what_a_function_returns_is_read_like_the_bound(
    history: hl.History, maximize: bool
) -> None:
    run = mirrored(history) if maximize else history

    def bound(mean: FloatArray, std: FloatArray) -> FloatArray:
        return mean + 2 * std if maximize else mean - 2 * std

    why = hl.why(run, 13, 2.0, acquisition=bound, surrogate="gp")
    same = hl.why(run, 13, 2.0, acquisition="lcb", surrogate="gp")
    assert why.acquisition == "given"
    assert why.score is not None
    way = "larger" if maximize else "less"
    assert f"weigh most in it, and {way} is better." in why.sentence
    assert "score = what the given function returns" in why.basis
    assert why.parameters[0] == same.parameters[0]
    assert desirable(why.sentences[0]) == desirable(same.sentences[0])
    assert desirable(why.sentences[0]) == (why.score[0] > 0 if maximize else why.score[0] < 0)


# Paths


def test_a_path_has_one_tau(history: hl.History) -> None:
    path = hl.path(history)
    assert set(path.tau.tolist()) == {1.0}
    assert path.proposed_by == ("ei", "lcb") * 7
    assert (
        "7 maximised the expected improvement and 7 minimised a bound with tau 0.1" in path.notes[0]
    )
    assert "tau 1 for all" in path.notes[0]
    expected = path.mean - path.uncertainty
    np.testing.assert_allclose(path.bound, expected, atol=1e-12)
    assert set(hl.path(history, tau=0.1, trials=[12, 13]).tau.tolist()) == {0.1}


def test_a_path_keeps_the_one_tau_of_its_run() -> None:
    run = hl.minimize(cost, SPACE, trials=14, initial=10, tau=2.5)
    path = hl.path(run, trials=[3, 11, 12])  # the first belongs to the initial design
    assert path.tau.tolist() == [2.5] * 3
    assert path.notes[:-1] == (
        "1 of 3 proposals belong to the initial design, no surrogate proposed them; a Gaussian "
        "process was fitted to the complete trials before each.",
    )


def test_a_path_of_a_random_search_has_no_proposals(random: hl.History) -> None:
    path = hl.path(random)
    assert (path.called, set(path.origin), path.design) == ("trial", {"random"}, ())
    said = " ".join(path.notes)
    assert "8 of 8 trials were drawn at random, no surrogate proposed them" in said
    for wrong in ("initial design", "believed", "proposals"):
        assert wrong not in said
    assert "Of 8 trials explained" in path_cards(path, hl.trials(random))[0].lead[0]


# What was learned from


def test_the_budget_that_was_fitted_is_said() -> None:
    rng = np.random.default_rng(0)
    trials = tuple(
        hl.Trial(
            k,
            values,
            (cost(values),),
            budget=[1.0, 3.0, 9.0][min(k // 8, 2)],
            state=hl.State.FAILED if k == 2 else hl.State.COMPLETE,
        )
        for k, values in enumerate(SPACE.decode(rng.random((24, 3))))
    )
    run = hl.History(SPACE, (hl.Objective("loss"),), trials)
    early, late = hl.why(run, 6), hl.why(run, 12)
    assert (
        "fitted to the 5 complete trials before trial 6, all at budget 1, the largest"
        in early.notes[1]
    )
    assert "1 of the 6 trials before it had no result and were left out." in early.notes
    assert early.learned == 5
    assert (
        "fitted to the 4 complete trials before trial 12 at budget 3, the largest by then, of 11 at any"
        in late.notes[1]
    )
    assert late.learned == 4
    assert "before each at the largest budget by then." in " ".join(hl.path(run).notes)


# How it is shown


def test_rounding_is_shown_as_nothing(history: hl.History) -> None:
    assert tidy(np.array([2.0, 1.9e-9, -2.1e-9]), 2.0).tolist() == [2.0, 0.0, -2.1e-9]
    why = hl.why(history, 12)
    assert why.score is not None
    tiny = replace(
        why,
        mean=np.array([*why.mean[:2], -1.3e-16]),
        score=1e-14 * np.array([5.0, 1.0, 1e-10]),
    )
    assert tiny.parts["mean"].tolist() == [*why.mean[:2], 0.0]
    assert tiny.parts["score"].tolist() == [5e-14, 1e-14, 0.0]  # its own scale
    card = why_card(tiny)
    assert card.table is not None
    assert card.table.rows[2][2] == "0"
    assert card.table.rows[0][-1] == "+5e-14"


def test_the_card_of_a_proposal_tells_its_score(history: hl.History) -> None:
    why = hl.why(history, 12)
    card = why_card(why)
    assert card.table is not None
    assert card.table.columns == ("parameter", "value", "mean", "uncertainty", "bound", "score")
    assert card.table.meanings[-1] == why.basis
    assert why.basis in card.how
    assert card.facts[-1].detail == "of the score"
    assert card.lead[0] == why.sentence
    assert "ranked by the score" in why.plot().layout.xaxis.title.text
    plain = why_card(hl.why(history, 13))
    assert plain.table is not None
    assert plain.table.columns[-1] == "bound"


def test_each_trial_of_the_slider_has_its_numbers_and_reasons(history: hl.History) -> None:
    path = hl.path(history)
    reasons, desirability, *_ = path_cards(path, hl.trials(history))
    options = dict(reasons.controls[0].options)
    for k, trial in enumerate(path.trial.tolist()):
        cost = history.trials[trial].costs[0]
        assert options[k] == f"trial {trial} · {cost:.4g} · complete"
        why = hl.why(history, trial, 1.0)
        texts = [text for when, text in reasons.captions if when == {"trial": (k,)}]
        assert texts[0].startswith(why.sentence)
        assert "It then measured" in texts[0]
        for part in why.parts:
            assert f"{why.actual[part]:.4g} (on average {why.average[part]:.4g}, payout" in texts[1]
        assert texts[2:] == list(why.sentences[:2])
        assert sum(map(len, texts)) < 1500
    how = " ".join(desirability.how)
    for word in ("tau, here 1,", "expected improvement", "takes turns", "tau=0.1"):
        assert word in how
    alone = path_cards(hl.path(history, trials=[13]), hl.trials(history))[0]
    assert "turns" not in " ".join(alone.how)


def foreign(history: hl.History, count: int, proposer: str | None = "TPESampler") -> hl.History:
    """So many trials of a run, as another tool would have left them."""
    kept = (replace(t, proposal=None, proposer=proposer) for t in history.trials[:count])
    return replace(history, trials=tuple(kept))


def test_a_run_without_records_says_how_to_see_reasons(random: hl.History) -> None:
    assert unrecorded_card(hl.trials(foreign(random, 12))) is None
    assert unrecorded_card(hl.trials(foreign(random, 13, "RandomSampler"))) is None
    found = unrecorded_card(hl.trials(foreign(random, 13)))
    assert found is not None
    assert (found.figure, len(found.lead)) == (None, 1)
    assert "--proposals" in found.lead[0]
    assert "proposals=True" in found.lead[0]


def test_the_report_of_a_foreign_run_has_that_card(random: hl.History) -> None:
    from hyperlens.sections.analysis import analyse
    from hyperlens.sections.choices import Choices

    shown = [
        [card.id for card in analyse(run, Choices(level=None)).cards]
        for run in (foreign(random, 16), random)
    ]
    assert "reasons" in shown[0]
    assert "reasons" not in shown[1]  # drawn at random, so there are no reasons


@pytest.mark.parametrize("baseline", ["default", "best"])
def test_a_baseline_is_not_called_an_average(
    history: hl.History,
    baseline: Literal["default", "best"],
    capsys: pytest.CaptureFixture[str],
) -> None:
    from hyperlens import terminal

    why = hl.why(history, 12, baseline=baseline)
    called = {"default": "the midpoint of the space", "best": "the best trial before it"}[baseline]
    assert why.compared_with == f"of {called}"
    terminal.show(why)
    shown = " ".join(capsys.readouterr().out.split())
    assert "on average" not in shown
    assert called in why.plot().layout.xaxis.title.text
    assert hl.why(history, 12).compared_with == "on average"
