"""Tune a support vector machine on scikit-learn's digits with Hyperlens itself, 40 trials into SQLite.

    python examples/tune_with_hyperlens.py run.db
    hyperlens explain run.db --html report.html

Kill it and run it again: it goes on where it was.
"""

from __future__ import annotations

import sys
from typing import Any

from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

import hyperlens as hl
from hyperlens import Parameter

SPACE = hl.Space.of(
    [
        Parameter("kernel", "categorical", choices=("rbf", "poly")),
        Parameter("C", "float", 1e-2, 1e3, log=True),
        Parameter("gamma", "float", 1e-4, 1e1, log=True),
        Parameter("degree", "integer", 2, 5),
    ],
    {"degree": ((("kernel", "equal", "poly"),),)},  # only a polynomial has a degree
)

X, y = load_digits(return_X_y=True)


def accuracy(configuration: dict[str, Any]) -> float:
    model = make_pipeline(MinMaxScaler(), SVC(**configuration))
    return float(cross_val_score(model, X, y, cv=5).mean())


def main(path: str) -> None:
    history = hl.maximize(accuracy, SPACE, trials=40, storage=path, workers=2, timeout=60)
    best = history.best()
    print(f"Best accuracy {best.costs[0]:.4f} in trial {best.number}: {dict(best.values)}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "run.db")
