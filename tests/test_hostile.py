"""Input that means no good, or that nobody thought of: a record or a sentence, in time and memory."""

from __future__ import annotations

import gzip
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from odd_studies import REMEMBERED, WRONG_ONCE, analyses, arguments, attack, case, study

import hyperlens as hl
from hyperlens.cash.data.column_kinds import as_dates
from hyperlens.cash.models.preprocessing import Encoder, as_days
from hyperlens.importers import extent, files
from hyperlens.record import as_csv


@pytest.mark.parametrize("number", [*range(0, 290, 5), *REMEMBERED])
def test_any_analysis_of_any_odd_study(number: int) -> None:
    assert attack(*case(number)) is None


@pytest.mark.parametrize(("name", "seed"), WRONG_ONCE.items())
def test_what_20000_cases_found(name: str, seed: int) -> None:
    """Costs of 1e308 in both directions; no parameter at all."""
    assert attack(name, seed) is None


def test_every_analysis_can_be_attacked() -> None:
    """A new one that must be given something is named in `odd_studies.arguments`."""
    assert len(analyses()) > 25
    for function in analyses().values():
        arguments(function, study(0))


def named(*names: str, trials: int = 12) -> hl.History:
    space = hl.Space.of([hl.Parameter(name, "float", 0, 1) for name in names])
    values = np.random.default_rng(0).random((trials, len(names)))
    drawn = [
        hl.Trial(k, dict(zip(names, map(float, row), strict=True)), (float(row.sum()),))
        for k, row in enumerate(values)
    ]
    return hl.History(space, (hl.Objective("loss"),), tuple(drawn))


def test_parameters_may_be_called_like_our_own_columns() -> None:
    history = named("low", "high", "mean", "id", "rule")
    record = hl.regions(history, "low")
    for name in history.space.names:
        curves = replace(record, parameter=name).curves
        assert list(curves.columns) == ["id", "rule", f"{name} value", "mean", "low", "high"]
        assert as_csv(curves).startswith("id,rule,")


def test_formulas_are_texts_in_a_spreadsheet() -> None:
    frame = pd.DataFrame({"=a": ["=1+1", "-2", "+x", "@y", "b"], "n": [-1.0, 2, 3, 4, 5]})
    assert as_csv(frame) == "'=a,n\n'=1+1,-1.0\n-2,2.0\n'+x,3.0\n'@y,4.0\nb,5.0\n"


def test_a_converted_run_has_no_formulas_and_comes_back(tmp_path: Path) -> None:
    levels = ("=1+1", "+x", "-2", "@y", "plain", "'s")
    space = hl.Space.of([hl.Parameter("a", "categorical", choices=levels)])
    reasons = ("=1", "'=1", "''=1", "-0.5", "-x", "it's", "@", "'")
    trials = tuple(
        hl.Trial(k, {"a": level}, (float("nan"),), hl.State.FAILED, instance=reason, reason=reason)
        for k, (level, reason) in enumerate(product(levels, reasons))
    )
    run = hl.History(space, (hl.Objective("loss"),), trials, "a run")
    hl.convert(run, "table", tmp_path / "run")
    table = tmp_path / "run" / "trials.csv"
    cells = pd.read_csv(table, dtype=str, keep_default_na=False)
    texts = cells[["instance", "reason", "param:a"]].to_numpy().ravel()
    assert {t for t in texts if t.startswith(("=", "+", "-", "@"))} == {"-0.5", "-2"}
    assert list(map(repr, map(vars, hl.read(tmp_path / "run").trials))) == list(
        map(repr, map(vars, trials))
    )
    before = table.read_text().replace(",'=1+1", ",=1+1")  # as an earlier release wrote it
    table.write_text(before)
    assert [t.values for t in hl.read(tmp_path / "run").trials] == [t.values for t in trials]


def test_constants_alone_are_told() -> None:
    space = hl.Space.of([], constants={"a": 1})
    states = [hl.State.FAILED, hl.State.COMPLETE]
    trials = tuple(hl.Trial(k, {"a": 1}, (float(k),), states[k % 2]) for k in range(8))
    history = hl.History(space, (hl.Objective("loss"),), trials)
    for analysis in (hl.bias, hl.failures, hl.importance):
        with pytest.raises(hl.AnalysisError, match="parameter"):
            analysis(history)


def test_numbers_that_no_integer_holds_are_told() -> None:
    history = named("x")
    with pytest.raises(hl.AnalysisError, match="number"):
        hl.History(history.space, history.objectives, (hl.Trial(2**63, {"x": 0.5}, (1.0,)),))
    with pytest.raises(hl.SpaceError, match="narrow its range"):
        hl.Parameter("x", "float", -1e300, 1e300)


def test_a_proposal_that_is_a_number_is_none(tmp_path: Path) -> None:
    history = named("x")
    hl.convert(history, "table", tmp_path / "run")
    table = pd.read_csv(tmp_path / "run" / "trials.csv").assign(proposal=7)
    table.to_csv(tmp_path / "run" / "trials.csv", index=False)
    assert hl.read(tmp_path / "run").trials == history.trials


def test_a_text_among_numbers_is_converted_as_a_choice(tmp_path: Path) -> None:
    table = pd.DataFrame({"x": ["a", *np.arange(11) / 4], "loss": np.arange(12.0)})
    history = hl.read(table)
    hl.convert(history, "optuna", tmp_path / "run.db")
    assert [t.values for t in hl.read(tmp_path / "run.db").trials] == [
        t.values for t in history.trials
    ]
    with pytest.raises(hl.SpaceError, match="not a number"):
        replace(named("x"), trials=(hl.Trial(0, {"x": "a"}, (1.0,)),))


@pytest.mark.parametrize("columns", [[], ["loss"]])
def test_a_table_without_columns_is_told(columns: list[str]) -> None:
    with pytest.raises(hl.SourceError, match="column"):
        hl.read(pd.DataFrame(1.0, index=range(5), columns=columns))


def test_dates_of_any_year_are_days() -> None:
    cells = pd.Series(["1970-01-02", "9999-12-31", None])
    days = as_days(as_dates(cells, "%Y-%m-%d"))
    assert days[0] == 1.0
    assert np.isnan(days[2])
    far = pd.DataFrame({"when": pd.Series(np.array(["2020-01-01", "9999-12-31"], "datetime64[s]"))})
    coded = Encoder().fit(far).transform(far)
    assert coded[:, 0].tolist() == [18262.0, 2932896.0]


def test_a_message_has_at_most_five_lines(tmp_path: Path) -> None:
    table = tmp_path / "run.csv"
    table.write_text(",".join(f"{'x' * 3000}{k}" for k in range(9)) + "\n")
    with pytest.raises(hl.HyperlensError) as told:
        hl.read(table)
    assert len(str(told.value)) <= 480
    assert str(told.value).endswith(".")


def test_ten_thousand_levels_are_laid_out() -> None:
    choices = tuple(f"v{k}" for k in range(10_000))
    space = hl.Space.of(
        [hl.Parameter("c", "categorical", choices=choices), hl.Parameter("x", "float", 0, 1)]
    )
    trials = tuple(hl.Trial(k, {"c": f"v{k * 97}", "x": k / 20}, (float(k),)) for k in range(20))
    history = hl.History(space, (hl.Objective("loss"),), trials)
    assert len(hl.footprint(history).x) == 20
    assert hl.bias(history).mmd >= 0


# More than fits into memory, in a small file


@pytest.mark.parametrize("how", ["csv", "gz", "parquet", "jsonl", "db"])
def test_a_bomb_is_refused_in_a_sentence_that_says_how_to_allow_it(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extent, "MOST_ROWS", 100)
    table = pd.DataFrame({"x": np.arange(150.0), "loss": np.arange(150.0)})
    path = tmp_path / {"gz": "run.csv.gz"}.get(how, f"run.{how}")
    if how == "parquet":
        table.to_parquet(path)
    elif how == "db":
        hl.convert(named("x", trials=150), "optuna", path)
    elif how == "jsonl":
        path.write_text(table.to_json(orient="records", lines=True))
    else:
        text = table.to_csv(index=False).encode()
        path.write_bytes(gzip.compress(text) if how == "gz" else text)
    with pytest.raises(hl.SourceError, match=r"rows, more than the 100 .* HYPERLENS_LIMIT=2\."):
        hl.read(path)
    monkeypatch.setenv("HYPERLENS_LIMIT", "2")
    assert len(hl.read(path).trials) == 150
    monkeypatch.setenv("HYPERLENS_LIMIT", "much")
    with pytest.raises(hl.SourceError, match="such as 4"):
        hl.read(path)


@pytest.mark.parametrize(
    ("name", "content", "limit"),
    [
        ("run.log", '{"op_code": 0, "study_name": "run", "directions": [1]}\n', "MOST_BYTES"),
        ("run.json", '[{"x": 1, "loss": 2}]', "MOST_BYTES"),
        ("result.yaml", "x: 1\n", "MOST_YAML"),
    ],
)
def test_a_document_without_end_is_refused_likewise(
    name: str, content: str, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (extent, files):
        if hasattr(module, limit):
            monkeypatch.setattr(module, limit, 2**20)
    path = tmp_path / name
    path.write_text(content + " " * 2**22)
    with pytest.raises(hl.SourceError, match=r"MiB.* HYPERLENS_LIMIT=[45]\."):
        files.load_yaml(path) if name.endswith("yaml") else hl.read(path)
