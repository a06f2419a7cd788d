"""Tables as they come: what each column is taken for, what is predicted, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest

from hyperlens import SourceError
from hyperlens.cash.columns import Columns, TableError
from hyperlens.cash.data import prepare, read_table

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
            "note": [f"note number {k}" for k in rng.permutation(n)],
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
    assert "Column 'dirty' (number) has 1 cells that are no numbers." in told


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
    with pytest.raises(TableError, match="no column 'lable'"):
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
