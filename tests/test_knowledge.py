"""What is known beforehand: first configurations, priors, earlier runs, and whether they helped."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from ConfigSpace import Categorical, ConfigurationSpace, EqualsCondition, Float
from scipy.stats import lognorm, norm

import hyperlens as hl
from hyperlens.errors import AnalysisError, SpaceError
from hyperlens.explain.proposals.hindsight import Hindsight, hindsight
from hyperlens.record import Record
from hyperlens.runs.history import History, Objective, Trial
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation
from hyperlens.sections.plan import PLAN
from hyperlens.words import number, percent

SPACE = hl.Space.of(
    [
        hl.Parameter("lr", "float", 1e-5, 1.0, log=True),
        hl.Parameter("depth", "integer", 1, 9),
        hl.Parameter("kind", "categorical", choices=("a", "b", "c")),
    ]
)
GUESS = {"lr": 1e-3, "depth": 4, "kind": "b"}


STRANGE = History(
    hl.Space.of([hl.Parameter("speed", "float", 0, 1)]),
    (Objective("cost"),),
    (Trial(0, {"speed": 0.5}, (1.0,)),),
)


def cost(values: Any) -> float:
    """Smallest at the guess."""
    away = abs(np.log10(values["lr"]) + 3) + abs(values["depth"] - 4) / 4
    return float(away + (values["kind"] != "b"))


def design(**options: Any) -> list[tuple[str | None, dict[str, Any]]]:
    search = hl.SMBO(SPACE, **options)
    asked = [search.ask() for _ in range(12)]
    return [(c.proposal.about, dict(c.values)) for c in asked]


def test_half_of_the_design_is_even_and_the_guess_itself_comes_first() -> None:
    rows = design(prior=GUESS)
    assert [about for about, _ in rows] == ["prior", None] * 3 + [None] * 6
    first = rows[0][1]
    assert first["lr"] == pytest.approx(1e-3)
    assert (first["depth"], first["kind"]) == (4, "b")
    near = [np.log10(v["lr"]) for about, v in rows if about == "prior"]
    assert np.std(near) < 5 * 0.2  # a tenth of the axis, which has five decades, twice over
    even = [v["lr"] for about, v in rows if about is None]
    assert min(even) < 1e-3 < max(even)


def kinds_of(
    search: hl.SMBO, guess_is_good: bool, excess: tuple[float, ...] = ()
) -> list[str | None]:
    kinds: list[str | None] = []
    for k in range(13):
        candidate = search.ask()
        kinds.append(candidate.proposal.kind)
        guessed = candidate.proposal.about == "prior"
        over = excess if guessed else tuple(-1.0 for _ in excess)
        search.tell(candidate.values, k + 100.0 * (guessed != guess_is_good), excess=over)
    return kinds


@pytest.mark.parametrize(("guess_is_good", "ends"), [(True, 6), (False, 12)])
def test_the_design_ends_at_its_half_where_the_best_is_guessed(
    guess_is_good: bool, ends: int
) -> None:
    kinds = kinds_of(hl.SMBO(SPACE, prior=GUESS), guess_is_good)
    assert kinds == ["initial"] * ends + ["proposed"] * (13 - ends)


def test_a_guess_that_exceeds_a_limit_does_not_end_the_design() -> None:
    assert kinds_of(hl.SMBO(SPACE, prior=GUESS), True, (1.0,)) == ["initial"] * 12 + ["proposed"]


def test_what_was_told_before_is_not_taken_for_a_guess() -> None:
    search = hl.SMBO(SPACE, prior=GUESS)
    search.tell({"lr": 1.0, "depth": 9, "kind": "c"}, -5.0)
    assert kinds_of(search, True)[:11] == ["initial"] * 11


def test_what_is_to_be_tried_first_is_and_nothing_else_changes() -> None:
    wanted = [{"lr": 0.5, "depth": 9, "kind": "c"}, {"lr": 1e-5, "depth": 1, "kind": "a"}]
    rows = design(first=wanted)
    assert [about for about, _ in rows] == ["first"] * 2 + [None] * 10
    for (_, got), want in zip(rows, wanted, strict=False):
        assert got == {**want, "lr": pytest.approx(want["lr"])}
    assert [v for _, v in design(first=wanted)[2:]] == [v for _, v in design()[:10]]


def test_a_distribution_and_weights_of_choices() -> None:
    rows = design(prior={"depth": norm(7, 0.1), "kind": {"c": 1.0}})
    guessed = [v for about, v in rows if about == "prior"]
    assert {v["depth"] for v in guessed} == {7}
    assert {v["kind"] for v in guessed} == {"c"}


def test_the_best_of_an_earlier_run_of_another_space_are_tried_as_far_as_they_fit() -> None:
    wider = [
        hl.Parameter("lr", "float", 1e-8, 1.0, log=True),
        hl.Parameter("width", "integer", 1, 5),
    ]
    earlier = hl.minimize(lambda v: abs(np.log10(v["lr"]) + 7), wider, "random", 40)
    reachable = [t.values["lr"] for t in earlier.trials if t.values["lr"] >= 1e-5]
    rows = design(learn_from=earlier)
    learnt = [v["lr"] for about, v in rows if about == "earlier"]
    assert len(learnt) == 6
    places = SPACE["lr"].encode(sorted(reachable))  # the cost falls towards small ones
    apart = [places[0]]
    for place in places[1:]:
        if min(abs(place - other) for other in apart) >= 0.02:
            apart.append(place)
    assert SPACE["lr"].encode(learnt) == pytest.approx(apart[:6])


def test_a_crowd_of_an_earlier_run_is_tried_once() -> None:
    best = {**GUESS, "lr": 1e-3}
    crowd = [{**best, "lr": 1e-3 * (1 + 1e-3 * k)} for k in range(9)]
    others = [{**best, "depth": depth} for depth in (1, 2, 8, 9)]
    trials = tuple(Trial(k, values, (float(k),)) for k, values in enumerate([*crowd, *others]))
    earlier = History(SPACE, (Objective("cost"),), trials)
    learnt = [v for about, v in design(learn_from=[earlier]) if about == "earlier"]
    assert [v["depth"] for v in learnt] == [4, 1, 2, 8, 9, 4]
    assert learnt[5]["lr"] == pytest.approx(crowd[1]["lr"])  # only then the next of the crowd


def pipeline() -> hl.Space:
    """Three models, and parameters that only one of them has."""
    space = ConfigurationSpace()
    model = Categorical("model", ["svm", "forest", "network"])
    children = {
        "C": Float("C", (1e-3, 1e3), log=True),
        "rate": Float("rate", (1e-6, 1.0), log=True),
    }
    space.add([model, *children.values()])
    space.add(EqualsCondition(children["C"], model, "svm"))
    space.add(EqualsCondition(children["rate"], model, "network"))
    return hl.Space(space)


@pytest.mark.parametrize("seed", range(5))
def test_a_guess_of_one_model_is_tried_with_that_model(seed: int) -> None:
    search = hl.SMBO(pipeline(), prior={"C": 10.0}, seed=seed)
    asked = [search.ask() for _ in range(6)]
    guessed = [c.values for c in asked if c.proposal.about == "prior"]
    assert [values["model"] for values in guessed] == ["svm"] * 3
    assert guessed[0]["C"] == pytest.approx(10.0)


def test_guesses_of_two_models_are_tried_with_both() -> None:
    search = hl.SMBO(pipeline(), prior={"C": 10.0, "rate": 1e-3}, initial=60)
    guessed = [c.values for c in (search.ask() for _ in range(60)) if c.proposal.about == "prior"]
    assert {values["model"] for values in guessed} == {"svm", "network"}


def test_an_earlier_run_that_does_not_say_the_model_is_tried_with_the_one_it_speaks_of() -> None:
    only = hl.Space.of([hl.Parameter("rate", "float", 1e-6, 1.0, log=True)])
    trials = tuple(Trial(k, {"rate": 10.0**-k}, (float(k),)) for k in range(5))
    search = hl.SMBO(pipeline(), learn_from=History(only, (Objective("cost"),), trials))
    learnt = [c.values for c in (search.ask() for _ in range(10)) if c.proposal.about == "earlier"]
    assert [values["model"] for values in learnt] == ["network"] * 5
    assert [values["rate"] for values in learnt] == pytest.approx([10.0**-k for k in range(5)])


@pytest.mark.parametrize(
    ("prior", "best", "near"),
    [
        ({"kind": "b"}, {**GUESS, "kind": "b"}, True),
        ({"kind": "b"}, {**GUESS, "kind": "c"}, False),
        ({"kind": {"a": 1, "b": 2}}, {**GUESS, "kind": "a"}, True),
        ({"kind": {"a": 1, "b": 2}}, {**GUESS, "kind": "c"}, False),
        ({"depth": 4}, {**GUESS, "depth": 5}, True),
        ({"depth": 4}, {**GUESS, "depth": 9}, False),
        ({"depth": norm(4, 0.5)}, {**GUESS, "depth": 9}, False),
        ({"lr": 1e-3}, {**GUESS, "lr": 1e-4}, True),
        ({"lr": 1e-3}, {**GUESS, "lr": 1e-5}, False),
    ],
)
def test_only_where_the_best_is_near_the_guess_does_every_early_proposal_refine(
    prior: dict[str, Any], best: dict[str, Any], near: bool
) -> None:
    search = hl.SMBO(SPACE, prior=prior)
    other = {"lr": 1.0, "depth": 1, "kind": "a"}
    for k in range(14):
        search.tell({**other, "lr": 1.0 - k / 100}, 5.0 + k)
    search.tell(best, 0.0)
    acquisitions = {search.ask(number).proposal.acquisition for number in (16, 17)}
    assert acquisitions == ({"lcb"} if near else {"lcb", "ei"})


def test_a_guess_of_a_parameter_that_the_best_does_not_have_is_not_stayed_near() -> None:
    search = hl.SMBO(pipeline(), prior={"C": 10.0})
    for k in range(12):
        search.tell({"model": "svm", "C": 10.0 + k}, 5.0 + k)
    search.tell({"model": "forest"}, 0.0)
    assert search.ask(14).proposal.acquisition == "ei"


def test_a_distribution_is_drawn_within_the_range() -> None:
    rows = design(prior={"lr": norm(-0.5, 1.0)}, initial=60)  # most of it lies below the range
    guessed = [v["lr"] for about, v in rows if about == "prior"]
    assert len(set(guessed)) == len(guessed)
    assert 1e-5 < min(guessed) < max(guessed) < 1.0


@pytest.mark.parametrize(
    ("guess", "word"), [(GUESS, "helped"), ({"lr": 1.0, "depth": 9}, "misled")]
)
def test_hindsight_says_what_became_of_it(guess: dict[str, Any], word: str) -> None:
    run = hl.minimize(cost, SPACE, trials=24, initial=24, prior=guess)
    found = hindsight(run)
    sentence, ended = found.lead
    assert (found.verdict_of("prior"), found.sentence) == (word, f"{sentence} {ended}")
    assert sentence.startswith(
        f"The prior {word}: its 12 configurations did better than the 12 even"
    )
    costs = [t.costs[0] for t in run.trials]
    wins = np.mean([a < b for a in costs[::2] for b in costs[1::2]])
    assert f"in {number(100 * wins)} % of the pairs" in sentence


@pytest.mark.parametrize(
    ("guess", "farthest", "away", "said"),
    [
        (
            {"lr": 1e-4},
            "lr",
            0.2,
            f"lies up to {percent(0.2)} of an axis (lr) from what was guessed.",
        ),
        ({"lr": 1e-3}, "lr", 0.0, "is what was guessed."),
        ({"depth": 4, "kind": "c"}, "kind", 1.0, "has another kind than was guessed."),
    ],
)
def test_how_far_from_the_guess_the_search_ends_is_said_of_what_was_guessed(
    guess: dict[str, Any], farthest: str, away: float, said: str
) -> None:
    search = hl.SMBO(SPACE, prior=guess, seed=3)
    asked = [search.ask() for _ in range(4)]
    trials = [Trial(k, c.values, (1.0 + k,), proposal=c.proposal) for k, c in enumerate(asked)]
    trials.append(Trial(4, {"lr": 1e-3, "depth": 4, "kind": "a"}, (0.0,)))
    found = hindsight(History(SPACE, (Objective("cost"),), tuple(trials)))
    assert found.farthest == farthest
    assert found.away == pytest.approx(away, abs=1e-9)
    assert found.lead[-1] == f"The best trial of the search {said}"


def test_nothing_known_is_refused_and_too_little_is_called_so() -> None:
    with pytest.raises(AnalysisError, match="give prior, first or learn_from"):
        hindsight(hl.minimize(cost, SPACE, trials=3))
    found = hindsight(hl.minimize(cost, SPACE, trials=2, prior=GUESS))
    said = (
        "Whether the prior helped is not known: its configuration did better than the even one in"
    )
    assert found.sentence.startswith(said)
    alone = hindsight(hl.minimize(cost, SPACE, trials=1, first=[GUESS]))
    assert alone.sentence == "What was tried first cannot be judged: no configuration was even."


def test_hindsight_of_failures_is_drawn_shown_and_read_again() -> None:
    def failing(values: dict[str, Any]) -> float:
        return math.nan if values["lr"] > 0.05 else cost(values)

    run = hl.maximize(failing, SPACE, trials=12, initial=12, prior=GUESS, first=[GUESS])
    found = hindsight(run)
    failed = [t.number for t in run.trials if not math.isfinite(t.costs[0])]
    assert failed
    assert np.isnan(found.result[failed]).all()
    assert f"{len(failed)} of the 12 trials of the initial design failed" in found.notes[1]
    even = [run.trials[k].costs[0] for k, o in enumerate(found.origin) if o == "even"]
    own = run.trials[0].costs[0]  # the only one that was tried first
    wins = np.mean([not math.isfinite(e) or own > e for e in even])
    assert found.better[0] == pytest.approx(wins)
    again = Record.from_dict(found.to_dict())
    assert isinstance(again, Hindsight)
    assert again.to_json() == found.to_json()
    traces = found.plot().data
    assert all(isinstance(trace.x, tuple) for trace in traces)  # stills read no packed arrays
    shown = [x for trace in traces if trace.customdata for x in trace.x]
    assert sorted(shown) == sorted(found.result[~np.isnan(found.result)].tolist())
    section = next(section for section in PLAN if section.id == "search")
    cards = {card.id: card for card in section.cards(Explanation(run, Choices()))}
    assert cards["hindsight"].lead == found.lead


def test_why_says_that_a_trial_was_known_beforehand() -> None:
    earlier = hl.minimize(cost, SPACE, "random", 10)
    run = hl.minimize(cost, SPACE, trials=8, first=[GUESS], prior=GUESS, learn_from=earlier)
    said = {"first": "to be tried first", "prior": "the prior", "earlier": "an earlier run"}
    for trial in run.trials[3:]:
        assert trial.proposal is not None
        note = hl.why(run, trial.number).notes[0]
        words = said.get(str(trial.proposal.about))
        assert note.startswith(f"Trial {trial.number} belongs to the initial design, no surrogate")
        assert note.endswith("proposed it.") if words is None else words in note
    assert {t.proposal.about for t in run.trials[3:] if t.proposal} == {None, "prior", "earlier"}


@pytest.mark.parametrize(
    "options",
    [
        {"prior": {"speed": 1.0}},
        {"prior": {"lr": 5.0}},
        {"prior": {"kind": "z"}},
        {"prior": {"kind": {"a": -1.0}}},
        {"first": [{"lr": 0.1}]},
        {"prior": {"kind": {"a": "much"}}},
        {"prior": {"kind": {"a": math.inf}}},
        {"prior": {"kind": {}}},
        {"prior": {"kind": norm(0, 1)}},
        {"prior": {"lr": norm(50, 1)}},
        {"prior": {"lr": lognorm}},
        {"prior": ["lr"]},
        {"first": GUESS},
        {"first": [1.0]},
        {"learn_from": ["run.db"]},
        {"learn_from": "run.db"},
        {"learn_from": optuna.create_study},
        {"learn_from": History(SPACE, (Objective("cost"),), ())},
        {"learn_from": History(SPACE, (Objective("cost"),), (Trial(0, GUESS, (math.nan,)),))},
        {"learn_from": STRANGE},
        {"prior": GUESS, "design": np.zeros((1, 3))},
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(options: dict[str, Any]) -> None:
    with pytest.raises(SpaceError, match=r";"):
        hl.SMBO(SPACE, **options)


def test_nothing_may_be_given_as_none_and_a_space_in_any_form() -> None:
    search = hl.SMBO(
        {"lr": {"low": 1e-5, "high": 1.0, "log": True}}, first=None, prior=None, learn_from=None
    )
    assert search.ask().values == hl.SMBO(hl.Space.of([SPACE["lr"]])).ask().values


def test_an_option_that_the_sampler_does_not_have_is_refused_with_those_it_has() -> None:
    for given in ((SPACE,), ()):
        with pytest.raises(SpaceError, match="no option 'speed'; choose among 'tau'"):
            hl.optuna.SMBOSampler(*given, speed=1)
    with pytest.raises(SpaceError, match="no acquisition 'pi'; choose"):
        hl.optuna.SMBOSampler(acquisition="pi")


@pytest.mark.parametrize("known", [{"first": [GUESS]}, {"prior": GUESS}])
def test_a_study_of_optuna_without_a_space_says_that_it_needs_one(known: dict[str, Any]) -> None:
    with pytest.raises(SpaceError, match=f"has '{next(iter(known))}' and no space"):
        hl.optuna.SMBOSampler(**known)


def test_a_study_of_optuna_begins_with_it_too_and_says_afterwards() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        sampler=hl.optuna.SMBOSampler(SPACE, first=[GUESS], prior=GUESS, initial=21)
    )

    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("lr", 1e-5, 1.0, log=True)
        trial.suggest_int("depth", 1, 9)
        trial.suggest_categorical("kind", ["a", "b", "c"])
        return cost(trial.params)

    study.optimize(objective, n_trials=21)
    assert study.trials[0].params == {**GUESS, "lr": pytest.approx(1e-3)}
    found = hindsight(hl.read(study))
    assert (found.knowledge, found.origin.count("even")) == (("first", "prior"), 10)
    assert found.verdict_of("prior") == "helped"


def test_tune_takes_it_and_says_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from hyperlens.cli import app

    monkeypatch.chdir(tmp_path)
    SPACE.save("space.json")
    Path("f.py").write_text("def loss(v): return abs(v['lr'] - 1e-3) + (v['kind'] != 'b')\n")
    Path("first.json").write_text(json.dumps([GUESS]))
    command = ["tune", "f.py:loss", "--space", "space.json", "--trials", "6", "--workers", "1"]
    told = CliRunner().invoke(
        app, [*command, "--prior", "lr=0.001", "--prior", "kind=b", "--first", "first.json"]
    )
    assert told.exit_code == 0, told.output
    assert "Whether the prior helped" in told.output
    assert "Whether what was tried first helped" in told.output
    assert hl.read("run.db").trials[0].values == {**GUESS, "lr": pytest.approx(1e-3)}
