"""Regions, interactions and bias on the command line and in an analysis, from a run on disk."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ConfigSpace import Categorical, ConfigurationSpace, Float
from views import tree

import hyperlens as hl
from hyperlens import cli
from hyperlens.reports import page
from hyperlens.sections.analysis import analyse
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Unavailable
from hyperlens.sections.parameters.effects import EFFECTS
from hyperlens.sections.parameters.interactions import INTERACTIONS
from hyperlens.sections.parameters.regions import REGIONS, regions_card
from hyperlens.sections.run.search import BIAS

EVIL = "<script>\x1b[31m"
ESC = "\x1b["
Run = tuple[str, ...]


def trials(count: int = 24) -> tuple[pd.DataFrame, ConfigurationSpace]:
    """Few trials where the evil category is chosen, so the space splits there."""
    rng = np.random.default_rng(0)
    kind = np.where(rng.random(count) < 0.2, EVIL, "plain")
    lr, other = 10 ** rng.uniform(-4, 0, count), rng.random(count)
    loss = (np.log10(lr) + 2) ** 2 + 3.0 * (kind == EVIL) * other
    names = {EVIL: other, "kind": kind, "lr": lr}
    space = ConfigurationSpace(
        space=[
            Float("lr", (1e-4, 1.0), log=True),
            Float(EVIL, (0.0, 1.0)),
            Categorical("kind", ("plain", EVIL)),
        ]
    )
    return pd.DataFrame(names | {"loss": loss}), space


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Arguments that name the run."""
    folder = tmp_path_factory.mktemp("run")
    frame, space = trials()
    frame.to_csv(folder / "run.csv", index=False)
    space.to_json(folder / "space.json")
    return (str(folder / "run.csv"), "--space", str(folder / "space.json"), "--objective", "loss")


@pytest.fixture(scope="module")
def history() -> hl.History:
    frame, space = trials()
    return hl.read(frame, space=space, objective="loss")


def call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command."""
    monkeypatch.setattr("sys.argv", ["hyperlens", *words])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as done:
        cli.main()
    out, err = capsys.readouterr()
    assert ESC not in out + err  # nothing of the run steers the terminal
    return int(done.value.code or 0), out, err


def test_regions_print_what_is_computed(
    run: Run,
    history: hl.History,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = hl.regions(history, "lr", splits=2, criterion="area", curve="std", min_size=4, seed=3)
    assert len(record.leaves) == 3
    options = ("--splits=2", "--criterion=area", "--curve=std", "--min-size=4", "--seed=3")
    source, *rest = run
    words = ("regions", source, "lr", *rest, *options)
    code, out, _ = call(monkeypatch, capsys, *words, "--format", "json")
    assert code == 0
    assert json.loads(out) == json.loads(record.to_json())
    code, out, _ = call(monkeypatch, capsys, *words, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [float(r["confidence"]) for r in rows] == [r.confidence for r in record.leaves]
    code, out, _ = call(monkeypatch, capsys, *words)
    for leaf in record.leaves:
        (row,) = [line for line in out.splitlines() if f"±{leaf.confidence:.4g}" in line.split()]
        assert row.startswith(leaf.rule.replace("\x1b", ""))
        assert f"{100 * leaf.share:.1f} %" in row
        assert ("here" in row) is leaf.holds_best
    assert "the effect of lr is known" in out


@pytest.mark.parametrize(
    ("options", "leaves"),
    [("--levels 1", 2), ("--until 1e9", 1), ("--levels 2 --min-improvement 1", 1)],
)
def test_growth_is_as_asked(
    run: Run,
    options: str,
    leaves: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, *rest = run
    words = ("regions", source, "lr", *rest, *options.split(), "--format", "csv")
    code, out, _ = call(monkeypatch, capsys, *words)
    assert code == 0
    assert len(out.splitlines()) == 1 + leaves


def test_bias_prints_what_is_computed(
    run: Run,
    history: hl.History,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = hl.bias(history, seed=1)
    code, out, _ = call(monkeypatch, capsys, "bias", *run, "--seed", "1", "--format", "json")
    assert code == 0
    assert json.loads(out) == json.loads(record.to_json())
    code, out, _ = call(monkeypatch, capsys, "bias", *run, "--seed", "1")
    table = {
        line.rsplit(maxsplit=2)[0].strip(): line.split()[-2:]
        for line in out.splitlines()
        if line.split()
    }
    assert table["all parameters"] == [f"{record.mmd:.2f}", f"{record.p:.3f}"]
    at = record.parameters.index("lr")
    assert table["lr"] == [f"{record.parameter_mmd[at]:.2f}", f"{record.parameter_p[at]:.3f}"]
    assert record.sentence[:40] in out


@pytest.mark.parametrize("surrogate", ["gp", "forest"])
def test_interactions_print_what_is_computed(
    run: Run,
    surrogate: str,
    history: hl.History,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = hl.interactions(history, surrogate=surrogate, level=None)  # type: ignore[arg-type]
    words = ("interactions", *run, "--surrogate", surrogate, "--level", "0")
    code, out, _ = call(monkeypatch, capsys, *words, "--format", "json")
    assert code == 0
    assert json.loads(out) == json.loads(record.to_json())
    code, out, _ = call(monkeypatch, capsys, *words)
    first = next(line for line in out.splitlines() if " × " in line and " %" in line[-40:])
    assert f"{record.h[0]:.2f}" in first.split()
    assert f"{100 * record.share[0]:.1f} %" in first


def test_effect_takes_a_cap_and_names_its_band(
    run: Run,
    history: hl.History,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = hl.effect(history, "lr", cap="quantile=0.5", band="joint", grid=4)
    source, *rest = run
    words = ["effect", source, "lr", *rest, "--cap", "quantile=0.5", "--band", "joint"]
    words += ["--grid", "4"]
    code, out, _ = call(monkeypatch, capsys, *words, "--format", "json")
    assert code == 0
    assert json.loads(out) == json.loads(record.to_json())
    code, out, _ = call(monkeypatch, capsys, *words)
    assert "95 % joint band" in out
    assert "how uncertain the average itself is" in out
    lines = out.splitlines()
    top = next(k for k, line in enumerate(lines) if line.startswith("lr "))
    assert [int(line.split()[-1]) for line in lines[top + 1 : top + 5]] == record.support.tolist()


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("regions", "lr --levels 1 --splits 1", "exclude each other"),
        ("regions", "lr --until -1", "'--until'"),
        ("regions", "lr --criterion gini", "'--criterion'"),
        ("regions", "nothing", "Parameter 'nothing' is not in this space"),
        ("regions", "", "PARAMETER"),
        ("interactions", "--surrogate tree", "'--surrogate'"),
        ("interactions", "--seed 99999999999", "A seed of 99999999999 cannot be used"),
        ("effect", "lr --budget 3", "budget 3"),
        ("effect", "lr --cap much", "A cap of 'much' is not understood"),
    ],
)
def test_a_wrong_call_is_one_sentence(
    run: Run,
    command: str,
    options: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, *rest = run
    words = (command, source, *options.split(), *rest)
    code, out, err = call(monkeypatch, capsys, *words)
    assert code == 2
    assert out == ""
    assert said.lower() in err.lower()
    assert len(err.splitlines()) == 1


def test_analysis_holds_what_the_functions_say(history: hl.History) -> None:
    made = analyse(history, Choices(level=None))
    bias, interactions = made[BIAS], made[INTERACTIONS]
    effects, regions = made[EFFECTS], made[REGIONS]
    assert not isinstance(bias, Unavailable)
    assert not isinstance(interactions, Unavailable)
    np.testing.assert_array_equal(bias.path, hl.bias(history).path)
    lead, first = effects[0], regions[0]
    assert isinstance(lead, hl.Effect)
    assert isinstance(first, hl.Regions)
    leads = hl.leader(history).primary.name
    assert first.surrogate == lead.surrogate == interactions.surrogate == leads
    shown = [r.parameter for r in regions if isinstance(r, hl.Regions)]
    assert shown == [e.parameters[0] for e in effects if isinstance(e, hl.Effect)][:3]
    assert len(first.tree) == 1 + 2 * Choices.splits
    for effect, parts in zip(effects, regions, strict=True):
        assert isinstance(effect, hl.Effect)
        assert isinstance(parts, hl.Regions)
        np.testing.assert_allclose(parts.tree[0].mean, effect.mean, rtol=1e-6, atol=1e-8)
    text = page(made)
    assert "<script>\x1b" not in text
    assert "&lt;script&gt;" in text


def test_one_parameter_has_neither_regions_nor_interactions() -> None:
    lr = np.linspace(0.1, 0.9, 12)
    frame = pd.DataFrame({"lr": lr, "loss": (lr - 0.3) ** 2})
    one = hl.read(
        frame, space=ConfigurationSpace(space=[Float("lr", (0.0, 1.0))]), objective="loss"
    )
    made = analyse(one, Choices(level=None))
    assert made[REGIONS] == ()
    assert isinstance(made[INTERACTIONS], Unavailable)
    assert "One parameter has nothing to interact with" in page(made)


def test_many_trials_get_one_card_of_regions(
    history: hl.History, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = analyse(history)
    monkeypatch.setattr("hyperlens.sections.parameters.regions.MANY_TRIALS", 20)
    many = analyse(replace(history))
    assert (len(few[REGIONS]), len(many[REGIONS])) == (3, 1)


def test_a_summary_says_where_it_is_sure_and_where_it_looked(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "records.json"
    words = ("explain", *run, "--level", "0", "--json", str(file))
    code, out, _ = call(monkeypatch, capsys, *words)
    assert code == 0
    made = json.loads(file.read_text())
    one_line = " ".join(out.split())
    assert f"the effect of {made['regions']['regions'][0]['parameter']} is known" in one_line
    assert made["search"]["bias"]["sentence"] in one_line
    assert math.isfinite(made["regions"]["regions"][0]["tree"][0]["confidence"])


def test_the_data_of_a_card_are_the_curves_drawn() -> None:
    record = tree(rule="opt is \ud800\x1b[31m")
    lines = regions_card(record, "regions-1").csv
    assert lines is not None
    table = pd.read_csv(io.StringIO(lines))
    assert len(table) == len(record.tree) * len(record.values)
    np.testing.assert_allclose(table[table["id"] == 1]["mean"], record.tree[1].mean)
    assert "\x1b" not in lines
