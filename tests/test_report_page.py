"""The report as one file: user text stays text, nothing is loaded, everything can be reached."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from analyses import Page, analysis

from hyperlens.front.templates import environment
from hyperlens.reports.render import card_html, report_html
from hyperlens.sections.cards.card import Card

EVIL = ("<script>alert(1)</script>", "</script>", '"><img src=x onerror=alert(1)>')


@cache
def page() -> Page:
    return Page(report_html(analysis().cards, "A title"))


@pytest.mark.parametrize("evil", EVIL)
def test_planted_markup_stays_text(evil: str) -> None:
    planted = Page(report_html(analysis(name=evil, choice=evil + "2", text=evil).cards, evil))
    harmless = page()
    assert [t for t, _ in planted.tags] == [t for t, _ in harmless.tags]
    assert len(planted.scripts) == len(harmless.scripts)
    assert evil in planted.text
    for _, attributes in planted.tags:
        assert not any(a.startswith("on") for a in attributes)
    for text in planted.scripts[:-3]:
        assert "<" not in text
        json.loads(text)


def test_nothing_is_loaded() -> None:
    for _, attributes in page().tags:
        assert "src" not in attributes
        href = attributes.get("href")
        assert href is None or href.startswith("#")
    style = re.search(r"<style>(.*?)</style>", report_html((), ""), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_policy_lets_only_our_scripts_run() -> None:
    (policy,) = [
        m["content"] for m in page().all("meta") if m.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert "default-src 'none'" in policy
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    *_, packed, front, loader = page().scripts
    plotly = gzip.decompress(base64.b64decode(packed)).decode()
    run = [hashlib.sha256(script.encode()).digest() for script in (plotly, front, loader)]
    assert allowed == [base64.b64encode(digest).decode() for digest in run]
    assert "script-src 'unsafe-inline'" not in policy


def test_links_find_their_targets_and_ids_are_unique() -> None:
    ids = [a["id"] for _, a in page().tags if "id" in a]
    assert len(ids) == len(set(ids))
    for link in page().all("a"):
        assert str(link["href"]).removeprefix("#") in ids


def _figures() -> list[dict[str, Any]]:
    """In the order of the page: small ones of a card before its own."""
    found = [f for c in analysis().cards for f in (*(p.figure for p in c.panels), c.figure)]
    return [figure for figure in found if figure]


def test_figures_and_tables_can_be_read_without_seeing() -> None:
    plots = [d for d in page().all("div") if d.get("role") == "img"]
    assert len(plots) == len(_figures())
    assert any("best with lr near 2" in str(p["aria-label"]) for p in plots)
    assert all(h.get("scope") in ("row", "col") for h in page().all("th"))
    assert len(page().all("h1")) == 1


def test_figures_in_the_page_are_those_of_the_cards() -> None:
    figures = _figures()
    shown = [json.loads(s) for s in page().scripts[:-3]]
    assert [s for s in shown if isinstance(s, dict) and "layout" in s] == figures
    numbers = [c.csv for c in analysis().cards if c.csv]
    assert [s for s in shown if isinstance(s, str)] == numbers


def test_the_same_cards_give_the_same_page() -> None:
    first = report_html(analysis().cards, "A title")
    assert report_html(analysis().cards, "A title") == first


def test_embedded_json_cannot_leave_its_element() -> None:
    value = "</script><!--&\u2028\u2029\ud800"
    text = environment().from_string("{{ value | tojson }}").render(value=value)
    assert not set("<>&'\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_text_that_is_no_unicode_can_be_written() -> None:
    report_html((Card("summary", "Summary", "bad \ud800"),), "t").encode("utf-8")


def test_controls_have_labels_and_wait_for_the_script() -> None:
    labelled = {label.get("for") for label in page().all("label")}
    chosen = [*page().all("select"), *(i for i in page().all("input") if i.get("type") != "radio")]
    assert chosen
    assert {c["id"] for c in chosen} <= labelled
    groups = [d for d in page().all("div") if d.get("class") == "controls"]
    assert groups
    assert all("hidden" in g for g in groups)
    sliders = [i for i in page().all("input") if i.get("type") == "range"]
    assert [(s["min"], s["max"], s["value"]) for s in sliders] == [("0", "1", "1")]


def test_sentences_on_demand_open_what_they_name() -> None:
    asides = {s["id"] for s in page().all("span") if "popover" in s}
    targets = [b["popovertarget"] for b in page().all("button") if "popovertarget" in b]
    assert len(targets) > 20
    assert set(targets) == asides


def test_only_a_live_page_grows_regions_by_hand() -> None:
    (found,) = [c for c in analysis().cards if c.id == "regions-1"]
    assert "data-hand" not in card_html(found)
    hands = [b for b in Page(card_html(found, live=True)).all("button") if "data-hand" in b]
    assert [(b["data-hand"], b["data-region"]) for b in hands] == [
        ("merge", "0"),
        ("split", "1"),
        ("split", "2"),
    ]


def test_a_verdict_and_a_note_are_said_once() -> None:
    told = next(card for card in analysis().cards if card.verdict is not None)
    verdict = told.verdict
    assert verdict is not None
    other = replace(verdict, reason="something else", remedy="Wait")
    cards = [
        Card(id="a", title="A", notes=("One.", "Two."), verdict=verdict),
        Card(id="b", title="B", notes=("Two.", "Three."), verdict=verdict),
        Card(id="c", title="C", verdict=other),
    ]
    html = report_html(cards, "Repeats")
    assert html.count(verdict.sentence) == html.count(other.sentence) == 1
    assert [html.count(f"<li>{note}</li>") for note in ("One.", "Two.", "Three.")] == [1, 1, 1]
    assert html.count('class="badge') == 3
    assert '<a href="#a">why</a>' in html


def test_captions_show_what_is_chosen_first() -> None:
    (found,) = [c for c in analysis().cards if c.id == "regions-1"]
    captions: Any = (({"splits": (0,)}, "none yet"), ({"splits": (1,)}, "one by now"))
    shown = Page(card_html(replace(found, captions=captions)))
    assert [("hidden" in p) for p in shown.all("p") if "data-when" in p] == [True, False]
