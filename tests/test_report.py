"""The cards of a report say what the records say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from analyses import (
    CAUTION,
    TRUST,
    Page,
    analysis,
    changed,
    effect,
    runs,
    spending,
    timeline,
    trials,
)
from views import region, searched, together, tree

import hyperlens as hl
from hyperlens import words
from hyperlens.errors import SourceError
from hyperlens.reports import page, read_analysis
from hyperlens.reports.comparison_page import comparison_cards
from hyperlens.reports.render import report_html
from hyperlens.sections.advice import what_next
from hyperlens.sections.analysis import analyse
from hyperlens.sections.cards.card import Card
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Unavailable
from hyperlens.sections.parameters.importance import IMPORTANCE
from hyperlens.sections.run.proposals import path_cards, why_card

FIXED = words.FIXED


def card(found: tuple[Card, ...], id: str) -> Card:
    (chosen,) = [c for c in found if c.id == id]
    return chosen


def test_cards_come_in_order() -> None:
    found = changed(
        analysis(), pairs=(Unavailable("lr × opt", "too few trials", ("lr", "opt")),)
    ).cards
    ids = [c.id for c in found]
    assert ids == [
        "summary",
        "forecast",
        "advice",
        "reach",
        "confirm",
        "trace",
        "timeline",
        "endings",
        "parallel",
        "pareto",
        "true-front",
        "choice",
        "luck",
        "curves",
        "pruning",
        "course",
        "footprint",
        "importance",
        "heatmap",
        "tradeoff",
        "marginals",
        "interactions",
        "tunability",
        "top_importance",
        "ablation",
        "local",
        "effects-of-1",
        "effect-1",
        "effect-2",
        "effect-3",
        "formulas",
        "regions-1",
        "pair-1-2",
        "bias",
        "spending",
        "comparison",
        "across",
        "portfolio",
        "across-1",
        "across-2",
        "trial",
        "data",
        "method",
    ]


def test_summary_says_how_the_run_went() -> None:
    summary = card(analysis().cards, "summary")
    lead = " ".join(summary.lead)
    assert "4 trials: 3 complete, 1 failed." in lead
    assert "lowest loss is 0.4, reached by trial 2" in lead
    interval = f"(90{FIXED}% interval 50.0{FIXED}% to 70.0{FIXED}%)"
    share = f"60.0{FIXED}% of the variance {interval}"
    assert f"lr mattered most over the whole space: {share}" in lead
    assert summary.verdict == CAUTION
    assert summary.notes == ("plain", "a warning")
    assert summary.table is not None
    assert summary.table.rows == (
        ("lr", "0.1", ""),
        ("opt", "adam", ""),
        ("momentum", "inactive", "only when opt is adam"),
        ("epochs", "9", "constant"),
    )
    assert [f.value for f in summary.facts] == ["0.4", "4", "2", "lr", "caution"]


def test_a_surrogate_that_fails_names_nothing_in_the_headline() -> None:
    made = analysis()
    importance = made[IMPORTANCE]
    assert isinstance(importance, hl.Importance)
    failing = replace(importance, verdict=replace(CAUTION, word="do not trust"))
    facts = card(changed(made, importance=failing).cards, "summary").facts
    assert [f.value for f in facts] == ["0.4", "4", "2", "not known", "do not trust"]


def test_trace_says_what_came_after_the_best() -> None:
    (lead,) = card(analysis().cards, "trace").lead
    assert "from 1 in the first trial to 0.4 in trial 2" in lead
    assert "The 1 analysed trial after it brought no improvement." in lead


def test_importance_table_has_the_numbers() -> None:
    found = card(analysis().cards, "importance")
    assert found.table is not None
    assert found.table.rows[1] == (
        "lr × opt",
        f"20.0{FIXED}%",
        f"10.0{FIXED}% to 30.0{FIXED}%",
        "2",
        f"20.0{FIXED}%",
        f"10.0{FIXED}% to 30.0{FIXED}%",
    )
    assert "The interval contains it" in found.lead[2]
    record = analysis()[IMPORTANCE]
    assert isinstance(record, hl.Importance)
    alone = replace(record, order=1).meaning
    assert f"Interactions of more than 1 parameter account for 10{FIXED}% of the variance." in alone
    assert found.verdict == CAUTION


def test_curve_says_where_the_best_values_lie() -> None:
    lead, _ = card(analysis().cards, "effect-1").lead
    assert "best with lr near 2 (mean 0.5)" in lead
    assert "Values from 2 to 3 are nearly as good." in lead  # 0.52 is within 0.2 of 0.5, 1.0 is not
    assert "from 0.3 to 0.7, 0.4 wide, while the mean changes by 2 in all" in lead
    assert "wider than the effect" not in lead
    assert "1 of 2 trials lies there" in lead  # 2.5 does, 1.5 does not, one is inactive


def test_curve_without_support_or_at_the_edge_says_so() -> None:
    record = effect("lr")
    nobody = replace(record, observed=((1.5, 1.6, 1.7),)).sentence
    assert "None of 3 trials lies there" in nobody
    rising = replace(record, maximize=True)
    assert "near 4 " in rising.sentence
    assert "wider range" not in rising.sentence  # where no trial is, nothing is known beyond
    assert "upper end of its range" in replace(rising, observed=((3.5, 4.0),)).sentence
    wide = replace(record, low=record.mean - 5).sentence
    assert "the band is wider than the effect" in wide
    flat = replace(record, mean=np.ones(4)).sentence
    assert "expects the same loss for every lr" in flat


def test_categories_say_the_best_and_the_worst() -> None:
    lead, _ = card(analysis().cards, "effect-2").lead
    assert "best with opt = adam (mean 0.5, from 1 trial)" in lead
    assert "worst with c (2.5, from 1 trial)" in lead


@pytest.mark.parametrize(
    ("support", "seen", "text"),
    [
        ([1, 1, 1, 1], (1.0, 2.0, 3.0, 4.0), ""),
        ([1, 0, 0, 1], (1.0, 3.75), "No trial lies between 1 and 3.75; the curve there is the"),
        ([0, 1, 1, 0], (1.75, 3.0), "No trial lies above 3 or below 1.75; the curve there"),
        ([0, 0, 0, 0], (), "No trial has a lr; the whole curve is the surrogate's guess."),
    ],
)
def test_what_no_trial_supports_is_said(support: Any, seen: tuple[Any, ...], text: str) -> None:
    record = replace(effect("lr"), observed=(seen,), support=np.array(support, float))
    said = record.reading
    assert text in said
    assert ("guess" in said) is bool(text)


def test_many_gaps_are_counted() -> None:
    grid = tuple(np.arange(1.0, 12.0))
    odd = tuple(v for v in grid if v % 2)
    support = np.array([v % 2 for v in grid])
    flat = np.zeros((0, 11))
    record = replace(effect("lr"), values=(grid,), observed=(odd,), support=support, ice_mean=flat)
    said = replace(record, mean=np.arange(11.0)).reading
    assert "between 5 and 7 or in 2 narrower stretches; the curve there is" in said


def test_categories_that_nobody_tried_are_named() -> None:
    record = replace(effect("opt", "adam"), support=np.array([1.0, 2.0, 0.0, 0.0]))
    assert "No trial used b or c; what is shown there" in record.reading
    assert "No trial" not in effect("opt", "adam").reading


def test_single_configurations_that_differ_are_counted() -> None:
    curves = np.array([[0, 1, 2, 3], [1, 0, 2, 3], [2, 1, 0, 3], [3, 2, 1, np.nan]], dtype=float)
    record = replace(effect("lr"), ice_mean=curves)  # mean nearly best at its second and third
    assert "in 2 of 3 single configurations the best lr" in record.reading
    upside_down = replace(record, maximize=True)  # all are largest at 4, where the mean is
    assert "in 3 of 3 single" in upside_down.reading


def test_regions_say_where_the_effect_is_sure() -> None:
    found = card(analysis().cards, "regions-1")
    assert found.lead[0] == (
        "Where opt is adam, which holds the best trial, the effect of lr is known to ±0.12 instead "
        "of ±0.4 over the whole space."
    )
    assert "least sure where opt is sgd (±0.5, 1 trial)" in found.lead[1]
    assert found.table is not None
    assert found.table.columns == ("rule", "share of the space", "trials", "mean std", "best trial")
    assert found.table.rows == (
        ("everywhere", f"100.0{FIXED}%", "0", "±0.4", "here"),
        ("opt is sgd", f"50.0{FIXED}%", "1", "±0.5", ""),
        ("opt is adam", f"50.0{FIXED}%", "2", "±0.125", "here"),
    )
    assert found.verdict is not None
    assert found.verdict.sentence == (
        "Read this with caution: the region where opt is adam holds 2 trials. Run 3 trials there."
    )


def test_regions_that_bring_nothing_say_so() -> None:
    root, first, best = tree().tree
    worse = replace(best, confidence=0.6)
    same = replace(best, confidence=0.4001)
    nobody = replace(best, holds_best=False)
    assert "less precisely than" in tree(tree=(root, first, worse)).sentence
    assert "to ±0.6 against ±0.4" in tree(tree=(root, first, worse)).sentence
    assert "as well as over the whole space, to ±0.4." in tree(tree=(root, first, same)).sentence
    assert "leaves lr inactive" in tree(tree=(root, first, nobody), best_value=None).sentence
    assert (
        "best known where opt is adam" in tree(tree=(root, first, nobody), best_value=None).sentence
    )
    assert (
        "No split of the space was found"
        in tree(tree=(region(0, None, "all", 0.4, trials=9),)).sentence
    )
    nothing, sure = tree(tree=(root, first, same)), tree()
    assert (sure.gain, round(nothing.gain)) == (1 - 0.125 / 0.4, 0)
    first_alone = changed(analysis(), regions=(nothing, replace(nothing, parameter="opt"))).cards
    assert [c.id for c in first_alone if c.id.startswith("regions")] == ["regions-1"]
    assert card(first_alone, "regions-1").figure is None
    both = changed(analysis(), regions=(nothing, replace(sure, parameter="opt"))).cards
    assert [c.id for c in both if c.id.startswith("regions")] == ["regions-1", "regions-2"]


def test_regions_have_a_slider_and_a_tree() -> None:
    found = card(analysis().cards, "regions-1")
    (slider,) = found.controls
    assert (slider.name, slider.kind, slider.chosen) == ("splits", "slider", 1)
    assert slider.options == ((0, "0 splits"), (1, "1 split"))
    assert found.tree is not None
    assert [(n.id, n.parent, n.text, n.leaf_after) for n in found.tree.nodes] == [
        (0, None, "everywhere", (0,)),
        (1, 0, "opt is sgd", (1,)),
        (2, 0, "opt is adam", (1,)),
    ]
    assert (found.tree.splits, found.tree.chosen) == (1, 2)
    assert found.tree.nodes[1].detail == f"50.0{FIXED}% of the space, 1 trial, ±0.5"
    assert found.figure is not None
    shown = {
        t["meta"]["region"]: t["meta"]["when"]
        for t in found.figure["data"]
        if "region" in t.get("meta", {})
    }
    assert shown == {1: {"splits": [1]}, 2: {"splits": [1]}}
    unsplit = tree(tree=(region(0, None, "everywhere", 0.4),))
    assert card(changed(analysis(), regions=(unsplit,)).cards, "regions-1").controls == ()


def test_single_configurations_are_behind_a_switch() -> None:
    curves = np.array([[0.0, 1.0, 2.0, 3.0]])
    record = replace(effect("lr"), ice_mean=curves, ice_std=curves)
    found = card(changed(analysis(), effects=(record,)).cards, "effect-1")
    (switch,) = found.controls
    assert (switch.kind, switch.chosen) == ("switch", 0)
    assert found.figure is not None
    (single,) = [t for t in found.figure["data"] if t["name"] == "single configurations"]
    assert single["meta"] == {"when": {switch.name: [1]}}
    assert card(analysis().cards, "effect-1").controls == ()  # without such curves


def test_the_timeline_says_how_long_and_how_many() -> None:
    found = card(analysis().cards, "timeline")
    assert found.lead[0].startswith(
        f"The trials ran for 8 seconds, up to 2 at once; 62{FIXED}% of that time was spent in trials."
    )  # (4 + 2 + 4) / (2 * 8)
    assert "The median trial took 4 seconds, the longest, trial 0, 4 seconds." in found.lead[0]
    assert [f.value for f in found.facts] == ["8 seconds", "2", f"62{FIXED}%"]
    assert all(f.meaning for f in found.facts)
    assert "one at a time" in (replace(timeline(), lane=np.zeros(3, dtype=np.int64))).sentence


def test_how_trials_ended_is_said_with_the_reason() -> None:
    found = card(analysis(text="out of memory").cards, "endings")
    assert found.lead == (
        f"Of 4 trials, 3 complete (75{FIXED}%), 1 failed (25{FIXED}%). The most frequent reason given, "
        "1 time: out of memory.",
    )
    assert found.table is not None
    assert found.table.rows[-1] == ("reason: out of memory", "1", f"25.0{FIXED}%")
    fine = replace(trials(), state=("complete",) * 4, reason=(None,) * 4)
    assert "endings" not in [c.id for c in changed(analysis(), trials=fine).cards]


def test_spending_says_who_got_what() -> None:
    found = card(analysis().cards, "spending")
    assert found.section == "Search"
    assert found.lead == (
        "opt chooses among 2 models; adam got most, 4 of 6 trials. The best loss, 0.4, is of adam. "
        "There are 2 budgets from 1 to 9: 5 trials at the smallest, 1 at the largest.",
    )
    assert found.table is not None
    assert found.table.rows[1] == ("adam", "9", "1", "9", "0.4")
    assert found.table.rows[3] == ("sgd", "9", "0", "0", "–")
    alone = replace(
        spending(), choice=None, models=("all trials",), trials=np.array([[3, 1]]),
        seconds=np.array([[3.0, 9.0]]), best=np.array([[0.6, 0.4]]), path=np.ones((1, 3)),
    )  # fmt: skip
    assert card(changed(analysis(), spending=alone).cards, "spending").section == "Overview"
    neither = changed(analysis(), spending=Unavailable("spending", "nothing to divide")).cards
    assert "spending" not in [c.id for c in neither]


def test_runs_beside_each_other_are_compared_after_as_many_trials() -> None:
    found = card(analysis(text="first").cards, "comparison")
    assert found.lead[0].startswith(
        "After 2 trials, as many as each has, first has the lowest loss, 0.3, before second with 0.8. "
        "In the end second is ahead with 0.2, after 3 trials."
    )
    assert found.table is not None
    assert found.table.rows == (("first", "2", "0.3", "0.3"), ("second", "3", "0.2", "0.8"))
    assert (
        "shares the lowest loss, 0.3." in (replace(runs(), at_common=np.array([0.3, 0.3]))).sentence
    )


def test_all_trials_are_in_a_table() -> None:
    grid = card(analysis(text="oom").cards, "data").grid
    assert grid is not None
    assert grid.columns == ("trial", "state", "loss", "seconds", "lr", "opt", "momentum", "reason")
    assert grid.rows[1] == (1, "failed", None, 2.0, 0.2, "adam", None, "oom")
    assert grid.numeric == (True, False, True, True, True, False, True, False)


def test_very_many_trials_show_the_best_and_the_latest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperlens.sections.run.data.MOST_TRIALS", 2)
    found = card(analysis().cards, "data")
    assert found.grid is not None
    assert [row[0] for row in found.grid.rows] == [2, 3]
    assert "shown are the 1 best and the 1 latest" in found.lead[0]


def unexplained(found: Card) -> list[str]:
    """Numbers of a card that say neither what they mean nor how they were computed."""
    missing = [f.label for f in found.facts if not f.meaning]
    for table in (found.table, found.grid):
        if table is not None:
            said = table.meanings or ("",) * len(table.columns)
            columns = zip(table.columns, table.numeric, said, strict=True)
            missing += [name for name, numeric, meaning in columns if numeric and not meaning]
    if found.figure is not None:
        missing += [] if found.how else ["its figure"]
        missing += [] if found.csv or found.csv_of else ["its data"]
    return missing


def test_every_number_can_be_explained() -> None:
    """Headline numbers, columns of numbers and figures say what they are, on demand."""
    run = hl.minimize(
        lambda v: v["x"] ** 2 + v["y"],
        hl.Space.of([hl.Parameter(name, "float", -1, 1) for name in ("x", "y")]),
        trials=12,
        initial=8,
    )
    table = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [2.0, 3, 1, 5], "c": [3.0, 1, 2, 0]})
    shown = (
        *analysis().cards,
        *path_cards(hl.path(run), hl.trials(run)),
        why_card(hl.why(run, 10)),
        *comparison_cards(hl.compare(table)),
    )
    assert {found.id: unexplained(found) for found in shown if unexplained(found)} == {}


def test_what_to_do_next() -> None:
    advice = " ".join(what_next(analysis()))
    assert "1 of 4 trials failed" in advice
    fine = changed(analysis(), trials=replace(trials(), state=("complete",) * 4))
    assert "failed" not in " ".join(what_next(fine))
    assert "Search a changed space next: fix opt at a; narrow lr to " in " ".join(what_next(fine))
    untested = replace(effect("lr"), support=np.array([1.0, 0.0, 1.0, 1.0]))
    assert "Try lr near 2" in " ".join(what_next(changed(fine, effects=(untested,))))
    assert "Run 4 more trials: it is a tendency." in " ".join(what_next(fine))
    shares = fine[IMPORTANCE]
    assert isinstance(shares, hl.Importance)
    fine = changed(fine, importance=replace(shares, verdict=TRUST))
    assert "it is a tendency" not in " ".join(what_next(fine))
    assert "Go on: 100 more trials of a search by a model" in " ".join(what_next(fine))


def test_interactions_and_bias_have_their_numbers() -> None:
    found = analysis().cards
    pairs = card(found, "interactions")
    assert f"lr × opt: H 0.50, 30.0{FIXED}% of the variance" in pairs.lead[0]
    assert pairs.section == "Importance"
    assert pairs.table is not None
    assert pairs.table.rows[1] == ("lr × m", "0.90", "0.00 to 1.00", f"1.0{FIXED}%")
    search = card(found, "bias")
    assert search.section == "Search"
    assert search.lead == (
        "The search favoured some parts.",
        "Searched unevenly, by each parameter alone, most uneven first: lr.",
    )
    assert search.notes == ("From a part.",)
    assert search.table is not None
    assert search.table.rows[1:] == (("lr", "0.40", "0.002"), ("opt", "0.05", "0.600"))


def test_an_even_search_and_no_interaction_are_said() -> None:
    even = replace(searched(), parameter_p=np.array([0.5, 0.6]))
    assert "as evenly as chance allows" in even.reading
    alone = replace(together(), share=np.zeros(4), h=np.zeros(4))
    assert alone.sentence.startswith("No two parameters act together")


def test_new_cards_say_why_they_are_missing() -> None:
    why = "Tune at least two."
    missing = Unavailable("x", why, ("lr",))
    found = changed(
        analysis(), interactions=missing, bias=missing, regions=(missing,), effects=()
    ).cards
    for id in ("interactions", "bias", "regions-1"):
        assert card(found, id).problem == why
        assert card(found, id).figure is None


def test_json_has_every_record() -> None:
    made = json.loads(analysis().to_json())
    assert made["search"]["bias"]["path"] == [0.9, 0.5, 0.3]
    assert made["interactions"]["interactions"]["h"] == [0.5, 0.9, 0.1, 0.2]
    assert made["regions"]["regions"][0]["tree"][2]["mean"] == [20.0, 21.0, 22.0]
    assert made["regions"]["regions"][0]["record"] == "Regions"


def test_a_saved_analysis_is_drawn_again_without_the_run(tmp_path: Path) -> None:
    """The same bytes: by hand-made records, and by those of a run with proposals, beside another."""
    space = hl.Space.of([hl.Parameter(name, "float", -1, 1) for name in ("x", "y")])
    first, second = (
        hl.minimize(lambda v: v["x"] ** 2 + v["y"], space, trials=16, initial=8, seed=seed)
        for seed in (0, 1)
    )
    choices = Choices(trial=12, surrogate="gp")
    for made in (analysis(), analyse(first, choices, beside={"other": second})):
        path = tmp_path / "run.json"
        path.write_text(made.to_json())
        again = read_analysis(path)
        assert again.to_json() == made.to_json()
        assert (again.choices, again.version) == (made.choices, made.version)
        hl.report(path, tmp_path / "again.html")
        assert (tmp_path / "again.html").read_text() == page(made)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"hyperlens": "1"}', '"x"', "[" * 100_000, "\ud800"]
)
def test_what_is_no_saved_analysis_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(SourceError, match=r"run\.json"):
        read_analysis(tmp_path / "run.json")
    with pytest.raises(SourceError, match="cannot be read"):
        read_analysis(tmp_path)


def test_pair_reads_the_cell_of_the_best() -> None:
    grid = {"parameters": ("lr", "opt"), "values": ((1.0, 2.0), ("a", "b"))}
    flags = {"log": (False, False), "numeric": (True, False), "best_values": None}
    record = replace(effect("lr"), **grid, **flags, observed=((1.0,), ("a",)))  # type: ignore[arg-type]
    assert "best with lr near 1 and opt = b (mean 0.5)" in record.sentence


def test_method_names_version_seed_and_quality() -> None:
    method = card(analysis().cards, "method")
    assert "Hyperlens 1.2.3, seed 7" in method.notes[-1]
    assert "16 trees" in " ".join(method.lead)
    assert method.lead[-1].startswith(
        "The numbers come from the random forest, which was asked for"
    )
    assert method.table is not None
    assert method.table.rows[1] == ("Gaussian process", "trust", "0.90", "0.90", "–", "4", "2")


def test_what_is_unavailable_says_why_and_the_rest_comes() -> None:
    missing = Unavailable("Importance", "Only 3 trials: run at least 10.")
    found = changed(analysis(), importance=missing).cards
    assert card(found, "importance").problem == "Only 3 trials: run at least 10."
    assert card(found, "effect-1").figure is not None
    shown = Page(report_html(found, "t"))
    assert "Only 3 trials: run at least 10." in shown.text
    assert len(shown.all("figure")) == sum(len(c.panels) + bool(c.figure) for c in found)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123456, "0.1235"), (123456.7, "123457"), (3, "3"), (float("nan"), "–"), (True, "True")],
)
def test_numbers_for_people(value: Any, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (1e-6, "under 0.1 %"), (0.0312, "3.1 %"), (0.456, "46 %")]
)
def test_shares_for_people(share: float, text: str) -> None:
    assert words.percent(share) == text.replace(" %", f"{FIXED}%")
