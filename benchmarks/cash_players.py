"""One method on one data set in so many seconds, in a process of its own: prints what came of it.

python benchmarks/cash_players.py METHOD FILE SPLIT SECONDS [wall|processor]

It needs pandas, scikit-learn and the method's own package, so that FLAML may live in another
environment. All get the same rows; the table is given as it is, and each method encodes it as it does.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from typing import Any

import numpy as np
import pandas as pd

TEST = 0.25
CANDIDATES = (9, 27, 81, 243, 729)  # of halving, one search after the other


def rows(path: str, split: int) -> tuple[Any, Any, Any, Any]:
    from sklearn.model_selection import StratifiedShuffleSplit

    frame = pd.read_csv(path)
    X, y = frame.drop(columns="target"), frame["target"].astype(str).to_numpy()
    train, test = next(StratifiedShuffleSplit(1, test_size=TEST, random_state=split).split(X, y))
    return X.iloc[train], y[train], X.iloc[test], y[test]


def ours(X: Any, y: Any, Z: Any, split: int, seconds: float, **options: Any) -> tuple[Any, str]:
    import hyperlens as hl

    found = hl.CASHClassifier(time=seconds, random_state=split, **options).fit(X, y)
    return found.predict_proba(Z), found.ensemble_.sentence


def best_alone(X: Any, y: Any, Z: Any, split: int, seconds: float) -> tuple[Any, str]:
    return ours(X, y, Z, split, seconds, ensemble=1)


def even(X: Any, y: Any, Z: Any, split: int, seconds: float) -> tuple[Any, str]:
    """All models are drawn alike, instead of the paper's weights."""
    return ours(X, y, Z, split, seconds, sampling="uniform")


def flaml(X: Any, y: Any, Z: Any, split: int, seconds: float) -> tuple[Any, str]:
    from flaml import AutoML

    search = AutoML()
    search.fit(
        X_train=X, y_train=y, task="classification", metric="log_loss", time_budget=seconds,
        n_jobs=1, seed=split, verbose=0,
    )  # fmt: skip
    return search.predict_proba(Z), str(search.best_estimator)


def autogluon(X: Any, y: Any, Z: Any, split: int, seconds: float) -> tuple[Any, str]:
    """Its medium preset; models go to a folder that is removed."""
    from tempfile import TemporaryDirectory

    from autogluon.tabular import TabularPredictor

    with TemporaryDirectory() as folder:
        found = TabularPredictor("target", eval_metric="log_loss", path=folder, verbosity=0).fit(
            X.assign(target=y), time_limit=seconds, presets="medium_quality", num_cpus=1
        )
        chances = found.predict_proba(Z)[list(np.unique(y))].to_numpy()
        return chances, str(found.model_best)


def boosting(X: Any, y: Any, Z: Any, split: int, seconds: float) -> tuple[Any, str]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    from hyperlens.cash.models.preprocessing import pipeline

    model = pipeline(HistGradientBoostingClassifier(random_state=split), scaled=False)
    return model.fit(X, y).predict_proba(Z), "defaults"


def halving(X: Any, y: Any, Z: Any, split: int, seconds: float) -> tuple[Any, str]:
    """Larger searches one after the other until time is over; the last that ended counts."""
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    ends = time.monotonic() + 0.97 * seconds
    process = context.Process(target=_halvings, args=(theirs, X, y, Z, split), daemon=True)
    process.start()
    theirs.close()
    found: tuple[Any, str] = (_prior(y, len(Z)), "none ended in time")
    try:
        while ours.poll(max(0.0, ends - time.monotonic())):
            found = ours.recv()
    except EOFError:
        pass
    process.kill()
    process.join()
    return found


def _halvings(connection: Any, X: Any, y: Any, Z: Any, split: int) -> None:
    for found in _growing(X, y, Z, split):
        connection.send(found)
    connection.close()


def _growing(X: Any, y: Any, Z: Any, split: int) -> Iterator[tuple[Any, str]]:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - defines the next
    from sklearn.model_selection import HalvingRandomSearchCV, StratifiedShuffleSplit

    from benchmarks.cash import Configured, Drawn

    for candidates in CANDIDATES:
        search = HalvingRandomSearchCV(
            Configured(), {"configuration": Drawn()}, n_candidates=candidates, factor=3,
            min_resources=len(y) // 9, max_resources=len(y), scoring="neg_log_loss",
            cv=StratifiedShuffleSplit(3, test_size=0.2, random_state=split), random_state=split,
        ).fit(X, y)  # fmt: skip
        chosen = search.best_params_["configuration"]["model"]
        yield search.predict_proba(Z), f"{chosen} of {candidates}"


def _prior(y: Any, n: int) -> Any:
    _, counts = np.unique(y, return_counts=True)
    return np.tile(counts / counts.sum(), (n, 1))


METHODS: dict[str, Callable[..., tuple[Any, str]]] = {
    "hyperlens": ours,
    "hyperlens, best alone": best_alone,
    "hyperlens, even": even,
    "FLAML": flaml,
    "AutoGluon": autogluon,
    "HalvingRandomSearchCV": halving,
    "HistGradientBoosting": boosting,
}
PACKAGES = {  # whose version tells what was measured; ours are told by the commit
    "FLAML": "flaml",
    "AutoGluon": "autogluon.tabular",
    "HalvingRandomSearchCV": "scikit-learn",
    "HistGradientBoosting": "scikit-learn",
}


def main(method: str, path: str, split: str, seconds: str, clock: str = "wall") -> None:
    if clock == "processor":  # before anything that looks at a clock is imported
        from benchmarks.cpu_clock import counting

        counting()
    from sklearn.metrics import log_loss

    if method == "hyperlens" or method.startswith("hyperlens,"):
        import hyperlens.cash.estimator  # noqa: F401 - importing is not searching
    if method == "FLAML":
        import flaml  # noqa: F401
    if method == "AutoGluon":
        import autogluon.tabular  # noqa: F401
    X, y, Z, truth = rows(path, int(split))
    warnings.simplefilter("ignore")
    before = sum(os.times()[:4])
    began = time.monotonic()
    chances, chosen = METHODS[method](X, y, Z, int(split), float(seconds))
    taken = time.monotonic() - began
    used = os.times()
    cpu = used.user + used.system + used.children_user + used.children_system - before
    loss = log_loss(truth, chances, labels=np.unique(y))
    print(json.dumps({"loss": float(loss), "seconds": taken, "cpu": cpu, "chosen": chosen}))


if __name__ == "__main__":
    main(*sys.argv[1:6])
