"""What users really give: an answer in one sentence, or a result that says what it cannot know."""

from __future__ import annotations

import inspect
import json
import math
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import ConfigSpace as CS
import numpy as np
import optuna
import pandas as pd
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.trial import TrialState
from test_cli import (
    LR_WD,
    Said,
    cost,
    database,
    good,
    journal,
    random_values,
    run,
    trial,
    trials_of,
)

import hyperlens as hl
from hyperlens.errors import HyperlensError
from hyperlens.importers.optuna import sqlite_snapshot

Change = Callable[[Any], Any]  # of a table's rows

ESC, CSI, BELL, BACKWARDS = "\x1b[31m", "\x9b2J", "\x07", "\u202e"
EVIL = f"{ESC}<script>alert(1)</script>[bold]{CSI}[/red]{BELL}\r\n{BACKWARDS}x"
HARMLESS = "[31m<script>alert(1)</script>[bold]2J[/red]  x"  # the same to be seen


def refused(*words: object, because: str) -> None:
    """Exit code 2, nothing on standard output, one sentence with a remedy on standard error."""
    said = run(*words)
    assert said.code == 2, said
    assert said.out == ""
    assert "Traceback" not in said.err
    (line,) = said.err.splitlines()
    assert line.startswith("hyperlens: ")
    assert because in line
    assert re.search(r"; .+\.$", line), f"no remedy: {line}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good table `run.csv` with its `space.json`, a good journal `run.log`, and worse."""
    at = tmp_path_factory.mktemp("bad")
    parameters = [CS.Float("lr", (1e-5, 1.0), log=True), CS.Float("wd", (0.0, 1.0))]
    space = CS.ConfigurationSpace()
    space.add(*parameters, CS.Categorical("kind", ["a", "b"]))
    space.to_json(at / "space.json")
    frame(at, "run.csv")
    journal(at / "run.log", trials_of(30))
    (at / "again.log").write_bytes((at / "run.log").read_bytes())
    (at / "text.txt").write_text("hello")
    (at / "empty.db").write_bytes(b"")
    (at / "run.pkl").write_bytes(b"\x80\x04.")
    (at / "bad.json").write_text("{]")
    with closing(sqlite3.connect(at / "other.db")) as other:
        other.execute("CREATE TABLE t (a)")
    return at


def frame(at: Path, name: str, change: Change = lambda rows: rows) -> Path:
    rows = pd.DataFrame(random_values(30))
    rows["kind"] = ["a", "b"] * 15
    rows["cost"] = [cost(v) for v in random_values(30)]
    change(rows).to_csv(at / name, index=False)
    return at / name


def of_table(at: Path) -> list[object]:
    return ["--space", at / "space.json", "--objective", "cost"]


@pytest.mark.parametrize(
    ("words", "because"),
    [
        (["explain", "none.db"], "no file"),
        (["explain", "sqlite:///none.db"], "no database"),
        (["explain", "ftp://host/x"], "'ftp://' cannot be read"),
        (["explain", "."], "choose one of 'again.log' (Optuna), 'run.log' (Optuna)."),
        (["explain", "text.txt"], "of no kind that can be read"),
        (["explain", "empty.db"], "is empty"),
        (["explain", "other.db"], "holds no Optuna studies"),
        (["explain", "run.pkl"], "is a pickle"),
        (["explain", "run.log", "--study", "nope"], "no study 'nope'"),
        (["explain", "run.log", "--maximize"], "was told to minimise"),
        (["explain", "run.log", "--objective", "f1"], "no objective 'f1'"),
        (["explain", "run.csv", "--parameters", "nope"], "no column 'nope'"),
        (
            ["explain", "run.csv", "--space", "space.json", "--objective", "nope"],
            "no column 'nope'",
        ),
        (["explain", "run.csv", "--space", "space.json", "--objective", "lr"], "is a parameter"),
        (["explain", "run.csv", "--space", "no.json", "--objective", "cost"], "no space file"),
        (["explain", "run.csv", "--space", "bad.json", "--objective", "cost"], "is not a space"),
        (
            ["explain", "run.csv", "--space", "space.json", "--objective", "cost", "--study", "x"],
            "no studies by name",
        ),
        (["effect", "run.log", "momentum"], "'momentum' is not in this space"),
        (["effect", "run.log", "lr", "wd", "lr"], "one parameter or of two"),
        (["effect", "run.log", "lr", "lr"], "two different ones"),
        (["importance", "run.log", "--level", "2"], "--level"),
        (["importance", "run.log", "--level", "nan"], "--level"),
        (["importance", "run.log", "--order", "9"], "--order"),
        (["importance", "run.log", "--seed", "-1"], "--seed"),
        (["importance", "run.log", "--seed", "5000000000"], "seed"),
        (["importance", "run.log", "--format", "xml"], "'--format': 'xml' is not one of 'table',"),
        (["importance", "run.log", "--trees", "many"], "'--trees': "),
        (["effect", "run.log", "lr", "--level", "1"], "--level"),
        (["effect", "run.log"], "Missing argument"),
        (["explain"], "Missing argument"),
        (["explain", "run.log", "more"], "more"),
        (["explain", "run.log", "--nope"], "--nope"),
        (["exlpain", "run.log"], "exlpain"),
        (["explain", "run.log", "--html", "none/r.html"], "cannot be written"),
        (["explain", "run.log", "--html", "."], "cannot be written"),
        (["explain", "run.log", "--json", "/proc/nothing.json"], "cannot be written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused_with_one_sentence(
    words: list[str], because: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    refused(*words, because=because)


def put(column: str, row: int, value: Any) -> Change:
    def change(rows: Any) -> Any:
        return rows.assign(**{column: [*rows[column][:row], value, *rows[column][row + 1 :]]})

    return change


@pytest.mark.parametrize(
    ("change", "because"),
    [
        (put("kind", 2, "z"), "'kind' is 'z' in row 3, which is not among its choices ('a', 'b')"),
        (put("lr", 4, 2.5), "'lr' is 2.5 in row 5, outside its range [1e-05, 1]"),
        (put("wd", 0, "much"), "'wd' is 'much' in row 1, which is not a number"),
        (put("cost", 1, "good"), "'cost' is 'good' in row 2, which is not a number"),
        (lambda rows: rows[:0], "has no rows"),
        (lambda rows: rows.drop(columns="wd"), "no columns for the parameters 'wd'"),
        (lambda rows: rows.rename(columns={"wd": "lr"}), "one column named 'lr'"),
        (lambda rows: pd.concat([rows, rows["cost"]], axis=1), "one column named 'cost'"),
        (lambda rows: rows.assign(cost=math.nan), "None of the 30 trials"),
        (lambda rows: rows.assign(cost=math.inf), "None of the 30 trials"),
        (lambda rows: rows.assign(state="FAIL"), "None of the 30 trials (30 failed)"),
    ],
    ids=["category", "bounds", "text", "cost", "0 rows", "column", "twice", "costs", "nan", "inf",
         "failed"],
)  # fmt: skip
def test_tables_that_cannot_be_explained(change: Change, because: str, folder: Path) -> None:
    refused("explain", frame(folder, "worse.csv", change), *of_table(folder), because=because)


def test_a_frame_is_refused_as_a_file_is(folder: Path) -> None:
    good_frame = pd.read_csv(folder / "run.csv")
    space = CS.ConfigurationSpace.from_json(folder / "space.json")
    with pytest.raises(HyperlensError, match="'lr' is 7 in row 1, outside its range"):
        hl.read(good_frame.assign(lr=7.0), space=space, objective="cost")
    with pytest.raises(HyperlensError, match="no column 'loss'"):
        hl.read(good_frame, space=space, objective="loss")


@pytest.mark.parametrize(
    ("state", "because"),
    [
        (TrialState.FAIL, "10 failed"),
        (TrialState.PRUNED, "10 pruned"),
        (None, "no finished trials"),
    ],
)
def test_studies_without_a_result(state: TrialState | None, because: str, tmp_path: Path) -> None:
    trials = [] if state is None else [trial(v, LR_WD, state=state) for v in random_values(10)]
    refused("explain", journal(tmp_path / "study.log", trials), because=because)


def test_a_study_without_parameters(tmp_path: Path) -> None:
    path = journal(tmp_path / "study.log", [trial({}, {}, float(k)) for k in range(10)])
    refused("explain", path, because="No parameter of this study varies")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return database(tmp_path_factory.mktemp("db") / "run.db", {"demo": trials_of(30)})


@pytest.fixture
def locked(db: Path) -> Iterator[None]:
    with closing(sqlite3.connect(db)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        yield
        writer.rollback()


@pytest.mark.usefixtures("locked")
def test_a_locked_database(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_snapshot, "LOCK_TIMEOUT", 0.05)
    refused("explain", db, because="is locked by a program that writes to it")


@pytest.mark.parametrize("start", [100, 4096])
def test_a_damaged_database(start: int, db: Path, tmp_path: Path) -> None:
    broken = bytearray(db.read_bytes())
    broken[start : start + 40960] = b"\xab" * 40960
    (tmp_path / "broken.db").write_bytes(broken)
    refused("explain", tmp_path / "broken.db", because="is damaged")


def test_a_damaged_journal(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "run.log").read_text().splitlines()
    lines[3] = lines[3][:10]
    (tmp_path / "run.log").write_text("\n".join(lines))
    refused("explain", tmp_path / "run.log", because="Line 4 of")


@pytest.mark.parametrize("kind", ["path", "address", "link"])
def test_the_run_is_never_written_over(kind: str, db: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(db)
    before = db.read_bytes()
    source, target = {
        "path": (str(db), db),
        "address": (f"sqlite:///{db}", db),
        "link": (str(db), link),
    }[kind]
    refused("explain", source, "--json", target, because="is the run itself")
    assert db.read_bytes() == before


def test_an_unwritable_target_is_found_before_the_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hyperlens.sections import analysis

    monkeypatch.setattr(analysis, "analyse", lambda *_, **__: pytest.fail("computed in vain"))
    target = folder / "none" / "r.html"
    refused("explain", folder / "run.log", "--html", target, because="cannot be written")


def nothing_is_certain(said: Said) -> None:
    """No share is given as if it were known."""
    rows = [line for line in said.out.splitlines() if re.match(r"(lr|wd|kind|lr × wd)\s", line)]
    assert rows
    for row in rows:
        assert "unknown" in row
        assert "%" not in row


@pytest.mark.parametrize("verb", ["explain", "importance"])
def test_one_trial(verb: str, tmp_path: Path) -> None:
    said = good(verb, journal(tmp_path / "one.log", trials_of(1)))
    nothing_is_certain(said)
    assert "only one" in said.text


@pytest.mark.parametrize("verb", ["explain", "importance"])
def test_constant_cost(verb: str, tmp_path: Path) -> None:
    path = journal(tmp_path / "flat.log", [trial(v, LR_WD, 0.5) for v in random_values(20)])
    said = good(verb, path)
    nothing_is_certain(said)
    assert "all 20 costs are equal" in said.text
    assert "0.5 to 0.5" in good("effect", path, "lr", "--grid", "2").text


@pytest.mark.parametrize("trials", [1, 20])
def test_reports_of_what_cannot_be_known(trials: int, tmp_path: Path) -> None:
    path = journal(tmp_path / "flat.log", [trial(v, LR_WD, 0.5) for v in random_values(trials)])
    good("explain", path, "--html", tmp_path / "r.html", "--json", tmp_path / "r.json")
    text = Page((tmp_path / "r.html").read_text()).text
    assert "cannot be known" in text
    assert "nan" not in text.lower().split()
    assert "mattered most" not in text
    assert (
        json.loads((tmp_path / "r.json").read_text())["importance"]["importance"]["share"]
        == [None] * 3
    )


@pytest.mark.parametrize("trials", [2, 3, 6])
def test_a_few_trials_prove_nothing(trials: int, tmp_path: Path) -> None:
    said = good("explain", journal(tmp_path / "few.log", trials_of(trials)))
    assert f"Do not trust what mattered: {trials} trials prove nothing." in said.text
    assert "Run at least 10 before acting on this" in said.text


def test_costs_that_are_not_finite_are_left_out_and_counted(folder: Path) -> None:
    spoilt = {0: math.nan, 5: math.inf, 9: -math.inf, 12: math.nan}
    path = frame(
        folder,
        "spoilt.csv",
        lambda rows: rows.assign(cost=[spoilt.get(k, c) for k, c in enumerate(rows["cost"])]),
    )
    left_out = "4 of 30 trials ended with a 'cost' that is not a finite number and were left out"
    for verb in ("explain", "importance"):
        said = good(verb, path, *of_table(folder), "--level", "0")
        assert left_out in said.text
    lowest = min(cost(v) for k, v in enumerate(random_values(30)) if k not in spoilt)
    assert hl.overview(hl.read(path, space=folder / "space.json", objective="cost")).best == lowest


def test_a_parameter_that_never_varied_has_no_known_share(folder: Path) -> None:
    path = frame(folder, "same.csv", lambda rows: rows.assign(kind="a"))
    said = good("importance", path, *of_table(folder))
    rows = [
        line for line in said.out.splitlines() if re.match(r"(kind|.* × kind|kind × .*)\s", line)
    ]
    assert len([row for row in rows if "unknown" in row]) == 3
    assert not any("%" in row for row in rows)
    assert "'kind' never varied in these trials, so nothing can be known" in said.text
    assert "'kind' has one value" in good("effect", path, "kind", *of_table(folder)).text


@pytest.mark.parametrize(
    ("scale", "why"), [(1e300, "too large to compute with"), (1e-300, "too little to compute with")]
)
def test_costs_beyond_what_can_be_squared(scale: float, why: str, tmp_path: Path) -> None:
    trials = [trial(v, LR_WD, scale * cost(v)) for v in random_values(20)]
    path = journal(tmp_path / "scale.log", trials)
    assert why in good("explain", path, "--html", tmp_path / "r.html").text
    refused("importance", path, because=why)


def test_an_outlier_is_no_error(tmp_path: Path) -> None:
    trials = [trial(v, LR_WD, 1e30 if k == 7 else cost(v)) for k, v in enumerate(random_values(30))]
    said = good("explain", journal(tmp_path / "outlier.log", trials), "--level", "0")
    assert "1 of 30 trials" in said.text
    assert "diverged" in said.text


def test_more_parameters_than_trials(tmp_path: Path) -> None:
    """More than a Gaussian process learns: it is left out, and that is said."""
    X = np.random.default_rng(0).random((60, 66))
    ranges = {f"p{j}": FloatDistribution(0, 1) for j in range(66)}
    values = [{f"p{j}": float(x) for j, x in enumerate(row)} for row in X]
    path = journal(tmp_path / "wide.log", [trial(v, ranges, v["p0"] + v["p1"]) for v in values])
    target = tmp_path / "wide.json"
    said = good("explain", path, "--level", "0", "--json", target)
    assert len(said.out.splitlines()) < 60
    assert "fewer trials (60) than parameters (66)" in said.text
    assert "A Gaussian process does not learn 66 parameters from 60 trials" in said.text
    found = json.loads(target.read_text())["importance"]["importance"]
    assert sorted(found["parameters"][:2]) == [["p0"], ["p1"]]
    assert {(f"p{j}",) for j in range(66)} < set(map(tuple, found["parameters"]))
    assert "value is best with p0 near 0" in good("effect", path, "p0").text
    refused("effect", path, "p0", "--surrogate", "gp", because="use the forest instead")


class Page(HTMLParser):
    """The elements of a page, and its text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        data = tag == "script" and dict(attrs).get("type") == "application/json"
        self.tags.append("data" if data else tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] not in (["data"], ["script"], ["style"]):
            self.text += data


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Escape codes, markup and line breaks as the name of a study, a parameter and a category."""
    rng = np.random.default_rng(4)
    choices = [EVIL, "[/bold]"]
    ranges = {EVIL: FloatDistribution(0, 1), "kind": CategoricalDistribution(choices)}
    trials = [
        trial({EVIL: x, "kind": choices[k % 2]}, ranges, x - k % 2)
        for k, x in enumerate(rng.random(30).tolist())
    ]
    path = tmp_path_factory.mktemp("evil") / "run.log"
    return journal(path, trials, name=EVIL, directions=["minimize"])


def no_control(text: str) -> None:
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)


def test_names_cannot_steer_the_terminal(evil: Path) -> None:
    said = good("explain", evil, "--level", "0")
    no_control(said.out)
    evened = " ".join(HARMLESS.split())
    assert f"Optuna study '{evened}' in run.log" in said.text
    assert f"{evened} = " in said.text
    assert f"{evened} × kind" in said.text
    table = good("effect", evil, EVIL, "kind", "--grid", "2")
    no_control(table.out)
    assert f"{evened} kind value" in table.text
    assert "[/bold]" in table.text
    for wrong in ([evil, "nope"], [evil, f"{EVIL}2"]):
        no_control(run("effect", *wrong).err.rstrip("\n"))
        refused("effect", *wrong, because=f"choose one of '{HARMLESS}', 'kind'")


def test_names_survive_in_json_and_are_escaped_in_csv(evil: Path) -> None:
    said = good("importance", evil, "--among", "all", "--format", "json", "--level", "0")
    no_control(said.out)
    assert [EVIL] in json.loads(said.out)["parameters"]
    listed = good("importance", evil, "--among", "all", "--format", "csv", "--level", "0").out
    no_control(listed)
    assert len(listed.splitlines()) == 4
    assert EVIL.encode("unicode_escape").decode() in listed


def test_names_stay_text_in_the_report(evil: Path, folder: Path, tmp_path: Path) -> None:
    pages = []
    for source in (evil, folder / "run.log"):
        good("explain", source, "--html", tmp_path / "r.html", "--level", "0")
        pages.append(Page((tmp_path / "r.html").read_text()))
    assert "<script>alert(1)</script>" in pages[0].text
    assert pages[0].tags.count("script") == 3  # Plotly's, ours, and what unpacks them
    assert set(pages[0].tags) <= {*pages[1].tags, "ul", "li"}


def test_text_that_is_no_unicode(tmp_path: Path) -> None:
    """A journal may hold half of a surrogate pair, which no file can."""
    name = "\ud800x"
    ranges = {name: FloatDistribution(0, 1), "b": FloatDistribution(0, 1)}
    values = np.random.default_rng(5).random((20, 2)).tolist()
    trials = [trial({name: x, "b": y}, ranges, x + y) for x, y in values]
    path = journal(tmp_path / "half.log", trials)
    files = [tmp_path / "r.html", tmp_path / "r.json"]
    good("explain", path, "--level", "0", "--html", files[0], "--json", files[1])
    assert json.loads(files[1].read_text())["overview"]["overview"]["parameters"] == ["b", name]
    for form in ("csv", "json", "table"):
        good("importance", path, "--level", "0", "--format", form).out.encode("utf-8")


ANALYSES = [
    name
    for name in hl.__all__
    if inspect.isfunction(asked := getattr(hl, name))
    and next(iter(inspect.signature(asked).parameters), "") == "history"
]


@pytest.mark.parametrize("name", ANALYSES)
def test_what_was_not_read_is_refused_by_every_analysis(name: str) -> None:
    analysis = getattr(hl, name)
    with pytest.raises(hl.AnalysisError, match=r"^A Study is no run that was read; give hl\.read"):
        analysis(optuna.create_study())
    with pytest.raises(hl.AnalysisError, match=r"give hl\.read\('study\.db'\)\.$"):
        analysis(history="study.db")
