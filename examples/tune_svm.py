"""Tune a support vector machine on scikit-learn's digits with Optuna, 60 trials into SQLite.

    python examples/tune_svm.py study.db
    hyperlens explain study.db --html report.html

Run again, it goes on where it stopped.
"""

from __future__ import annotations

import sys
import warnings

import optuna
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

TRIALS = 60

X, y = load_digits(return_X_y=True)


def accuracy(trial: optuna.Trial) -> float:
    kernel = trial.suggest_categorical("kernel", ["rbf", "poly", "sigmoid"])
    model = SVC(
        kernel=kernel,
        C=trial.suggest_float("C", 1e-2, 1e3, log=True),
        gamma=trial.suggest_float("gamma", 1e-4, 1e1, log=True),
        degree=trial.suggest_int("degree", 2, 5) if kernel == "poly" else 3,
        shrinking=trial.suggest_categorical("shrinking", [True, False]),
    )
    scores = cross_val_score(make_pipeline(MinMaxScaler(), model), X, y, cv=5, n_jobs=2)
    return float(scores.mean())


def main(path: str) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # set_metric_names
    study = optuna.create_study(
        study_name="svm on digits",
        storage=f"sqlite:///{path}",
        direction="maximize",
        load_if_exists=True,
        sampler=optuna.samplers.TPESampler(seed=0, n_startup_trials=20),
    )
    study.set_metric_names(["accuracy"])
    missing = TRIALS - len(study.trials)
    print(f"Tuning: {max(missing, 0)} trials of a support vector machine on 1797 digits")
    if missing > 0:
        study.optimize(accuracy, n_trials=missing, show_progress_bar=sys.stderr.isatty())
    print(f"Best accuracy {study.best_value:.4f} in trial {study.best_trial.number}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "study.db")
