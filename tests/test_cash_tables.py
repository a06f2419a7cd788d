"""Columns as numbers: categories few and many, short texts, and that they are made once a split."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hyperlens as hl
from hyperlens.cash.data.dataset import prepare
from hyperlens.cash.measuring.evaluation import Evaluation
from hyperlens.cash.measuring.prepared import Prepared
from hyperlens.cash.models.category_means import PRIOR
from hyperlens.cash.models.pool import build, further, pool_space
from hyperlens.cash.models.preprocessing import MANY, Encoder, preparation
from hyperlens.cash.models.text_columns import DIRECTIONS, TextNumbers
from hyperlens.cash.results.saved_model import SAFE, read_safe, write_safe
from hyperlens.cash.search.optimizers import first_vectors

ROWS = 240
GOOD, BAD = ("works very well", "would buy again"), ("broke after days", "asked for money back")


def reviews(rows: int = ROWS) -> tuple[pd.DataFrame, Any]:
    """Texts of their own, in which two words tell the class."""
    rng = np.random.default_rng(0)
    good = rng.random(rows) < 0.5
    texts = [f"{rng.choice(GOOD if g else BAD)} item {rng.integers(10**9)}" for g in good]
    return pd.DataFrame({"review": texts, "n": rng.random(rows)}), np.where(good, "good", "bad")


def test_few_categories_are_a_column_each_where_sizes_matter() -> None:
    frame = pd.DataFrame(
        {"c": ["b", "a", None, "c"], "two": ["x", "y", "x", None], "n": [1.0, 2, 3, 4]}
    )
    spread = Encoder(spread=True).fit(frame).transform(frame)
    two_and_n, ones = spread[:, :2], spread[:, 2:]
    expected = np.array([[0, 1], [1, 2], [0, 3], [np.nan, 4]])
    assert np.array_equal(two_and_n, expected, equal_nan=True)
    assert ones.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert Encoder().fit(frame).transform(frame).shape == (4, 3)


def test_many_categories_are_the_mean_target_of_other_rows() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2 * MANY, 2000)
    frame = pd.DataFrame({"town": [f"t{c}" for c in codes]})
    y = (rng.random(2000) < codes / (2 * MANY)).astype(int)
    encoder = Encoder().fit(frame, y)
    means = encoder.transform(frame)[:, 0]
    truth = np.array([y[codes == c].mean() for c in codes])
    assert np.corrcoef(means, truth)[0, 1] > 0.99  # shrunk a little
    noise = rng.permutation(y)
    lonely = pd.DataFrame({"name": [f"n{c}" for c in rng.permutation(2000) // 2]})
    seen = Encoder().fit_transform(lonely, noise)[:, 0]
    assert abs(np.corrcoef(seen, noise)[0, 1]) < 0.15  # a row does not tell itself its target
    unseen = encoder.transform(pd.DataFrame({"town": ["elsewhere", None]}))[:, 0]
    assert unseen == pytest.approx([y.mean()] * 2, abs=0.01)


def test_numbers_as_targets_code_many_categories_too() -> None:
    frame = pd.DataFrame({"town": [f"t{k % 40}" for k in range(800)]})
    y = np.array([float(k % 40) for k in range(800)])
    coded = Encoder().fit(frame, y).transform(frame)
    assert coded.shape == (800, 1)
    by_hand = (20 * y + PRIOR * y.mean()) / (20 + PRIOR)
    assert coded[:, 0] == pytest.approx(by_hand)
    several = Encoder().fit(frame, y.astype(int) % 3).transform(frame)
    assert several.shape == (800, 3)
    assert several.sum(axis=1) == pytest.approx(1)


def test_texts_are_a_few_numbers() -> None:
    frame, y = reviews()
    coded = Encoder().fit_transform(frame, y)
    assert coded.shape[0] == ROWS
    assert np.isfinite(coded).all()
    model = build({"model": "GaussianNB", "GaussianNB:var_smoothing": 1e-3}, "classification")
    half = ROWS // 2
    assert model.fit(frame[:half], y[:half]).score(frame[half:], y[half:]) > 0.95
    gaps = frame.assign(review=None)
    assert np.isfinite(preparation(True).fit(frame, y).transform(gaps)).all()


def test_directions_of_words_by_their_number() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(40)]
    cells = pd.Series([" ".join(rng.choice(words, 5, replace=False)) for _ in range(80)])
    assert TextNumbers().fit(cells).transform(cells).shape == (80, DIRECTIONS + 1)
    alone = pd.Series([f"only{k} here{k}" for k in range(60)])  # no word comes twice
    assert TextNumbers().fit(alone).transform(alone).tolist() == [[2.0]] * 60


def test_a_column_of_texts_is_one_for_the_command_too() -> None:
    frame, y = reviews(120)
    table = prepare(frame.assign(label=y), "label")
    assert {c.name: c.role for c in table.described} == {"review": "text", "n": "number"}
    assert "columns: 1 number, 1 text" in " ".join(table.sentences)
    names = pd.DataFrame({"name": [f"name{k}" for k in range(120)], "n": frame["n"], "label": y})
    assert prepare(names, "label").described[0].role == "left out"


def test_texts_are_learnt_from_by_a_search() -> None:
    frame, y = reviews(160)
    found = hl.CASHClassifier(2, "random", models=["LogisticRegression"], folds=2, refits=1).fit(
        frame, y
    )
    assert found.best_loss_ < 0.3


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_model_of_a_search_by_the_clock_is_read_again_without_running_code(
    task: Any, tmp_path: Path
) -> None:
    pytest.importorskip("skops")
    frame, classes = reviews(120)
    frame["town"] = [f"t{k % 30}" for k in range(120)]
    y = classes if task == "classification" else frame["n"].to_numpy()
    for name in [m.name for m in further(task) if m.installed]:
        space = pool_space(task, [name])
        chosen = {**space.constants, **space.decode(first_vectors(space))[0]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a network that is not done
            model = build(chosen, task).fit(frame, y)
        write_safe(tmp_path / SAFE, model)
        assert np.array_equal(read_safe(tmp_path).predict(frame), model.predict(frame)), name


def test_columns_are_prepared_once_a_split(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = reviews(100)
    evaluation = Evaluation(frame[["n"]], y, "classification", splits=2)
    fitted: list[int] = []
    plain = Encoder.fit_transform

    def counted(self: Any, *given: Any, **options: Any) -> Any:
        fitted.append(1)
        return plain(self, *given, **options)

    monkeypatch.setattr(Encoder, "fit_transform", counted)
    smooth = [{"model": "GaussianNB", "GaussianNB:var_smoothing": v} for v in (1e-9, 0.1)]
    losses = [evaluation(each) for each in smooth]
    assert len(fitted) == 2  # splits
    whole = [
        -evaluation._scorer(build(smooth[1], "classification").fit(frame[["n"]].iloc[t], y[t]),
                            frame[["n"]].iloc[h], y[h])
        for t, h in evaluation.rows
    ]  # fmt: skip
    assert losses[1] == pytest.approx(np.mean(whole))


def test_no_more_is_kept_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperlens.cash.measuring.prepared.MOST_CELLS", 100)
    X, y = pd.DataFrame({"a": np.arange(60.0), "b": 1.0}), np.arange(60) % 2
    prepared, rows = Prepared(), np.arange(60)
    first = prepared.columns(X, y, rows[:30], rows[30:40], False)  # 80 cells
    assert prepared.columns(X, y, rows[:30], rows[30:40], False)[0] is first[0]
    second = prepared.columns(X, y, rows[30:], rows[:30], False)
    assert prepared.columns(X, y, rows[30:], rows[:30], False)[0] is not second[0]
