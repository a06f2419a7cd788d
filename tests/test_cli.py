"""The command line from end to end: every kind of source, every verb, and what they promise."""

from __future__ import annotations

import io
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import ConfigSpace as CS
import numpy as np
import optuna
import pandas as pd
import pytest
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy import event
from threadpoolctl import threadpool_limits

import hyperlens as hl
from hyperlens import cli
from hyperlens.explain.importance import shares

optuna.logging.set_verbosity(optuna.logging.ERROR)

HEAVY = ["numpy", "pandas", "sklearn", "optuna", "plotly", "scipy", "numba", "ConfigSpace"]
LR_WD: dict[str, BaseDistribution] = {
    "lr": FloatDistribution(1e-5, 1, log=True),
    "wd": FloatDistribution(0, 1),
}


@dataclass(frozen=True)
class Said:
    """What a command printed, its spaces and line breaks evened out, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return " ".join(self.out.split())


def run(*words: object) -> Said:
    """`hyperlens WORDS` in this process."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["hyperlens", *map(str, words)]
    with (
        mock.patch.object(sys, "argv", argv),
        mock.patch.dict(os.environ, {"COLUMNS": "200"}),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        cli.main()
    return Said(int(stop.value.code or 0), out.getvalue(), complaints(err.getvalue()))


def complaints(stderr: str) -> str:
    """Standard error without what is said once on a machine."""
    lines = stderr.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("Compiling numerical code"))


def good(*words: object) -> Said:
    """A command that succeeds and complains of nothing."""
    said = run(*words)
    assert said.code == 0, said.err
    assert said.err == ""
    return said


def records(*words: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(good(*words, "--format", "json").out)
    return found


def trial(
    params: Mapping[str, Any],
    distributions: Mapping[str, BaseDistribution],
    *values: float,
    state: TrialState = TrialState.COMPLETE,
) -> FrozenTrial:
    return create_trial(
        state=state,
        params=dict(params),
        distributions=dict(distributions),
        values=list(values) if values else None,
    )


def random_values(n: int, seed: int = 1) -> list[dict[str, float]]:
    rng = np.random.default_rng(seed)
    return [
        {"lr": float(10 ** rng.uniform(-5, 0)), "wd": float(rng.uniform(0, 1))} for _ in range(n)
    ]


def cost(values: Mapping[str, float]) -> float:
    """Uniform over the search's own scale, lr makes 4 / 12 of the variance and wd 1 / 12."""
    return 2 * math.log10(values["lr"]) / 5 + values["wd"]


def trials_of(n: int, sign: float = 1.0, seed: int = 1) -> list[FrozenTrial]:
    return [trial(v, LR_WD, sign * cost(v)) for v in random_values(n, seed)]


def journal(path: Path, trials: list[FrozenTrial], name: str = "demo", **directions: Any) -> Path:
    storage = JournalStorage(JournalFileBackend(str(path)))
    optuna.create_study(storage=storage, study_name=name, **directions).add_trials(trials)
    return path


def database(path: Path, studies: Mapping[str, list[FrozenTrial]]) -> Path:
    storage = RDBStorage(f"sqlite:///{path}")
    storage.engine.dispose()  # what connects from here on need not wait for the disk
    event.listen(storage.engine, "connect", lambda c, _: c.execute("PRAGMA synchronous = OFF"))
    for name, trials in studies.items():
        optuna.create_study(storage=storage, study_name=name).add_trials(trials)
    storage.engine.dispose()
    return path


def table(path: Path, n: int = 40) -> Path:
    """The run of `trials_of` as a table, and its space beside it as JSON and YAML."""
    frame = pd.DataFrame(random_values(n))
    frame["cost"] = [cost(v) for v in random_values(n)]
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    space().to_json(path.with_name("space.json"))
    space().to_yaml(path.with_name("space.yaml"))
    return path


def space() -> CS.ConfigurationSpace:
    return CS.ConfigurationSpace({"lr": CS.Float("lr", (1e-5, 1.0), log=True), "wd": (0.0, 1.0)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def log(folder: Path) -> Path:
    """40 trials in a journal."""
    return journal(folder / "run.log", trials_of(40))


@pytest.fixture(scope="module")
def db(folder: Path) -> Path:
    """The same 40 trials in SQLite, and another study beside them."""
    return database(folder / "run.db", {"demo": trials_of(40), "other": trials_of(12, seed=2)})


def in_process_of_its_own(words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from hyperlens.cli import main; main()", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_help_lists_the_verbs_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; from hyperlens.cli import main; sys.argv = ['hyperlens', '--help']\n"
        "try: main()\n"
        f"finally: print('LOADED', [m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "LOADED []" in done.stdout
    for verb in ("explain", "importance", "effect"):
        assert verb in done.stdout


def test_version_and_no_arguments() -> None:
    assert good("--version").out.strip() == hl.__version__
    bare = run()
    assert bare.code == 2
    assert "explain" in bare.out


def test_explain_says_why_runs_are_not_compared(log: Path, tmp_path: Path) -> None:
    up = journal(tmp_path / "up.log", trials_of(12), direction="maximize")
    said = run("explain", log, "--beside", up, "--level", "0")
    assert said.code == 0
    assert said.err.startswith("No comparison of runs: These runs have different directions")
    good("explain", log, "--beside", log, "--level", "0")


def test_explain_prints_a_short_summary_and_writes_both_files(log: Path, tmp_path: Path) -> None:
    page, file = tmp_path / "report.html", tmp_path / "out.json"
    said = good("explain", log, "--html", page, "--json", file)
    history = hl.read(log)
    best = min(map(cost, random_values(40)))
    assert len(said.out.splitlines()) < 30
    for words in (
        "Optuna study 'demo' in run.log",
        "40 (40 complete)",
        "value (minimised)",
        f"{best:.4g} in trial {history.best().number}",
        "random forest",
        "Gaussian process",
        "90 % interval",
        "What to do next",
        f"Report: {page}",
        f"Records: {file}",
    ):
        assert words in said.text
    (row,) = [line for line in said.out.splitlines() if re.match(r"lr\s+\d", line)]
    assert re.search(r"\d\d\.\d %.* \d\d\.\d % to \d+\.\d %", row)
    stored = json.loads(file.read_text())
    assert stored["overview"]["overview"]["best"] == best
    assert stored["importance"]["importance"]["parameters"][0] == ["lr"]
    assert {tuple(e["parameters"]) for e in stored["effects"]["effects"]} == {("lr",), ("wd",)}
    assert "lr mattered most" in page.read_text()


def test_the_report_opens_offline(log: Path, tmp_path: Path) -> None:
    hl.report(hl.read(log), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    markup = re.sub(r"<script.*?</script>|<style>.*?</style>", "", text, flags=re.DOTALL)
    assert "Plotly" in text
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=", text)
    assert "http" not in markup.replace("http-equiv", "")


def test_shares_of_the_log_scale_case(tmp_path: Path) -> None:
    """y = 2 log10(lr) / 5 + wd: lr varies over [-2, 0] and wd over [0, 1], so 4 to 1."""
    path = database(tmp_path / "log.db", {"only": trials_of(250)})
    found = records("importance", "--among", "all", f"sqlite:///{path}")
    at = {tuple(p): k for k, p in enumerate(found["parameters"])}
    for name, exact in (("lr", 0.8), ("wd", 0.2)):
        k = at[name,]
        assert found["low"][k] <= exact <= found["high"][k]
        assert abs(found["share"][k] - exact) < 0.05
        assert found["high"][k] - found["low"][k] < 0.25  # an interval that says something


def test_every_source_of_the_same_trials_gives_the_same_shares(
    log: Path, db: Path, tmp_path: Path
) -> None:
    quick = ["--level", "0"]
    stored = [
        records("importance", "--among", "all", log, *quick),
        records("importance", "--among", "all", db, "--study", "demo", *quick),
        records("importance", "--among", "all", f"sqlite:///{db}", "--study", "demo", *quick),
    ]
    assert stored[0] == stored[1] == stored[2]
    tables = []
    for name, form in (("run.csv", "space.json"), ("run.parquet", "space.yaml")):
        words = ["--space", tmp_path / form, "--objective", "cost", *quick]
        tables.append(records("importance", "--among", "all", table(tmp_path / name), *words))
    assert tables[0] == tables[1]
    assert tables[0]["parameters"] == stored[0]["parameters"]
    np.testing.assert_allclose(tables[0]["share"], stored[0]["share"], atol=1e-6)


def test_python_reads_frames_studies_and_spaces(log: Path, tmp_path: Path) -> None:
    table(tmp_path / "run.csv")
    table(tmp_path / "run.parquet")
    frame = pd.read_parquet(tmp_path / "run.parquet")  # older pandas reads numbers of a CSV roughly
    quick = partial(hl.importance, level=None)
    by_frame = quick(hl.read(frame, space=space(), objective="cost"))
    by_file = quick(hl.read(tmp_path / "run.csv", space=tmp_path / "space.json", objective="cost"))
    assert by_frame.to_json() == by_file.to_json()
    storage = JournalStorage(JournalFileBackend(str(log)))
    by_study = quick(hl.read(optuna.load_study(study_name="demo", storage=storage)))
    assert by_study.to_json() == quick(hl.read(log)).to_json()


def test_results_are_frozen_records(log: Path) -> None:
    history = hl.read(log)
    importance, effect = hl.importance(history, level=None), hl.effect(history, "lr")
    assert {"parameters", "share", "std", "low", "high"} <= set(importance.frame.columns)
    assert all(isinstance(p, tuple) for p in importance.frame["parameters"])
    assert list(effect.frame.columns) == ["value", "mean", "std", "low", "high"]
    pair = hl.effect(history, ["lr", "wd"], grid=3).frame
    assert list(pair.columns) == ["lr", "wd", "mean", "std", "low", "high"]
    assert len(pair) == 9
    for record in (importance, effect, hl.overview(history)):
        with pytest.raises(AttributeError):
            record.objective = "other"  # type: ignore[misc]
        assert json.loads(record.to_json())["record"] == type(record).__name__
        assert type(record.plot()).__name__ == "Figure"
    with pytest.raises(ValueError, match="read-only"):
        importance.share[0] = 0.0


@pytest.mark.parametrize("name", ["GP", "Forest"])
def test_surrogates_stand_alone(name: str) -> None:
    from hyperlens import surrogates

    X = np.random.default_rng(0).random((30, 2))
    y = X[:, 0] + 2 * X[:, 1]
    mean, std = getattr(surrogates, name)().fit(X, y).predict(X)
    assert mean.shape == std.shape == (30,)
    assert np.corrcoef(mean, y)[0, 1] > 0.9
    assert (std >= 0).all()


def test_verbs_print_tables_for_people(log: Path) -> None:
    effect = good("effect", log, "wd", "--grid", "3").out.splitlines()
    assert effect[0].strip() == "Effect for value"
    top = next(k for k, line in enumerate(effect) if line.startswith("wd "))
    assert effect[top].split()[:4] == ["wd", "value", "std", "95"]
    assert "band" in effect[top]
    assert [line.split()[0] for line in effect[top + 1 : top + 4]] == ["0", "0.5", "1"]
    text = good("importance", log, "--level", "0").text
    assert "Importance for value" in text
    assert "interval" not in text
    assert "This can be trusted: the additive Gaussian process predicts" in text


def test_a_grid_ends_where_the_range_does(tmp_path: Path) -> None:
    ranges: dict[str, BaseDistribution] = {"lr": FloatDistribution(1e-4, 1e-1, log=True)}
    trials = [trial({"lr": 10**-x}, ranges, x) for x in np.linspace(1.5, 3.5, 9).tolist()]
    path = journal(tmp_path / "run.log", trials)
    rows = good("effect", path, "lr", "--grid", "3", "--format", "csv").out.splitlines()
    assert [row.split(",")[0] for row in (rows[1], rows[3])] == ["0.0001", "0.1"]


def test_several_studies_need_a_name(db: Path) -> None:
    said = run("importance", db)
    assert said.code == 2
    assert "'demo', 'other' with --study" in said.err
    assert (
        records("importance", "--among", "all", db, "--study", "other", "--level", "0")["trials"]
        == 12
    )


def test_maximised_is_the_mirror_of_minimised(log: Path, tmp_path: Path) -> None:
    up = journal(tmp_path / "up.log", trials_of(40, sign=-1.0), direction="maximize")
    low, high = (
        records("importance", "--among", "all", log),
        records("importance", "--among", "all", up),
    )
    assert low["parameters"] == high["parameters"]
    for name in ("share", "std", "low", "high"):
        np.testing.assert_allclose(low[name], high[name], rtol=1e-9)
    down_effect, up_effect = records("effect", log, "lr"), records("effect", up, "lr")
    np.testing.assert_allclose(up_effect["mean"], -np.array(down_effect["mean"]), rtol=1e-9)
    np.testing.assert_allclose(up_effect["low"], -np.array(down_effect["high"]), rtol=1e-9)
    best = max(-cost(v) for v in random_values(40))
    text = good("explain", up, "--level", "0").text
    assert f"value (maximised) best {best:.4g} in trial" in text
    assert hl.overview(hl.read(up)).trace.tolist() == sorted(hl.overview(hl.read(up)).trace)


def test_a_table_is_maximised_on_request(tmp_path: Path) -> None:
    path = table(tmp_path / "run.csv")
    words = ["--space", tmp_path / "space.json", "--objective", "cost", "--level", "0"]
    costs = [cost(v) for v in random_values(40)]
    assert f"cost (minimised) best {min(costs):.4g} in" in good("explain", path, *words).text
    said = good("explain", path, *words, "--maximize")
    assert f"cost (maximised) best {max(costs):.4g} in" in said.text


def test_several_objectives(tmp_path: Path) -> None:
    trials = [trial(v, LR_WD, cost(v), v["wd"]) for v in random_values(40)]
    path = journal(tmp_path / "two.log", trials, directions=["minimize", "maximize"])
    said = good("explain", path, "--level", "0")
    assert "objective value_0 (minimised)" in said.text
    assert "2 objectives; shown is 'value_0'" in said.text
    assert "'value_1' with --objective" in said.text
    other = good("explain", path, "--objective", "value_1", "--level", "0")
    assert "objective value_1 (maximised)" in other.text
    assert f"best {max(v['wd'] for v in random_values(40)):.4g} in trial" in other.text
    assert "shown is" not in other.text
    assert "shown is 'value_0'" in good("importance", path, "--level", "0").text
    first = records("importance", "--among", "all", path, "--objective", "value_1", "--level", "0")
    assert first["objective"] == "value_1"
    assert first["parameters"][0] == ["wd"]
    refused = run("effect", path, "lr", "--objective", "loss")
    assert refused.code == 2
    assert "'value_0', 'value_1'" in refused.err


def conditional(n: int = 60) -> list[FrozenTrial]:
    """svm with C, rf with depth."""
    rng = np.random.default_rng(3)
    models = CategoricalDistribution(["svm", "rf"])
    trials = []
    for k in range(n):
        if k % 2:
            c = float(10 ** rng.uniform(-3, 3))
            c_range = FloatDistribution(1e-3, 1e3, log=True)
            values: dict[str, Any] = {"model": "svm", "C": c}
            trials.append(trial(values, {"model": models, "C": c_range}, abs(math.log10(c))))
        else:
            depth = int(rng.integers(1, 21))
            values = {"model": "rf", "depth": depth}
            ranges = {"model": models, "depth": IntDistribution(1, 20)}
            trials.append(trial(values, ranges, 3 + depth / 10))
    return trials


def test_conditions_are_inferred_and_said(tmp_path: Path) -> None:
    path = journal(tmp_path / "tree.log", conditional())
    file, page = tmp_path / "out.json", tmp_path / "report.html"
    text = good("explain", path, "--json", file, "--html", page).text
    for words in ("'C' is active when model is svm", "'depth' is active when model is rf"):
        assert f"Inferred from 60 trials: {words}." in text
    overview = json.loads(file.read_text())["overview"]["overview"]
    assert overview["conditions"] == {"C": "model is svm", "depth": "model is rf"}
    assert records("importance", "--among", "all", path, "--level", "0")["parameters"][0] == [
        "model"
    ]
    report = page.read_text()  # C counts once, under its condition
    assert "C, when model is svm" in report
    assert "model × C" not in report
    assert "'C' is active only when model is svm" in good("effect", path, "C").text
    together = run("effect", path, "C", "depth")
    assert together.code == 2
    assert "never active together" in together.err


def test_one_parameter_is_enough(tmp_path: Path) -> None:
    only = {"x": FloatDistribution(0, 1)}
    values = np.random.default_rng(0).random(20).tolist()
    path = journal(tmp_path / "one.log", [trial({"x": x}, only, x**2) for x in values])
    for surrogate in ("gp", "forest"):
        assert records("importance", "--among", "all", path, "--surrogate", surrogate)[
            "share"
        ] == pytest.approx([1.0])
    assert "best with x near 0" in _report(path, tmp_path)


def _report(path: Path, folder: Path) -> str:
    good("explain", path, "--html", folder / "r.html")
    return (folder / "r.html").read_text()


@pytest.mark.parametrize("kind", ["log", "db"])
def test_reading_changes_nothing(kind: str, request: pytest.FixtureRequest, folder: Path) -> None:
    path: Path = request.getfixturevalue(kind)
    before = path.read_bytes(), path.stat().st_mtime_ns, sorted(folder.iterdir())
    good("explain", path, "--study", "demo", "--level", "0")
    good("effect", f"sqlite:///{path}" if kind == "db" else path, "lr", "--study", "demo")
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(folder.iterdir())) == before


def test_the_same_input_and_seed_give_the_same_bytes(tmp_path: Path) -> None:
    """In processes of their own, with other hashes of texts and other numbers of threads."""
    path = journal(tmp_path / "tree.log", conditional())
    importance = ["importance", "--among", "all", path, "--level", "0", "--format", "json"]
    written = []
    for threads in ("1", "2"):
        names = [str(tmp_path / f"{threads}.{ending}") for ending in ("json", "html")]
        pools = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        done = in_process_of_its_own(
            ["explain", str(path), "--json", names[0], "--html", names[1]],
            PYTHONHASHSEED=threads,
            **dict.fromkeys(pools, threads),
        )
        assert done.returncode == 0, done.stderr
        written.append([Path(name).read_bytes() for name in names])
    assert written[0] == written[1]
    seeds = [json.loads(good(*importance, "--seed", s).out)["share"] for s in "012"]
    assert seeds[0] != seeds[1] != seeds[2]  # the seed is used


def test_the_number_of_cores_changes_nothing(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How a sum is split over threads moves its last bits; so long a run is split."""
    long = journal(tmp_path / "long.log", trials_of(400))
    monkeypatch.setattr(shares, "GP_HALVES", 2)
    monkeypatch.setattr(shares, "HALVES", 3)
    found = []
    for cores in (1, 2):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        with threadpool_limits(cores, user_api="blas"):
            history = hl.read(long)
            found.append(
                [
                    hl.importance(hl.read(log), surrogate="forest").to_json(),
                    hl.importance(history, surrogate="gp").to_json(),
                    hl.effect(history, "lr", grid=5).to_json(),
                ]
            )
    assert found[0] == found[1]


def test_a_closed_pipe_is_no_error(log: Path) -> None:
    code = "from hyperlens.cli import main; main()"
    words = [sys.executable, "-c", code, "importance", str(log), "--level", "0"]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(words, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert complaints(done.stderr) == ""


def test_a_terminal_without_unicode_shows_what_it_can(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.BytesIO()
    terminal = io.TextIOWrapper(shown, encoding="ascii", write_through=True)
    monkeypatch.setattr(sys, "argv", ["hyperlens", "importance", str(log), "--level", "0"])
    with redirect_stdout(terminal), pytest.raises(SystemExit) as stop:
        cli.main()
    assert not stop.value.code
    assert rb"lr \xd7 wd" in shown.getvalue()


@pytest.mark.parametrize("problem", [ZeroDivisionError("1 / 0"), KeyboardInterrupt()])
def test_our_own_mistakes_are_one_line_too(
    problem: BaseException, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr("hyperlens.commands.explain.read", fail)
    said = run("explain", log)
    assert said.code == (1 if isinstance(problem, Exception) else 130)
    assert len(said.err.splitlines()) <= 1
    assert "Traceback" not in said.err


def test_written_files_can_be_pipes_and_links(log: Path, tmp_path: Path) -> None:
    """A device such as /dev/stdout is written to, not replaced by a file."""
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    good("explain", log, "--json", link, "--level", "0")
    assert link.is_symlink()
    assert json.loads(target.read_text())["choices"]["seed"] == 0
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    copy = tmp_path / "copy.json"
    with copy.open("wb") as file, subprocess.Popen(["cat", str(pipe)], stdout=file) as reader:
        good("explain", log, "--json", pipe, "--level", "0")
        reader.wait(timeout=30)
    assert copy.read_bytes() == target.read_bytes()
    assert pipe.is_fifo()
