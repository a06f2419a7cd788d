"""Where trials run: whatever an objective does, its trial has a cost or a reason, and others go on."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hyperlens as hl
from hyperlens import AnalysisError, Parameter
from hyperlens.optimize.running.cluster import dask
from hyperlens.optimize.running.engine import Engine, Futures, Here, Interrupted, open_engine
from hyperlens.optimize.running.processes import Processes
from hyperlens.optimize.running.trial_outcome import LONGEST_REASON, Outcome, evaluate, judged
from hyperlens.runs.history import State

HANG = "hang"


def behave(configuration: Mapping[str, Any]) -> Any:
    """An objective that does what its configuration says."""
    what = configuration["do"]
    if what == "raise":
        raise ValueError("no\nluck")
    if what == "exit":
        sys.exit(3)
    if what == "vanish":
        os._exit(7)
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == HANG:
        threading.Event().wait()
    return what


def outcomes(engine: Engine, *what: Any) -> list[Outcome]:
    """Of all these, as many at once as the engine takes, in their order."""
    found: dict[int, Outcome] = {}
    todo = list(enumerate(what))
    try:
        while len(found) < len(what):
            while todo and engine.free > 0:
                number, do = todo.pop(0)
                engine.start(number, {"do": do}, None)
            found.update(engine.wait(60.0))
    finally:
        engine.close()
    return [found[k] for k in range(len(what))]


# One evaluation


def test_costs_are_finite_numbers_of_any_make() -> None:
    for cost in (1, 2.5, np.float32(0.5), np.array(3), True):
        assert judged(cost) == Outcome(float(cost))


@pytest.mark.parametrize("returned", [None, "0.5", float("nan"), np.inf, -np.inf, 1j, [1, 2], {}])
def test_what_is_no_cost_is_said(returned: Any) -> None:
    outcome = judged(returned)
    assert outcome.cost is None
    told = f"returned {returned!r}, which is not a finite number"
    if returned == [1, 2]:
        told += "; several values are named by --objective (objectives= in Python)"
    assert outcome.reason == told


def test_an_exception_is_told_in_one_line_with_its_place() -> None:
    line = behave.__code__.co_firstlineno + 4
    reason = evaluate(behave, {"do": "raise"}).reason
    assert reason == f"ValueError: no luck (test_engine.py, line {line})"
    assert (evaluate(behave, {"do": "exit"}).reason or "").startswith("SystemExit: 3")
    assert evaluate(behave, {}).cost is None

    def long(configuration: Any) -> float:
        raise RuntimeError("x" * 5000)

    assert len(evaluate(long, {}).reason or "") < LONGEST_REASON + 50


def test_a_budget_is_handed_over_where_there_is_one() -> None:
    assert evaluate(lambda c, budget: c["x"] * budget, {"x": 2.0}, 0.5) == Outcome(1.0)


def test_an_objective_cannot_change_the_configuration_that_is_kept() -> None:
    configuration = {"x": 1.0}
    evaluate(lambda c: c.pop("x"), configuration)
    assert configuration == {"x": 1.0}


# This process


def test_here_evaluates_one_at_a_time_in_this_process() -> None:
    engine = Here(lambda c: os.getpid())
    assert outcomes(engine, 1, 2) == [Outcome(float(os.getpid()))] * 2


# Processes of our own


def test_processes_survive_whatever_an_objective_does() -> None:
    what = [1.0, "raise", "exit", "vanish", float("nan"), "kill", 2.0]
    found = outcomes(Processes(behave, 2), *what)
    assert [o.cost for o in found] == [1.0, None, None, None, None, None, 2.0]
    assert found[3].reason == "its process ended itself with exit code 7"
    assert found[5].reason == "its process was ended by SIGKILL"


def test_a_trial_past_its_time_is_ended_and_others_are_not() -> None:
    found = outcomes(Processes(behave, 2, timeout=0.5), HANG, 1.0, HANG, 2.0)
    assert [o.cost for o in found] == [None, 1.0, None, 2.0]
    assert found[0].reason == "took longer than 0.5 s"


def test_processes_take_functions_that_cannot_be_pickled() -> None:
    offset = 5
    assert outcomes(Processes(lambda c: c["do"] + offset, 1), 1) == [Outcome(6.0)]


def test_what_an_ended_trial_started_ends_with_it(tmp_path: Path) -> None:
    """A child of the objective holds the pipe open: it closes only when that child is dead too."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def objective(configuration: Any) -> float:
        subprocess.Popen(["sh", "-c", f"exec sleep 1000 > {pipe}"])
        threading.Event().wait()
        return 0.0

    engine = Processes(objective, 1)
    engine.start(0, {}, None)
    with pipe.open() as reader:  # opens when the child has it open
        engine.close()
        assert reader.read() == ""


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program = f"""
import threading
from hyperlens.optimize.running.processes import Processes

def objective(configuration):
    with open({str(pipe)!r}, "w") as writer:
        writer.write("up\\n")
        writer.flush()
        threading.Event().wait()

engine = Processes(objective, 2)
for trial in range(2):
    engine.start(trial, {{}}, None)
engine.wait(1000)
"""
    parent = subprocess.Popen([sys.executable, "-c", program])
    with pipe.open() as reader:
        assert [reader.readline(), reader.readline()] == ["up\n", "up\n"]
        parent.kill()
        parent.wait()
        assert reader.read() == ""  # both workers are gone


# Executors


def test_any_executor_will_do() -> None:
    with ThreadPoolExecutor(3) as threads:
        engine = open_engine(behave, threads)
        assert engine.free == 3
        found = outcomes(engine, 1.0, "raise", 3.0, 4.0, 5.0)
    assert [o.cost for o in found] == [1.0, None, 3.0, 4.0, 5.0]


def test_a_pool_that_breaks_interrupts_the_run_but_loses_no_result() -> None:
    with ProcessPoolExecutor(1) as pool:
        engine = open_engine(behave, pool)
        engine.start(0, {"do": 1.0}, None)
        assert engine.wait(60.0) == [(0, Outcome(1.0))]
        engine.start(1, {"do": "vanish"}, None)
        with pytest.raises(Interrupted, match="goes on from here"):
            engine.wait(60.0)
        with pytest.raises(Interrupted, match="takes no more trials"):
            engine.start(2, {"do": 1.0}, None)


def test_an_executor_gives_up_late_trials_and_counts_their_workers_as_busy() -> None:
    release = threading.Event()

    def objective(configuration: Mapping[str, Any]) -> float:
        if configuration["do"] == HANG:
            release.wait()
        return 1.0

    with ThreadPoolExecutor(2) as threads:
        engine = Futures(objective, threads, lambda: 2, timeout=0.3)
        engine.start(0, {"do": HANG}, None)
        assert engine.wait(60.0) == [(0, Outcome(reason="took longer than 0.3 s"))]
        assert engine.free == 1
        engine.start(1, {"do": HANG}, None)
        assert engine.wait(60.0) == [(1, Outcome(reason="took longer than 0.3 s"))]
        with pytest.raises(Interrupted, match="All 2 workers hang"):
            _ = engine.free
        release.set()


def test_what_no_engine_can_do_is_refused_with_a_remedy() -> None:
    with pytest.raises(AnalysisError, match="choose 'processes' or 'dask'"):
        open_engine(behave, "ray")
    with pytest.raises(AnalysisError, match="choose 1 or more"):
        open_engine(behave, workers=0)
    with pytest.raises(AnalysisError, match="positive number"):
        open_engine(behave, timeout=0.0)
    with pytest.raises(AnalysisError, match="choose that engine"):
        open_engine(behave, scheduler="tcp://127.0.0.1:1")
    with pytest.raises(AnalysisError, match="needs the address of a scheduler"):
        open_engine(behave, "dask")


def test_a_missing_dask_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(AnalysisError, match=r"pip install hyperlens\[dask\]"):
        open_engine(behave, "dask", scheduler="tcp://127.0.0.1:1")


# Dask: a real scheduler and real workers on loopback


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Cluster:
    """One `dask scheduler` and some `dask worker` processes of ours."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self.address = folder, f"tcp://127.0.0.1:{free_port()}"
        port = self.address.rpartition(":")[2]
        scheduler = ["scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
        self.processes = [self._dask(*scheduler, "--no-jupyter")]
        self.workers = [self._worker(k) for k in range(workers)]
        self.processes += self.workers

    def _worker(self, k: int) -> subprocess.Popen[bytes]:
        options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
        folder = ["--local-directory", str(self.folder / str(k)), "--name", str(k)]
        return self._dask("worker", self.address, *options, *folder)

    def _dask(self, *arguments: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install hyperlens[dask]")
    with contextlib.closing(Cluster(tmp_path, workers=2)) as started:
        yield started


def ready(cluster: Cluster, workers: int) -> None:
    from distributed import Client

    client: Any = Client  # has no types
    with client(cluster.address, set_as_default=False, timeout=60) as connected:
        connected.wait_for_workers(workers, timeout=60)


@pytest.mark.filterwarnings("default")  # Dask's own, when a connection is cut
def test_a_dask_run_survives_the_death_of_a_worker(cluster: Cluster, tmp_path: Path) -> None:
    """The first trial holds its worker until that worker is killed under it."""
    ready(cluster, 2)
    engine = dask(behave, cluster.address, None, None)
    assert engine.free == 2  # as many as the cluster has threads
    assert [o.cost for o in outcomes(engine, 1.0, "raise", 2.0)] == [1.0, None, 2.0]
    pipe, once = tmp_path / "pipe", tmp_path / "once"
    os.mkfifo(pipe)

    def objective(configuration: Mapping[str, Any]) -> float:
        with contextlib.suppress(FileExistsError):
            once.touch(exist_ok=False)
            pipe.write_text(str(os.getpid()))
            threading.Event().wait()
        return float(configuration["x"]) ** 2

    victim = threading.Thread(
        target=lambda: os.kill(int(pipe.read_text()), signal.SIGKILL), daemon=True
    )
    victim.start()
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    history = hl.minimize(
        objective,
        [Parameter("x", "float", -1, 1)],
        "random",
        trials=12,
        engine="dask",
        scheduler=cluster.address,
        storage=storage,
    )
    victim.join()
    assert sum(worker.poll() is not None for worker in cluster.workers) == 1
    assert [t.number for t in history.trials] == list(range(12))
    assert {t.state for t in history.trials} == {State.COMPLETE}
    assert hl.read(storage).trials == history.trials


def test_an_address_without_a_scheduler_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("hyperlens.optimize.running.cluster.CONNECTING", 0.5)
    with pytest.raises(AnalysisError, match="There is no Dask scheduler at"):
        dask(behave, f"tcp://127.0.0.1:{free_port()}", None, None)
