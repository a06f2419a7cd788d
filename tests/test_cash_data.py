"""Tables as they come: what each column is taken for, what is predicted, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest

from hyperlens import SourceError
from hyperlens.cash.data.column_kinds import Columns, TableError
from hyperlens.cash.data.dataset import prepare, read_table

N = 60


def raw(n: int = N, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    frame = pd.DataFrame(
        {
            "customer_id": rng.permutation(10_000)[:n],
            "row": np.arange(n) + 100,
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(10, 1, n).round(2),
            "city": rng.choice(["Rom", "Bern", "Oslo"], n),
            "signed": days.strftime("%Y-%m-%d"),
            "swiss": days.strftime("%d.%m.%Y"),
            "moment": days,
            "member": rng.random(n) < 0.5,
            "constant": "same",
            "empty": np.nan,
            "note": [f"note{k}" for k in rng.permutation(n)],
            "dirty": [str(k) for k in rng.integers(0, 9, n)],
            "label": rng.choice(["yes", "no"], n),
        }
    )
    frame.loc[3, "dirty"] = "unknown"
    frame.loc[::6, "city"] = None
    return frame


def roles(frame: pd.DataFrame, **options: Any) -> dict[str, str]:
    table = prepare(frame, "label", **options)
    return {c.name: c.role for c in table.described}


def test_what_each_column_is() -> None:
    table = prepare(raw(), "label")
    assert {c.name: c.role for c in table.described} == {
        "customer_id": "left out",
        "row": "left out",
        "age": "number",
        "income": "number",
        "city": "category",
        "signed": "date",
        "swiss": "date",
        "moment": "date",
        "member": "number",
        "constant": "left out",
        "empty": "left out",
        "note": "left out",
        "dirty": "number",
    }
    told = " ".join(table.sentences)
    assert "'label' has 2 different values, so classes are predicted (classification)." in told
    assert "Column 'row' numbers the rows and is left out." in told
    assert "Column 'constant' is the same in all rows and is left out." in told
    assert "Column 'note' is a text of its own in 60 rows and is left out." in told
    assert "Column 'dirty' (number) has 1 cell that is no number, such as 'unknown'." in told


def test_dates_by_hand() -> None:
    frame = pd.DataFrame(
        {
            "d": ["1970-01-02", "1970-02-01", None, "soon"] * 20,
            "us": ["01/31/2024", "12/24/2023"] * 40,
            "label": ["a", "b"] * 40,
        }
    )
    frame.loc[3:, "d"] = "1970-01-05"
    X = prepare(frame, "label").X
    assert X["d"].head(3).tolist()[:2] == [1, 31]
    assert np.isnan(X["d"][2])
    assert X["d: month"].head(2).tolist() == [1, 2]
    assert X["d: weekday"].head(2).tolist() == [4, 6]  # Friday and Sunday
    assert X["us: month"].head(2).tolist() == [1, 12]


def test_columns_can_be_kept_and_dropped() -> None:
    found = roles(raw(), keep=["customer_id", "note", "empty"], drop=["age"])
    assert (found["customer_id"], found["note"]) == ("number", "category")
    assert (found["age"], found["empty"]) == ("left out", "left out")
    with pytest.raises(TableError, match="no column 'agee'"):
        roles(raw(), drop=["agee"])


def test_a_new_table_is_read_as_the_first(tmp_path: Path) -> None:
    """Also after a detour through files, with other types, unseen values and columns to spare."""
    table = prepare(raw(), "label")
    path = tmp_path / "columns.joblib"
    joblib.dump(table.columns, path)
    columns = joblib.load(path)
    new = raw(20, seed=1)
    new.to_csv(tmp_path / "new.csv", index=False)
    from_file = columns.transform(pd.read_csv(tmp_path / "new.csv"))
    here = table.columns.transform(new.drop(columns="label"))
    pd.testing.assert_frame_equal(from_file, here, check_dtype=False)
    strange = new.assign(city="Ur", age="old", signed="never", member=None)
    found = table.columns.transform(strange)
    assert list(found.columns) == list(here.columns)
    assert found[["age", "signed", "member"]].isna().all().all()
    with pytest.raises(TableError, match=r"lacks the columns 'age', 'income'"):
        table.columns.transform(new.drop(columns=["age", "income"]))


@pytest.mark.parametrize(
    ("values", "task", "kind"),
    [
        ([0, 1] * 30, "classification", "i"),
        ([True, False] * 30, "classification", "b"),
        (["a", "b", "c"] * 20, "classification", "O"),
        ([1.0, 2.0, 3.0] * 20, "classification", "i"),
        ([0.5, 1.5] * 30, "classification", "U"),
        (list(range(60)), "regression", "f"),
        ([k / 7 for k in range(60)], "regression", "f"),
        ([*range(30)] * 2, "regression", "f"),
    ],
)
def test_the_target_says_what_is_predicted(values: list[Any], task: str, kind: str) -> None:
    table = prepare(raw().assign(label=values), "label")
    assert table.task == task
    assert table.y.dtype.kind == kind
    assert f"({task})" in table.sentences[0]


def test_the_task_can_be_given() -> None:
    counts = raw().assign(label=[1, 2, 3] * 20)
    assert prepare(counts, "label", "regression").y.tolist() == [1.0, 2.0, 3.0] * 20
    many = raw().assign(label=[*range(30)] * 2)
    assert prepare(many, "label", "classification").task == "classification"
    with pytest.raises(TableError, match="holds texts such as"):
        prepare(raw(), "label", "regression")


def mostly_numbers(wrong: int, n: int = 200) -> pd.DataFrame:
    """A target of numbers, of which some cells say "unknown"."""
    rng = np.random.default_rng(0)
    y = [str(v) for v in rng.standard_normal(n)]
    y[3 : 3 + wrong] = ["unknown"] * wrong
    return pd.DataFrame({"a": rng.standard_normal(n), "label": y})


@pytest.mark.parametrize("task", [None, "regression"])
def test_a_target_of_numbers_may_have_a_few_texts(task: Any) -> None:
    frame = mostly_numbers(7)
    table = prepare(frame, "label", task)
    assert table.task == "regression"
    rows = [k for k in range(200) if not 3 <= k < 10]
    assert table.y.tolist() == [float(frame["label"][k]) for k in rows]
    assert table.X["a"].tolist() == frame["a"][rows].tolist()
    said = "7 of 200 rows have a 'label' that is no number, such as 'unknown', and are left out."
    assert said in " ".join(table.sentences)


def test_a_target_with_many_texts_names_one() -> None:
    """A real culprit, and no way that leads back."""
    frame = mostly_numbers(20)
    culprit = "holds texts such as 'unknown' in 20 of 200 rows"
    with pytest.raises(TableError, match=culprit) as refused:
        prepare(frame, "label", "regression")
    assert "--task" not in str(refused.value)
    for task in (None, "classification"):
        with pytest.raises(TableError, match=f"181 classes in 200 rows.*{culprit}") as refused:
            prepare(frame, "label", task)
        assert "--task" not in str(refused.value)
    with pytest.raises(TableError, match=r"194 classes in 200 rows.*or --task regression"):
        prepare(mostly_numbers(7), "label", "classification")
    prices = frame.assign(label=[f"${k},{k:03}" for k in range(200)])
    with pytest.raises(TableError, match=r"looks like numbers with signs, such as '\$0,000'"):
        prepare(prices, "label")


def test_few_numbers_and_a_text_are_classes_of_numbers() -> None:
    frame = raw().assign(label=[*"01" * 29, "unknown", "unknown"])
    table = prepare(frame, "label")
    assert set(table.y) == {0, 1}
    assert len(table.y) == len(table.X) == 58
    assert "--task classification takes every value as a class." in " ".join(table.sentences)
    asked = prepare(frame, "label", "classification")
    assert set(asked.y) == {"0", "1", "unknown"}


def test_rows_without_a_target_are_left_out() -> None:
    frame = raw().assign(label=np.arange(N) / 7.0)
    frame.loc[:4, "label"] = np.nan
    frame.loc[5, "label"] = np.inf
    table = prepare(frame, "label")
    assert len(table.y) == len(table.X) == N - 6
    assert "5 of 60 rows have no 'label'" in " ".join(table.sentences)
    assert "1 rows have a 'label' that is no finite number" in " ".join(table.sentences)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": "same"}, "one class 'same'"),
        ({"label": np.nan}, "is empty in all rows"),
        ({"label": [f"name {k}" for k in range(N)]}, "60 classes in 60 rows"),
    ],
)
def test_targets_that_cannot_be_learnt(change: dict[str, Any], said: str) -> None:
    with pytest.raises(TableError, match=said):
        prepare(raw().assign(**change), "label")


def test_tables_without_anything_to_learn_from() -> None:
    with pytest.raises(TableError, match=r"no column 'lable'.* Did you mean 'label'"):
        prepare(raw(), "lable")
    with pytest.raises(TableError, match="no column beside the target"):
        prepare(raw()[["label"]], "label")
    with pytest.raises(TableError, match=r"No column is left .*'constant' is the same in all rows"):
        prepare(raw()[["constant", "row", "label"]], "label")


def test_files(tmp_path: Path) -> None:
    frame = raw()[["age", "city", "label"]]
    writers: dict[str, Any] = {
        "a.csv": lambda p: frame.to_csv(p, index=False),
        "b.csv": lambda p: frame.to_csv(p, index=False, sep=";", encoding="utf-8-sig"),
        "c.tsv": lambda p: frame.to_csv(p, index=False, sep="\t", na_rep="?"),
        "d.csv.gz": lambda p: frame.to_csv(p, index=False),
        "e.parquet": lambda p: frame.to_parquet(p),
    }
    for name, write in writers.items():
        write(tmp_path / name)
        found = read_table(tmp_path / name)
        assert list(found.columns) == ["age", "city", "label"]
        assert found["age"].tolist() == frame["age"].tolist()
        assert found["city"].isna().tolist() == frame["city"].isna().tolist()


def test_decimal_commas_between_semicolons(tmp_path: Path) -> None:
    """Also by the model, whoever reads the new table, and also in the target."""
    rng = np.random.default_rng(0)
    a, y = rng.standard_normal((2, N)).round(4)
    a[0] *= 1e-6  # written as 1,5e-06
    mixed = [f"{v:.3f}" if k % 2 else f"{v:.3f}".replace(".", ",") for k, v in enumerate(a)]
    frame = pd.DataFrame(
        {"a": a, "mixed": mixed, "city": ["Rom, Lazio", "Bern"] * (N // 2), "y": y}
    )
    path = tmp_path / "german.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    table = prepare(read_table(path), "y")
    assert table.task == "regression"
    assert table.y == pytest.approx(y)
    assert table.X["a"].to_numpy() == pytest.approx(a)
    assert table.X["mixed"].to_numpy() == pytest.approx(a, abs=6e-4)
    assert table.X["city"].tolist() == frame["city"].tolist()
    assert "decimal commas are read as such: 'a', 'mixed'." in " ".join(table.sentences)
    assert table.separator == ";"
    for options in ({}, {"decimal": ","}):
        again = table.columns.transform(pd.read_csv(path, sep=";", **options))
        pd.testing.assert_frame_equal(again, table.X, check_dtype=False)
    frame.to_csv(path, index=False, sep="\t", decimal=",")
    with pytest.raises(TableError, match=r"No column is left.*'a' looks like numbers with signs"):
        prepare(read_table(path), "city")


@pytest.mark.parametrize("form", ["${:,}", "{} %", "{:,}", "{:_}", "CHF {}.50", "€{},-"])
def test_what_looks_like_numbers_is_said_to(form: str) -> None:
    cells = [form.format(k).replace("_", "\u202f") for k in range(1000, 1000 + N)]
    frame = raw().assign(price=cells)
    (told,) = [s for s in prepare(frame, "label").sentences if "looks like" in s]
    assert told.startswith(f"Column 'price' looks like numbers with signs, such as '{cells[0]}'")
    frame["price"] = [f"{c} a piece" if k % 10 else c for k, c in enumerate(cells)]
    assert "looks like" not in " ".join(prepare(frame, "label").sentences)


def test_names_that_come_twice(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    rows = "".join(f"{k},{k % 7},{k % 3},{k % 2}\n" for k in range(20))
    path.write_text(f"a,b,a,label\n{rows}")
    table = prepare(read_table(path), "label")
    said = "The column name 'a' comes more than once; the later one is called 'a.1' here."
    assert said in table.sentences
    path.write_text(f"a,b,a.1,label\n{rows}")
    assert "more than once" not in " ".join(prepare(read_table(path), "label").sentences)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"keep": ["age"], "drop": ["age"]}, "'age' cannot be both kept and dropped"),
        ({"drop": ["label"]}, "'label' is the target.*leave it out of drop"),
        ({"keep": ["label"]}, "'label' is the target.*leave it out of keep"),
    ],
)
def test_wishes_that_contradict(options: dict[str, Any], said: str) -> None:
    with pytest.raises(TableError, match=said):
        prepare(raw(), "label", **options)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no table"),
        (b"", "cannot be read"),
        (b"a,b\n", "has no rows"),
        (b"PAR1 but not really", "cannot be read"),
        (b'a,b\n1,2\n3,"4\n', "cannot be read"),
        (b"a,b\n1,2\n3,4,5\n", "cannot be read"),
        (b"a,b\n\xff\xfe,2\n", "cannot be read"),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SourceError, match=said):
        read_table(path)


def test_columns_refuse_to_work_before_they_are_fitted() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        Columns().transform(raw())
