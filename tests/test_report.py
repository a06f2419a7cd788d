"""The report says what the records say, shows user text as text, and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from views import region, searched, together, tree

from hyperlens.explain.effects import Effect
from hyperlens.explain.fanova import Importance
from hyperlens.explain.overview import Overview
from hyperlens.reports import sentences
from hyperlens.reports.analysis import Analysis, Unavailable
from hyperlens.reports.cards import Card, cards
from hyperlens.reports.html import embedded, render
from hyperlens.surrogates.quality import Quality

EVIL = ("<script>alert(1)</script>", "</script>", '"><img src=x onerror=alert(1)>')
LOW = Quality("forest", 0.4, 0.6, 0.8, 4, 2, "caution", "Read it as a tendency.")
HIGH = Quality("process", 0.9, 0.9, float("nan"), 4, 2, "trust", "It predicts well.")
FIXED = sentences.FIXED


def effect(name: str, choice: str | None = None, note: str = "a note") -> Effect:
    """A curve that is best (smallest) at 2, or points that are best at `choice`."""
    mean = np.array([1.0, 0.5, 0.52, 2.5])
    values = (1.0, 2.0, 3.0, 4.0) if choice is None else ("a", choice, "b", "c")
    seen: tuple[Any, ...] = (1.5, 2.5, None) if choice is None else (choice, "a", choice)
    return Effect(
        objective="loss",
        maximize=False,
        parameters=(name,),
        values=(values,),
        log=(False,),
        numeric=(choice is None,),
        mean=mean,
        std=np.full(4, 0.1),
        low=mean - 0.2,
        high=mean + 0.2,
        pointwise=np.full(4, 0.1),
        joint=np.full(4, 0.05),
        band="pointwise",
        level=0.95,
        surrogate="process",
        observed=(seen,),
        observed_cost=np.array([1.0, 0.4, 0.7]),
        support=np.ones(4),
        ice_mean=np.empty((0, 4)),
        ice_std=np.empty((0, 4)),
        incumbent=(seen[0],),
        quality=HIGH,
        notes=(note,),
    )


def analysis(name: str = "lr", choice: str = "adam", text: str = "plain") -> Analysis:
    overview = Overview(
        source=text,
        objective="loss",
        maximize=False,
        states={"complete": 3, "failed": 1},
        best=0.4,
        best_trial=2,
        best_values={name: 0.1, "opt": choice},
        number=np.array([0, 2, 3]),
        cost=np.array([1.0, 0.4, 0.7]),
        trace=np.array([1.0, 0.4, 0.4]),
        parameters=(name, "opt", "momentum"),
        conditions={"momentum": f"opt is {choice}"},
        constants={"epochs": 9},
        notes=(text,),
    )
    importance = Importance(
        objective="loss",
        parameters=((name,), (name, "opt"), ("opt",)),
        share=np.array([0.6, 0.2, 0.1]),
        std=np.array([0.1, 0.1, 0.1]),
        low=np.array([0.5, 0.1, 0.05]),
        high=np.array([0.7, 0.3, 0.2]),
        surrogate="forest",
        cap=None,
        witness_quality=None,
        rank_low=np.array([1.0, 2.0, 3.0]),
        rank_high=np.array([1.0, 2.0, 3.0]),
        witness=np.array([0.5, 0.2, 0.1]),
        witness_low=np.array([0.5, 0.2, 0.1]),
        witness_high=np.array([0.5, 0.2, 0.1]),
        rest=0.1,
        interval=0.9,
        order=2,
        trees=16,
        trials=3,
        seed=7,
        quality=LOW,
        notes=(text,),
    )
    return Analysis(
        overview=overview,
        qualities=(LOW, HIGH),
        importance=importance,
        effects=(effect(name, note=text), effect("opt", choice), Unavailable("momentum", text)),
        regions=(tree(name, f"opt is {choice}"),),
        pairs=(),
        interactions=together(name),
        bias=searched(name),
        warnings=(text, "a warning"),
        version="1.2.3",
        seed=7,
    )


class Page(HTMLParser):
    """What a browser would see: tags with attributes, texts, scripts, rows of tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self._in: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._in and self._in.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._in and self._in[-1] == "script":
            self.scripts[-1] += data
        elif not self._in or self._in[-1] != "style":
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@cache
def page() -> Page:
    return Page(render(cards(analysis()), "A title"))


def card(found: tuple[Card, ...], id: str) -> Card:
    (chosen,) = [c for c in found if c.id == id]
    return chosen


def test_cards_come_in_order() -> None:
    found = cards(replace(analysis(), pairs=(Unavailable("lr × opt", "too few trials"),)))
    ids = [c.id for c in found]
    assert ids == [
        "summary",
        "trace",
        "importance",
        "interactions",
        "effect-1",
        "effect-2",
        "effect-3",
        "regions-1",
        "pair-1",
        "bias",
        "method",
    ]


def test_summary_says_how_the_run_went() -> None:
    summary = card(cards(analysis()), "summary")
    lead = " ".join(summary.lead)
    assert "4 trials: 3 complete, 1 failed." in lead
    assert "lowest loss is 0.4, reached by trial 2" in lead
    interval = f"(90{FIXED}% interval 50{FIXED}% to 70{FIXED}%)"
    assert f"lr mattered most: 60{FIXED}% of the variance {interval}" in lead
    assert summary.qualities == (LOW, HIGH)
    assert summary.notes == ("plain", "a warning")
    assert summary.table is not None
    assert summary.table.rows == (
        ("lr", "0.1", ""),
        ("opt", "adam", ""),
        ("momentum", "inactive", "only when opt is adam"),
        ("epochs", "9", "constant"),
    )
    assert [f.value for f in summary.facts] == ["0.4", "4", "lr", "caution"]


def test_trace_says_what_came_after_the_best() -> None:
    (lead,) = card(cards(analysis()), "trace").lead
    assert "from 1 in the first trial to 0.4 in trial 2" in lead
    assert "The 1 analysed trial after it brought no improvement." in lead


def test_importance_table_has_the_numbers() -> None:
    found = card(cards(analysis()), "importance")
    assert found.table is not None
    assert found.table.rows[1] == (
        "lr × opt",
        f"20.0{FIXED}%",
        f"± 10.0{FIXED}%",
        f"10.0{FIXED}% to 30.0{FIXED}%",
        "2",
    )
    assert f"10{FIXED}% of the variance is left" in found.lead[1]
    assert "more than 2 parameters" in found.lead[1]
    assert found.qualities == (LOW,)


def test_curve_says_where_the_best_values_lie() -> None:
    lead, _ = card(cards(analysis()), "effect-1").lead
    assert "best with lr near 2 (mean 0.5)" in lead
    assert "Values from 2 to 3 are nearly as good." in lead  # 0.52 is within 0.2 of 0.5, 1.0 is not
    assert "from 0.3 to 0.7, 0.4 wide, while the mean changes by 2 in all" in lead
    assert "wider than the effect" not in lead
    assert "1 of 2 trials lies there" in lead  # 2.5 does, 1.5 does not, one is inactive


def test_curve_without_support_or_at_the_edge_says_so() -> None:
    record = effect("lr")
    nobody = sentences.how_it_acts(replace(record, observed=((1.5, 1.6, 1.7),)))
    assert "None of 3 trials lies there" in nobody
    rising = sentences.how_it_acts(replace(record, maximize=True))
    assert "near 4 " in rising
    assert "upper end of its range" in rising
    wide = sentences.how_it_acts(replace(record, low=record.mean - 5))
    assert "the band is wider than the effect" in wide
    flat = sentences.how_it_acts(replace(record, mean=np.ones(4)))
    assert "expects the same loss for every lr" in flat


def test_categories_say_the_best_and_the_worst() -> None:
    lead, _ = card(cards(analysis()), "effect-2").lead
    assert "best with opt = adam (mean 0.5)" in lead
    assert "worst with c (2.5)" in lead
    assert "2 of 3 trials used adam." in lead


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
    said = sentences.what_may_be_read(record)
    assert text in said
    assert ("guess" in said) is bool(text)


def test_many_gaps_are_counted() -> None:
    grid = tuple(np.arange(1.0, 12.0))
    odd = tuple(v for v in grid if v % 2)
    support = np.array([v % 2 for v in grid])
    flat = np.zeros((0, 11))
    record = replace(effect("lr"), values=(grid,), observed=(odd,), support=support, ice_mean=flat)
    said = sentences.what_may_be_read(replace(record, mean=np.arange(11.0)))
    assert "between 5 and 7 or in 2 narrower stretches; the curve there is" in said


def test_categories_that_nobody_tried_are_named() -> None:
    record = replace(effect("opt", "adam"), support=np.array([1.0, 2.0, 0.0, 0.0]))
    assert "No trial used b or c; what is shown there" in sentences.what_may_be_read(record)
    assert "No trial" not in sentences.what_may_be_read(effect("opt", "adam"))


def test_single_configurations_that_differ_are_counted() -> None:
    curves = np.array([[0, 1, 2, 3], [1, 0, 2, 3], [2, 1, 0, 3], [3, 2, 1, np.nan]], dtype=float)
    record = replace(effect("lr"), ice_mean=curves)  # mean nearly best at its second and third
    assert "in 2 of 3 single configurations the best lr" in sentences.what_may_be_read(record)
    upside_down = replace(record, maximize=True)  # all are largest at 4, where the mean is
    assert "in 3 of 3 single" in sentences.what_may_be_read(upside_down)


def test_regions_say_where_the_effect_is_sure() -> None:
    found = card(cards(analysis()), "regions-1")
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
        ("opt is adam", f"50.0{FIXED}%", "2", "±0.12", "here"),
    )
    assert found.qualities[0].sentence == "It predicts well."


def test_regions_that_bring_nothing_say_so() -> None:
    root, first, best = tree().tree
    worse = replace(best, confidence=0.6)
    same = replace(best, confidence=0.4001)
    nobody = replace(best, holds_incumbent=False)
    say = sentences.where_it_is_sure
    assert "less surely than" in say(tree(tree=(root, first, worse)))
    assert "to ±0.6 against ±0.4" in say(tree(tree=(root, first, worse)))
    assert "as well as over the whole space, to ±0.4." in say(tree(tree=(root, first, same)))
    assert "leaves lr inactive" in say(tree(tree=(root, first, nobody), incumbent=None))
    assert "surest where opt is adam" in say(tree(tree=(root, first, nobody), incumbent=None))
    assert "No split of the space was found" in say(tree(tree=(region(0, None, "all", 0.4),)))


def test_a_region_can_be_chosen() -> None:
    choice = card(cards(analysis()), "regions-1").choice
    assert choice is not None
    assert choice.options == ((1, "opt is sgd"), (2, "opt is adam"))
    assert choice.chosen == 2
    (select,) = page().all("select")
    assert {"for": select["id"]} in page().all("label")
    assert page().all("option") == [{"value": "1"}, {"value": "2", "selected": None}]
    figure = card(cards(analysis()), "regions-1").figure
    assert figure is not None
    drawn = {t["meta"]["region"] for t in figure["data"] if "meta" in t}
    assert drawn == {value for value, _ in choice.options}
    unsplit = tree(tree=(region(0, None, "everywhere", 0.4),))
    alone = cards(replace(analysis(), regions=(unsplit,)))
    assert card(alone, "regions-1").choice is None


def test_the_script_knows_what_the_figures_call_their_looks() -> None:
    script = page().scripts[-1]
    assert 'trace.meta.region === region ? "on" : "off"' in script
    assert 'querySelectorAll(".choice")' in script


def test_interactions_and_bias_have_their_numbers() -> None:
    found = cards(analysis())
    pairs = card(found, "interactions")
    assert f"lr × opt: H 0.5, 30{FIXED}% of the variance" in pairs.lead[0]
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
    assert search.table.rows == (("lr", "0.40", "0.002"), ("opt", "0.05", "0.600"))


def test_an_even_search_and_no_interaction_are_said() -> None:
    even = replace(searched(), parameter_p=np.array([0.5, 0.6]))
    assert "as evenly as chance allows" in sentences.where_it_looked(even)
    alone = replace(together(), share=np.zeros(4), h=np.zeros(4))
    assert sentences.what_acts_together(alone).startswith("No two parameters act together")


def test_new_cards_say_why_they_are_missing() -> None:
    why = "Tune at least two."
    missing = Unavailable("x", why)
    found = cards(
        replace(analysis(), interactions=missing, bias=missing, regions=(missing,), effects=())
    )
    for id in ("interactions", "bias", "regions-1"):
        assert card(found, id).problem == why
        assert card(found, id).figure is None


def test_json_has_every_record() -> None:
    made = json.loads(analysis().to_json())
    assert made["bias"]["path"] == [0.9, 0.5, 0.3]
    assert made["interactions"]["h"] == [0.5, 0.9, 0.1, 0.2]
    assert made["regions"][0]["tree"][2]["mean"] == [20.0, 21.0, 22.0]
    assert made["regions"][0]["record"] == "Regions"


def test_pair_reads_the_cell_of_the_best() -> None:
    grid = {"parameters": ("lr", "opt"), "values": ((1.0, 2.0), ("a", "b"))}
    flags = {"log": (False, False), "numeric": (True, False), "incumbent": None}
    record = replace(effect("lr"), **grid, **flags, observed=((1.0,), ("a",)))  # type: ignore[arg-type]
    assert "best with lr near 1 and opt = b (mean 0.5)" in sentences.how_it_acts(record)


def test_method_names_version_seed_and_quality() -> None:
    method = card(cards(analysis()), "method")
    assert "Hyperlens 1.2.3, seed 7" in method.notes[0]
    assert "16 trees" in " ".join(method.lead)
    assert method.table is not None
    assert method.table.rows[1] == ("process", "trust", "0.9", "0.9", "–", "4", "2")


def test_what_is_unavailable_says_why_and_the_rest_comes() -> None:
    missing = Unavailable("Importance", "Only 3 trials: run at least 10.")
    found = cards(replace(analysis(), importance=missing))
    assert card(found, "importance").problem == "Only 3 trials: run at least 10."
    assert card(found, "effect-1").figure is not None
    shown = Page(render(found, "t"))
    assert "Only 3 trials: run at least 10." in shown.text
    assert len(shown.all("figure")) == 6


@pytest.mark.parametrize("evil", EVIL)
def test_planted_markup_stays_text(evil: str) -> None:
    planted = Page(render(cards(analysis(name=evil, choice=evil + "2", text=evil)), evil))
    harmless = page()
    assert [t for t, _ in planted.tags] == [t for t, _ in harmless.tags]
    assert len(planted.scripts) == 7 + 2  # figures, Plotly, ours
    assert evil in planted.text
    for _, attributes in planted.tags:
        assert not any(a.startswith("on") for a in attributes)
    for text in planted.scripts[:7]:
        assert "<" not in text
        json.loads(text)


def test_nothing_is_loaded() -> None:
    for _, attributes in page().tags:
        assert "src" not in attributes
        href = attributes.get("href")
        assert href is None or href.startswith("#")
    style = re.search(r"<style>(.*?)</style>", render((), ""), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_policy_lets_only_the_two_scripts_run() -> None:
    (policy,) = [
        m["content"] for m in page().all("meta") if m.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert "default-src 'none'" in policy
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    run = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in page().scripts]
    assert allowed == run[-2:]
    assert "script-src 'unsafe-inline'" not in policy


def test_links_find_their_targets_and_ids_are_unique() -> None:
    ids = [a["id"] for _, a in page().tags if "id" in a]
    assert len(ids) == len(set(ids))
    for link in page().all("a"):
        assert str(link["href"]).removeprefix("#") in ids


def test_figures_and_tables_can_be_read_without_seeing() -> None:
    plots = [d for d in page().all("div") if d.get("role") == "img"]
    assert len(plots) == 7
    assert "best with lr near 2" in str(plots[3]["aria-label"])
    assert all(h.get("scope") in ("row", "col") for h in page().all("th"))
    assert len(page().all("h1")) == 1


def test_figures_in_the_page_are_those_of_the_cards() -> None:
    figures = [c.figure for c in cards(analysis()) if c.figure]
    assert [json.loads(s) for s in page().scripts[:-2]] == figures


def test_the_same_cards_give_the_same_page() -> None:
    first = render(cards(analysis()), "A title")
    assert render(cards(analysis()), "A title") == first


def test_embedded_json_cannot_leave_its_element() -> None:
    value = "</script><!--&\u2028\u2029\ud800"
    text = embedded(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_text_that_is_no_unicode_can_be_written() -> None:
    render((Card("summary", "Summary", "bad \ud800"),), "t").encode("utf-8")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123456, "0.1235"), (123456.7, "123457"), (3, "3"), (float("nan"), "–"), (True, "True")],
)
def test_numbers_for_people(value: Any, text: str) -> None:
    assert sentences.number(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (1e-6, "under 0.1 %"), (0.0312, "3.1 %"), (0.456, "46 %")]
)
def test_shares_for_people(share: float, text: str) -> None:
    assert sentences.percent(share) == text.replace(" %", f"{FIXED}%")
