"""One number, one value: wherever a result is shown or stored, to the last bit."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.trial import FrozenTrial
from test_cli import good, journal, trial

import hyperlens as hl
from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.importance.importance import Importance
from hyperlens.runs.history import History
from hyperlens.sections.advice import on_what_mattered
from hyperlens.sections.cards.figures import as_plain

SHARES = ("share", "std", "low", "high")
CURVE = ("mean", "std", "low", "high")
RANGES: dict[str, BaseDistribution] = {
    "lr": FloatDistribution(1e-5, 1, log=True),
    "wd": FloatDistribution(0, 1),
    "kind": CategoricalDistribution(["a", "b", "c"]),
}


def trials() -> list[FrozenTrial]:
    """A log scale, an interaction and a category, maximised."""
    rng = np.random.default_rng(8)
    found = []
    for k in range(45):
        lr, wd, kind = float(10 ** rng.uniform(-5, 0)), float(rng.random()), "abc"[k % 3]
        score = 2 * wd * (kind == "a") - (math.log10(lr) + 3) ** 2 / 8
        found.append(trial({"lr": lr, "wd": wd, "kind": kind}, RANGES, score))
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("same") / "run.log"
    return journal(path, trials(), directions=["maximize"])


@pytest.fixture(scope="module")
def history(source: Path) -> History:
    return hl.read(source)


@pytest.fixture(scope="module")
def importance(history: History) -> Importance:
    return hl.importance(history)


@pytest.fixture(scope="module")
def explained(source: Path) -> tuple[str, dict[str, Any], str]:
    """What `explain` printed, its JSON file, and its HTML file."""
    files = source.with_name("out.json"), source.with_name("report.html")
    said = good("explain", source, "--json", files[0], "--html", files[1])
    return said.out, json.loads(files[0].read_text()), files[1].read_text()


def embedded(page: str) -> list[Any]:
    """The figures of a report, in order."""
    found = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    return [json.loads(text) for text in found]


def columns(text: str) -> dict[str, list[str]]:
    """A CSV by its columns."""
    header, *rows = csv.reader(io.StringIO(text))
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def subjects(found: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [tuple(record["parameters"]) for record in found]


def test_importance_as_frame_json_and_csv(source: Path, importance: Importance) -> None:
    frame, stored = importance.frame, json.loads(importance.to_json())
    printed = good("importance", source, "--among", "all", "--format", "json").out
    assert printed == importance.to_json() + "\n"
    listed = columns(good("importance", source, "--among", "all", "--format", "csv").out)
    assert list(frame["parameters"]) == list(importance.parameters)
    assert subjects([{"parameters": p} for p in stored["parameters"]]) == list(
        importance.parameters
    )
    assert listed["parameters"] == [":".join(p) for p in importance.parameters]
    for name in SHARES:
        numbers = getattr(importance, name).tolist()
        assert all(math.isfinite(x) for x in numbers)
        assert frame[name].tolist() == numbers
        assert stored[name] == numbers
        assert [float(x) for x in listed[name]] == numbers


def test_importance_in_an_explanation(
    importance: Importance, explained: tuple[str, dict[str, Any], str]
) -> None:
    printed, stored, page = explained
    assert stored["importance"]["importance"] == json.loads(importance.to_json())
    rows = {line.split("  ")[0]: line for line in printed.splitlines()}
    for k, parameters in enumerate(importance.parameters):
        share, low, high = (100 * getattr(importance, n)[k] for n in ("share", "low", "high"))
        row = rows[" × ".join(parameters)]
        assert f" {share:.1f} % " in row
        assert f" {low:.1f} % to {high:.1f} % " in row
        cells = f"{share:.1f}\N{NO-BREAK SPACE}%"
        assert re.search(rf'<tr><th scope="row">{row.split("  ")[0]}</th>.*?{cells}.*?</tr>', page)


def test_importance_in_figures(
    history: History, importance: Importance, explained: tuple[str, dict[str, Any], str]
) -> None:
    both = hl.importances(history)
    assert as_plain(both.plot()) in embedded(explained[2])
    figure = json.loads(importance.plot().to_json())
    drawn = {
        name: (x, std, low, high)
        for trace in figure["data"]
        if trace["type"] == "bar"
        for name, x, (std, low, high) in zip(
            trace["y"], trace["x"], trace["customdata"], strict=True
        )
    }
    numbers = zip(*(getattr(importance, name).tolist() for name in SHARES), strict=True)
    names = [" × ".join(parameters) for parameters in importance.parameters]
    assert drawn == dict(zip(names, numbers, strict=True))


@pytest.mark.parametrize("surrogate", ["gp", "forest"])
@pytest.mark.parametrize("parameters", [("lr",), ("kind",), ("wd", "kind")])
def test_effects_as_frame_json_csv_and_figure(
    parameters: tuple[str, ...], surrogate: Any, source: Path, history: History
) -> None:
    record = hl.effect(history, parameters, surrogate=surrogate, grid=6)
    words = ["effect", source, *parameters, "--surrogate", surrogate, "--grid", "6"]
    assert good(*words, "--format", "json").out == record.to_json() + "\n"
    frame, listed = record.frame, columns(good(*words, "--format", "csv").out)
    points = [list(map(str, at)) for at in zip(*product(*record.values), strict=True)]
    heads = ["value"] if len(parameters) == 1 else list(parameters)
    assert [listed[head] for head in heads] == points
    assert list(frame.columns) == list(listed) == [*heads, *CURVE]
    for name in CURVE:
        numbers = getattr(record, name).tolist()
        assert frame[name].tolist() == numbers
        assert [float(x) for x in listed[name]] == numbers
    assert np.array_equal(drawn_mean(record), record.mean)


def drawn_mean(record: Effect) -> Any:
    """The mean out of a curve (y), points (x) or a map (z, whose rows run along y)."""
    traces = json.loads(record.plot().to_json())["data"]
    (mean,) = [trace for trace in traces if trace.get("name", "").startswith("mean")]
    if "z" in mean:
        return np.array(mean["z"]).T.ravel()
    return np.array(mean["y"] if record.numeric[0] else mean["x"])


def test_the_band_of_a_curve_is_drawn(history: History) -> None:
    record = hl.effect(history, "lr", grid=6)
    traces = json.loads(record.plot().to_json())["data"]
    drawn = [trace["y"] for trace in traces]
    assert record.low.tolist() in drawn
    assert record.high.tolist() in drawn
    assert all(trace["x"] == list(record.values[0]) for trace in traces[1:4])


def test_effects_in_an_explanation(
    history: History, importance: Importance, explained: tuple[str, dict[str, Any], str]
) -> None:
    _, stored, page = explained
    singles = [p for p in importance.parameters if len(p) == 1]
    assert subjects(stored["effects"]["effects"]) == singles
    assert stored["pairs"]["pairs"]
    shown = [*stored["effects"]["effects"], *stored["pairs"]["pairs"]]
    figures = embedded(page)
    for kept in shown:
        record = hl.effect(history, kept["parameters"], grid=max(map(len, kept["values"])))
        assert kept == json.loads(record.to_json())
        assert as_plain(record.plot()) in figures


def test_the_overview_is_one(
    source: Path, history: History, explained: tuple[str, dict[str, Any], str]
) -> None:
    printed, stored, page = explained
    record = hl.overview(history)
    scores = [t.values[0] for t in trials()]
    assert record.best == max(scores)
    assert record.cost.tolist() == record.frame["cost"].tolist() == scores
    assert record.trace.tolist() == np.maximum.accumulate(scores).tolist()
    assert stored["overview"]["overview"] == json.loads(record.to_json())
    figure = json.loads(record.plot().to_json())
    assert as_plain(record.plot()) in embedded(page)
    assert [trace["y"] for trace in figure["data"]] == [
        scores,
        record.trace.tolist(),
        [max(scores)],
    ]
    assert f"{max(scores):.4g} in trial {scores.index(max(scores))}" in printed


def test_qualities_are_those_of_the_fits(
    history: History, importance: Importance, explained: tuple[str, dict[str, Any], str]
) -> None:
    printed, stored, page = explained
    fits = hl.leader(history).candidates
    assert {fitted.name for fitted in fits} == {"additive", "gp", "forest"}
    for fitted, kept in zip(fits, stored["method"]["surrogates"]["qualities"], strict=True):
        quality = fitted.quality
        assert (kept["surrogate"], kept["r2"]) == (quality.surrogate, quality.r2)
        assert kept["coverage"] == quality.coverage
        assert quality.sentence in page
    assert importance.quality == fits[0].quality
    said = on_what_mattered(importance.verdict)
    assert said in " ".join(printed.split())
    assert said in page
    assert hl.leader(history).sentence in page


def test_a_parameter_may_be_called_as_a_column_is(tmp_path: Path) -> None:
    """Two parameters named mean and std: neither hides a number, nor is hidden by one."""
    ranges: dict[str, BaseDistribution] = {n: FloatDistribution(0, 1) for n in ("mean", "std")}
    rows = np.random.default_rng(1).random((15, 2)).tolist()
    found = [trial({"mean": a, "std": b}, ranges, a + b) for a, b in rows]
    path = journal(tmp_path / "names.log", found)
    record = hl.effect(hl.read(path), ["mean", "std"], grid=3)
    frame = record.frame
    assert frame.iloc[:, 0].tolist() == [0.0] * 3 + [0.5] * 3 + [1.0] * 3
    assert frame["mean"].tolist() == record.mean.tolist()
    assert len(frame.columns) == 6
    table = good("effect", path, "mean", "std", "--grid", "3").out.splitlines()
    rows_of = [line.split()[:2] for line in table]
    head = rows_of.index(["mean", "std"])
    assert rows_of[head + 1 : head + 4] == [["0", "0"], ["0", "0.5"], ["0", "1"]]
