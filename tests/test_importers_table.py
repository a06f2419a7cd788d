"""Tables of every kind, read back value by value, and each way in which one can be wrong."""

from __future__ import annotations

import gc
import gzip
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hyperlens.errors import HyperlensError, SourceError, SpaceError
from hyperlens.importers import read
from hyperlens.importers.tables.cells import typed
from hyperlens.runs.history import History, State
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

SPACE = Space.of(
    [
        Parameter("model", "categorical", choices=("svm", "tree")),
        Parameter("depth", "integer", 1, 20),
        Parameter("lr", "float", 1e-4, 1.0, log=True),
        Parameter("flag", "categorical", choices=(True, False)),
        Parameter("weights", "categorical", choices=("None", "NA", "1")),
        Parameter("units", "ordinal", choices=(8, 16, 32)),
    ],
    {"depth": ((("model", "equal", "tree"),),)},
    {"fixed": 1},
)
HEADER = "model,depth,lr,flag,weights,units,loss"
ROWS = [
    "svm,,0.1,True,None,8,0.5",
    "tree,3,0.01,False,NA,16.0,nan",
    "tree,4.0,1e-3,true,1,32,inf",
    "svm,nan,1,False,None,8,",
]
VALUES = [
    {"model": "svm", "lr": 0.1, "flag": True, "weights": "None", "units": 8},
    {"model": "tree", "depth": 3, "lr": 0.01, "flag": False, "weights": "NA", "units": 16},
    {"model": "tree", "depth": 4, "lr": 1e-3, "flag": True, "weights": "1", "units": 32},
    {"model": "svm", "lr": 1.0, "flag": False, "weights": "None", "units": 8},
]


def _write(path: Path, *rows: str, header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def _values(history: History) -> list[dict[str, Any]]:
    return [dict(trial.values) for trial in history.trials]


def _sentence(problem: pytest.ExceptionInfo[Any]) -> str:
    text = str(problem.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert ". " not in text
    assert ";" in text, "the remedy follows a semicolon"
    return text


def test_a_csv_matches_choices_by_their_text(tmp_path: Path) -> None:
    history = read(_write(tmp_path / "run.csv", *ROWS), space=SPACE, objective="loss")
    assert _values(history) == VALUES
    assert [type(t.values["flag"]) for t in history.trials] == [bool] * 4
    costs = [t.costs[0] for t in history.trials]
    assert costs == pytest.approx([0.5, math.nan, math.inf, math.nan], nan_ok=True)
    assert history.count(State.COMPLETE) == 4
    assert history.source == "table run.csv"
    assert not history.objective().maximize
    assert history.notes == ()


def test_other_forms_of_the_same_table(tmp_path: Path) -> None:
    text = "\n".join([HEADER, *ROWS])
    (tmp_path / "run.tsv").write_text(text.replace(",", "\t"))
    (tmp_path / "run.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "semicolons.csv").write_text("\n" + text.replace(",", ";"))
    (tmp_path / "mark.csv").write_text(text, encoding="utf-8-sig")
    frame = pd.DataFrame(VALUES).assign(loss=[0.5, math.nan, math.inf, math.nan])
    frame.to_parquet(tmp_path / "run.parquet")
    space = tmp_path / "space.json"
    SPACE.save(space)
    for source in ("run.tsv", "run.csv.gz", "semicolons.csv", "mark.csv", "run.parquet"):
        for given in (SPACE, SPACE.configspace, space, str(space)):
            history = read(tmp_path / source, space=given, objective="loss", maximize=True)
            assert _values(history) == VALUES
            assert history.objective().maximize
    assert _values(read(frame, space=SPACE, objective="loss")) == VALUES


def test_none_as_a_choice_may_be_an_empty_cell(tmp_path: Path) -> None:
    space = Space.of(
        [
            Parameter("a", "categorical", choices=(None, "x", 0.5)),
            Parameter("b", "categorical", choices=("y", None)),
        ],
        {"b": ((("a", "equal", "x"),),)},
    )
    frame = pd.DataFrame({"a": [None, "x", 0.5, "x"], "b": [None, None, None, "y"], "c": 1.0})
    frame.to_csv(tmp_path / "run.csv", index=False)
    for source in (frame, tmp_path / "run.csv"):
        history = read(source, space=space, objective="c", maximize=False)
        assert _values(history) == [
            {"a": None},
            {"a": "x", "b": None},
            {"a": 0.5},
            {"a": "x", "b": "y"},
        ]
        assert history.notes == ()


def test_well_known_columns_become_fields_of_trials(tmp_path: Path) -> None:
    header = "x,cost,Status,budget,seed,instance,start_time,ended,trial,remark"
    path = _write(
        tmp_path / "run.csv",
        "0.5,1,success,9,3,a,100.5,2024-01-01T00:00:00+00:00,7,hm",
        "0.6,2,StatusType.CRASHED,,,,,,9,",
        header=header,
    )
    space = Space.of([Parameter("x", "float", 0, 1)])
    first, second = read(path, space=space, objective="cost").trials
    assert (first.number, first.state, first.budget, first.seed) == (7, State.COMPLETE, 9.0, 3)
    assert (first.instance, first.started, first.ended) == ("a", 100.5, 1704067200.0)
    assert (second.number, second.state, second.budget) == (9, State.FAILED, None)
    assert (second.seed, second.instance, second.started) == (None, None, None)
    assert read(path, space=space, objective="cost").notes == (
        "Columns that are neither parameters nor the cost were ignored: 'remark'.",
    )
    seeds = Space.of([Parameter("x", "float", 0, 1), Parameter("budget", "float", 0, 10)])
    with pytest.raises(SourceError, match="no columns for the parameters 'y'"):
        read(path, space=Space.of([Parameter("y", "float", 0, 1)]), objective="cost")
    kept = read(path, space=seeds, objective="cost")  # a parameter is a parameter, row 2 lacks it
    assert [(t.values["budget"], t.budget) for t in kept.trials] == [(9.0, None)]


def test_a_column_of_other_words_is_no_state(tmp_path: Path) -> None:
    path = _write(tmp_path / "run.csv", "0.5,1,Ohio", header="x,cost,state")
    history = read(path, space=Space.of([Parameter("x", "float", 0, 1)]), objective="cost")
    assert history.count(State.COMPLETE) == 1
    assert any("unknown word 'ohio'" in note for note in history.notes)


def test_fillers_and_gaps_are_counted(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "run.csv",
        "svm,5,0.1,True,None,8,0.5",
        "svm,6,0.1,True,None,8,0.5",
        "tree,,0.1,True,None,8,0.5",
        "tree,2,,True,None,8,0.5",
        "tree,2,0.2,True,None,8,0.5",
    )
    history = read(path, space=SPACE, objective="loss")
    assert [t.number for t in history.trials] == [0, 1, 4]
    assert ["depth" in t.values for t in history.trials] == [False, False, True]
    assert history.notes == (
        "2 values of parameters that the space's conditions make inactive were left out.",
        "2 of 5 trials lack a value of an active parameter (lr, depth) and were left out.",
    )


@pytest.mark.parametrize("run", ["run_1", "run_2"])
def test_recorded_tables(data: Callable[[str], Path], run: str) -> None:
    path = data(f"hpo_logs/table/{run}/trials.csv")
    declared = pd.read_csv(data(f"hpo_logs/table/{run}/configspace.csv"))
    kinds: dict[str, Any] = {"float": "float", "integer": "integer"}
    space = Space.of(
        [
            Parameter(row["name"], kinds[row["type"]], row["lower"], row["upper"], bool(row["log"]))
            for _, row in declared.iterrows()
            if row["type"] in kinds
        ]
    )
    raw = pd.read_csv(path)
    cost = next(column for column in raw.columns if column.startswith("metric:"))
    history = read(path, space=space, objective=cost, maximize=True)
    assert len(history.trials) == len(raw)
    np.testing.assert_allclose([t.costs[0] for t in history.trials], raw[cost])
    for name in space.names:
        np.testing.assert_allclose([t.values[name] for t in history.trials], raw[name])


GOOD = ROWS[0]
BAD_ROWS = {
    "text for a cost": ("svm,,0.1,True,None,8,much", SourceError, "'much' in row 2"),
    "text for a number": ("svm,,fast,True,None,8,1", SpaceError, "'fast' in row 2"),
    "unknown choice": ("mlp,,0.1,True,None,8,1", SpaceError, "'mlp' in row 2"),
    "unknown level": ("svm,,0.1,True,None,9,1", SpaceError, "'9' in row 2"),
    "out of bounds": ("svm,,5,True,None,8,1", SpaceError, "is 5 in row 2"),
    "infinite": ("svm,,inf,True,None,8,1", SpaceError, "is inf in row 2"),
    "broken integer": ("tree,2.5,0.1,True,None,8,1", SpaceError, "is 2.5 in row 2"),
    "too many cells": ("svm,,0.1,True,None,8,1,2,3", SourceError, "not a well-formed CSV"),
    "open quote": ('svm,,0.1,True,"None,8,1', SourceError, "not a well-formed CSV"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_bad_row_is_named(tmp_path: Path, case: str) -> None:
    row, kind, message = BAD_ROWS[case]
    path = _write(tmp_path / "run.csv", GOOD, row)
    with pytest.raises(kind) as problem:
        read(path, space=SPACE, objective="loss")
    assert message in _sentence(problem)


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b"\n\n", "is empty"),
    "no rows": (HEADER.encode(), "has no rows"),
    "same name twice": (b"model,lr,lr,loss\nsvm,1,1,1\n", "more than one column named 'lr'"),
    "twice after a blank line": (b"\nmodel,loss,loss\nsvm,1,1\n", "named 'loss'"),
    "no cost": (
        b"model,lr\nsvm,1\n",
        "no column 'loss' for the objective; choose one of 'model', 'lr'",
    ),
    "no parameters": (b"model,loss\nsvm,1\n", "no columns for the parameters 'flag', 'lr'"),
    "latin": (HEADER.encode() + "\nsvm,,0.1,True,None,8,é".encode("latin-1"), "UTF-8"),
    "junk": (bytes(range(256)) * 8, "UTF-8"),
    "zeros": (b"model,loss\n\0\0\0", "is binary"),
    "first row too long": (HEADER.encode() + b"\nsvm,,1,True,None,8,1,9,9\n", "well-formed"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_refused(tmp_path: Path, case: str) -> None:
    content, message = BAD_FILES[case]
    path = tmp_path / "run.csv"
    path.write_bytes(content)
    with pytest.raises(SourceError) as problem:
        read(path, space=SPACE, objective="loss")
    assert message in _sentence(problem)


PACKED = gzip.compress(np.random.default_rng(0).integers(97, 122, 9999, dtype=np.uint8).tobytes())
DAMAGED = {
    "plain text": ("run.csv.gz", b"not gzip"),
    "cut off": ("run.csv.gz", PACKED[:3000]),
    "parquet": ("run.parquet", b"PAR1 and no more"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_packaging_is_refused(tmp_path: Path, case: str) -> None:
    name, content = DAMAGED[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError) as problem:
        read(tmp_path / name, space=SPACE, objective="loss")
    assert "read" in _sentence(problem)


def test_a_table_that_does_not_vary_and_a_cost_that_is_none(tmp_path: Path) -> None:
    path = _write(tmp_path / "run.csv", GOOD)
    for source in (path, pd.read_csv(path)):
        with pytest.raises(SourceError, match="--space FILE") as problem:
            read(source, objective="loss")
        _sentence(problem)
        with pytest.raises(SourceError, match="'lr' is a parameter of the space") as problem:
            read(source, space=SPACE, objective="lr")
        _sentence(problem)
    with pytest.raises(SpaceError, match="not a search space") as strange:
        read(path, space=3, objective="loss")  # type: ignore[arg-type]
    _sentence(strange)
    with pytest.raises(SpaceError, match="There is no space file"):
        read(path, space="nowhere.json", objective="loss")


# What spreadsheets make of a table

COSTS = [(10.0 ** -(k % 4), k * k / 7) for k in range(12)]


def test_decimal_commas_between_semicolons_are_read(tmp_path: Path) -> None:
    def spelt(number: float) -> str:
        return f"{number:.6e}".replace(".", ",")

    rows = [f"{spelt(lr)};64,32,16;{spelt(loss)}" for lr, loss in COSTS]
    history = read(_write(tmp_path / "t.csv", *rows, header="lr;layers;loss"), maximize=False)
    assert [t.values["lr"] for t in history.trials] == pytest.approx([lr for lr, _ in COSTS])
    assert [t.costs[0] for t in history.trials] == pytest.approx([c for _, c in COSTS], rel=1e-6)
    assert "decimal commas are read as such: 'lr', 'loss'." in history.notes[0]
    rows = [f"{lr};{12 if k % 2 else 64},32;{loss}" for k, (lr, loss) in enumerate(COSTS)]
    pointed = read(_write(tmp_path / "p.csv", *rows, header="lr;layers;loss"), maximize=False)
    assert pointed.space["layers"].choices == ("64,32", "12,32")  # points elsewhere: no decimals
    rows = [f'"{str(lr).replace(".", ",")}","0,5"' for lr, _ in COSTS]
    with pytest.raises(SourceError, match="'0,5' in row 1, which is not a number"):
        read(_write(tmp_path / "c.csv", *rows, header="lr,loss"), maximize=False)


def test_spaces_beside_separators_are_no_part_of_names_and_texts(tmp_path: Path) -> None:
    rows = [f"{lr}, {'adam' if k % 2 else 'sgd'} , {loss}" for k, (lr, loss) in enumerate(COSTS)]
    history = read(_write(tmp_path / "t.csv", *rows, header="lr, opt , loss"), maximize=False)
    assert history.space["opt"].choices == ("sgd", "adam")
    assert history.objectives[0].name == "loss"


def test_dates_and_names_of_rows_are_no_parameters(tmp_path: Path) -> None:
    header = "lr,on,at,code,price,opt,loss"
    rows = [
        f'{lr},{k % 3 + 1}.01.2026,2026-01-{k + 1:02} 10:00,t-{k},"{k + 1},000 $",{"ab"[k % 2]},{loss}'
        for k, (lr, loss) in enumerate(COSTS)
    ]
    path = _write(tmp_path / "t.csv", *rows, header=header)
    history = read(path, maximize=False)
    assert set(history.space.names) == {"lr", "opt"}
    told = "\n".join(history.notes)
    assert "name trials or say when these ran: 'on', 'at', 'code';" in told
    assert "written with signs, commas or units: 'price'; write them plainly" in told
    asked = read(path, maximize=False, parameters=["lr", "code"])
    assert set(asked.space.names) == {"lr", "code"}
    few = read(_write(tmp_path / "few.csv", *rows[:9], header=header), maximize=False)
    assert "code" in few.space.names  # of nine rows any column of texts may tell them apart
    frame = pd.read_csv(path, parse_dates=["at"])[["lr", "at", "opt", "loss"]]
    assert set(read(frame, maximize=False).space.names) == {"lr", "opt"}


@pytest.mark.parametrize("member", ["xl/workbook.xml", "content.xml"])
def test_a_spreadsheet_says_what_to_give_instead(tmp_path: Path, member: str) -> None:
    path = tmp_path / "trials.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "<workbook/>")
    old = tmp_path / "trials.xls"
    old.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600)
    for sheet in (path, old):
        with pytest.raises(SourceError, match=r"is a spreadsheet; save its sheet of trials as CSV"):
            read(sheet)


def test_a_line_longer_than_the_header_is_named(tmp_path: Path) -> None:
    path = _write(tmp_path / "t.csv", "a,loss", "1,2", header="# my results")
    with pytest.raises(
        SourceError, match="line 2 has 2 cells where the header, '# my results', has 1"
    ):
        read(path)


def test_a_frame_with_a_column_twice_is_refused() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["x", "x", "loss"])
    with pytest.raises(HyperlensError, match="more than one column named 'x'") as problem:
        read(frame, space=Space.of([Parameter("x", "float", 0, 1)]), objective="loss")
    _sentence(problem)


def test_frames_of_many_dtypes() -> None:
    space = Space.of(
        [
            Parameter("n", "integer", 0, 9),
            Parameter("flag", "categorical", choices=(True, False)),
            Parameter("size", "categorical", choices=(1, 2)),
            Parameter("word", "categorical", choices=("a", "b")),
        ],
        {"n": ((("flag", "equal", True),),)},
    )
    frame = pd.DataFrame(
        {
            "n": pd.array([3, None, 4], dtype="Int64"),
            "flag": [True, False, True],
            "size": np.array([1.0, 2.0, 1.0]),
            "word": pd.Categorical(["a", "b", "a"]),
            "loss": pd.array([1, 2, None], dtype="Float64"),
        }
    )
    history = read(frame, space=space, objective="loss")
    assert _values(history) == [
        {"n": 3, "flag": True, "size": 1, "word": "a"},
        {"flag": False, "size": 2, "word": "b"},
        {"n": 4, "flag": True, "size": 1, "word": "a"},
    ]
    assert [type(t.values["size"]) for t in history.trials] == [int] * 3
    assert math.isnan(history.trials[2].costs[0])


@pytest.mark.parametrize("word", ["", " ", "NA", "n/a", "NaN", "None", "null", "<NA>", "NaT"])
def test_words_for_nothing_are_no_values(word: str) -> None:
    present, values = typed(pd.Series(["svm", word], dtype=object))
    assert present.tolist() == [True, False]
    assert values == ["svm"]


def test_whole_numbers_stay_whole_while_they_are_exact() -> None:
    assert repr(typed(pd.Series(["-3", "12345678901234567"]))[1]) == "[-3, 12345678901234567]"
    assert repr(typed(pd.Series(["3", "1.5"]))[1]) == "[3.0, 1.5]"
    assert repr(typed(pd.Series(["3", "9" * 20]))[1]) == "[3.0, 1e+20]"


def test_the_collector_of_cycles_rests_only_while_a_run_is_read() -> None:
    table = pd.DataFrame({"x": [0.1, 0.2, 0.3], "loss": [1.0, 2.0, 3.0]})
    for on in (False, True):
        (gc.enable if on else gc.disable)()
        read(table)
        with pytest.raises(SourceError):
            read(table[["loss"]])
        assert gc.isenabled() == on
