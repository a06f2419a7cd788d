"""Losses of many configurations of the pool on many data sets, measured once, to be replayed.

python -m experiments.cash_table --datasets 15 --configurations 120 --splits 2
python -m experiments.cash_table --minutes 30               # goes on where it stopped

One file a data set, in --out: every line holds a configuration's number and model, the validation
losses at 1/9, 1/3 and all of the training rows (means over splits), the test loss after training on all
of them, and the seconds it took. Configurations are spread over models in proportion to the root of
the weights of Sarigiannis et al. 2020, so that both weighted and uniform sampling can draw from them. A
loss of nothing is a failure.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from experiments import DATA, ROOT
from hyperlens import Space
from hyperlens.cash.measuring.evaluation import Evaluation
from hyperlens.cash.models.pool import pool_space
from hyperlens.optimize.models.model_sampling import ModelSampler, model_weights

RESOURCES = (1 / 9, 1 / 3, 1.0)
TEST = 0.3  # part of the rows that is held back for the test
FEWEST = 6  # configurations of a model
COLUMNS = ("number", "model", "r0", "r1", "r2", "test", "seconds")
OUT = ROOT.parent / "cash_table"


def configurations(count: int, seed: int = 0) -> tuple[Space, list[dict[str, Any]]]:
    """The same for every data set: so many, each model with its part."""
    space = pool_space("classification")
    weights = model_weights(space, "weighted")
    parts = {model: np.sqrt(weight) for model, weight in weights.items()}
    whole = sum(parts.values())
    found = []
    for k, (model, part) in enumerate(parts.items()):
        alone = {name: float(name == model) for name in weights}
        drawn = ModelSampler(space, alone).sample(
            max(FEWEST, round(count * part / whole)), np.random.default_rng([seed, k])
        )
        found += space.decode(drawn)
    return space, found


def smallest(folder: Path, count: int) -> list[str]:
    """Data sets by their number of cells, the smallest first."""
    listed = pd.read_csv(folder / "MANIFEST.csv")
    listed["cells"] = listed["rows"] * listed["n_features"]
    return list(listed.sort_values(["cells", "file"])["file"][:count])


def load(path: Path) -> tuple[pd.DataFrame, Any]:
    frame = pd.read_csv(path)
    return frame.drop(columns="target"), frame["target"].astype(str).to_numpy()


def measured(evaluation: Evaluation, whole: Any, configuration: dict[str, Any]) -> list[float]:
    """Validation losses by resource, and the test loss; nan where it fails."""
    rows: list[float] = []
    for resource in RESOURCES:
        try:
            rows.append(evaluation(configuration, resource))
        except Exception:  # whatever a library raises, the table says that it failed
            rows.append(np.nan)
    try:
        rows.append(whole.loss(configuration, *whole.rows[0]))
    except Exception:
        rows.append(np.nan)
    return rows


def fill(path: Path, out: Path, count: int, splits: int, deadline: float) -> int:
    """Measure what is missing of one data set; how many configurations it has then."""
    _, chosen = configurations(count)
    known = {int(row["number"]) for row in read(out)} if out.exists() else set()
    X, y = load(path)
    from sklearn.model_selection import StratifiedShuffleSplit

    train, test = next(StratifiedShuffleSplit(1, test_size=TEST, random_state=0).split(X, y))
    inner = Evaluation(X.iloc[train], y[train], "classification", splits)
    whole = Evaluation(X, y, "classification", 1)
    whole.__dict__["rows"] = [(train, test)]
    with out.open("a", newline="") as file:
        writer = csv.writer(file)
        if not known:
            writer.writerow(COLUMNS)
        for number, configuration in enumerate(chosen):
            if number in known:
                continue
            if time.time() > deadline:
                break
            began = time.perf_counter()
            losses = measured(inner, whole, configuration)
            numbers = [f"{loss:.6g}" if np.isfinite(loss) else "" for loss in losses]
            taken = f"{time.perf_counter() - began:.3f}"
            writer.writerow([number, configuration["model"], *numbers, taken])
            file.flush()
            known.add(number)
    return len(known)


def read(path: Path) -> Iterator[dict[str, str]]:
    """Whole lines of a table; the last may have been cut off."""
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row.get("seconds"):
                yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--datasets", type=int, default=15, help="how many, the smallest first")
    parser.add_argument("--configurations", type=int, default=120)
    parser.add_argument("--splits", type=int, default=2, help="train/validation splits")
    parser.add_argument("--minutes", type=float, default=600, help="then stop; go on later")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--data", type=Path, default=DATA / "openml")
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    settings = {"configurations": chosen.configurations, "splits": chosen.splits}
    about = chosen.out / "settings.json"
    if about.exists() and json.loads(about.read_text()) != settings:
        raise SystemExit(f"'{chosen.out}' holds a table of other settings; name another --out.")
    about.write_text(json.dumps(settings))
    deadline = time.time() + 60 * chosen.minutes
    names = smallest(chosen.data, chosen.datasets)
    with ProcessPoolExecutor(chosen.processes) as pool:
        jobs = [
            pool.submit(
                fill,
                chosen.data / name,
                chosen.out / name.replace(".csv.gz", ".csv"),
                chosen.configurations,
                chosen.splits,
                deadline,
            )
            for name in names
        ]
        for name, job in zip(names, jobs, strict=True):
            print(f"{name}: {job.result()} configurations", flush=True)


if __name__ == "__main__":
    main()
