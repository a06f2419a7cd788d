"""What a search leaves behind in a folder: the model, its card for people and for programs, what columns
it needs, and a script that predicts.

The model is written with joblib, which is pickle: whoever loads it runs what it says. Hyperlens
writes such files and never reads one; it reads what skops wrote, where that is installed.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hyperlens.cash.data.dataset import Table
from hyperlens.cash.results.model_card import CARD, FACTS, MODEL, ModelCard
from hyperlens.cash.results.model_card_markdown import markdown, reading
from hyperlens.cash.results.saved_model import SAFE, can_be_safe, write_safe
from hyperlens.errors import SourceError

SCHEMA, SCRIPT = "schema.json", "predict.py"
SLOWER = 10  # times as long as joblib's is skops' writing of many trees

PREDICT = '''"""What the model says of a new table: python predict.py new.csv > predictions.csv

This loads {model}, and loading it runs what it holds: do so only if you trust where it came from.
"""

import sys
from pathlib import Path

import joblib
import pandas as pd

model = joblib.load(Path(__file__).with_name("{model}"))
rows = {reading}
said = pd.DataFrame({{"prediction": model.predict(rows)}})
if hasattr(model, "predict_proba"):
    for name, chances in zip(model.classes_, model.predict_proba(rows).T):
        said[f"chance of {{name}}"] = chances
said.to_csv(sys.stdout, index=False)
'''


def check_folder(folder: str | Path) -> Path:
    """Make the folder, and refuse it before the search if nothing can be written there."""
    folder = Path(folder).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        for name in (MODEL, CARD, FACTS):
            if (folder / name).is_dir():
                raise IsADirectoryError(21, f"'{name}' in it is a folder")
    except OSError as problem:
        raise SourceError(
            f"Nothing can be written to the folder '{folder}' ({problem.strerror}); choose another."
        ) from problem
    return folder


def whole_pipeline(table: Table, model: Any) -> Any:
    """From a raw table, as it is read from a file, to predictions."""
    from sklearn.pipeline import Pipeline

    return Pipeline([("columns", table.columns), ("predict", model)])


def write_folder(
    folder: Path, model: Any, card: ModelCard, left: float = float("inf")
) -> tuple[Path, Path]:
    """Write model, card, schema and script, each whole or not at all; where model and card are. The safe
    form of the model too, if skops is there and so many seconds are enough."""
    import joblib

    texts = {
        FACTS: card.to_json() + "\n",
        CARD: markdown(card),
        SCHEMA: json.dumps(schema(card), indent=2, ensure_ascii=False) + "\n",
        SCRIPT: PREDICT.format(model=MODEL, reading=reading(card, "sys.argv[1]")),
    }
    try:
        began = time.monotonic()
        _put(folder / MODEL, lambda path: joblib.dump(model, path, compress=3))
        for name, text in texts.items():
            _put(folder / name, partial(_write_text, text=text))
        (folder / SAFE).unlink(missing_ok=True)  # of another model
        if can_be_safe() and SLOWER * (time.monotonic() - began) < left:
            _put(folder / SAFE, lambda path: write_safe(path, model))
    except OSError as problem:
        raise SourceError(
            f"The model cannot be written to '{folder}' ({problem.strerror}); make room or choose "
            "another folder, and give the same command again, which goes on from the storage."
        ) from problem
    return folder / MODEL, folder / CARD


def schema(card: ModelCard) -> dict[str, Any]:
    """The columns that a table must have for the model, and what it gives."""
    used = [column for column in card.columns if column["role"] != "left out"]
    return {
        "columns": [{"name": c["name"], "kind": c["role"]} for c in used],
        "target": {"name": card.target, "task": card.task, "classes": list(card.classes)},
        "missing": "cells may be empty; a category that was not there in training counts as empty",
    }


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _put(path: Path, write: Callable[[Path], Any]) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".hyperlens.", suffix=path.suffix)
    os.close(handle)
    try:
        write(Path(name))
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
