"""What a search leaves behind in a folder: the model, and its card for people and for programs.

The model is written with joblib, which is pickle: whoever loads it runs what it says. Hyperlens
writes such files and never reads one.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hyperlens.cash.data.dataset import Table
from hyperlens.cash.results.model_card import CARD, FACTS, MODEL, ModelCard
from hyperlens.cash.results.model_card_markdown import markdown
from hyperlens.errors import SourceError


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


def write_folder(folder: Path, model: Any, card: ModelCard) -> tuple[Path, Path]:
    """Write model and card, each whole or not at all; where they are."""
    import joblib

    try:
        _put(folder / MODEL, lambda path: joblib.dump(model, path, compress=3))
        _put(folder / FACTS, lambda path: path.write_text(card.to_json() + "\n", encoding="utf-8"))
        _put(folder / CARD, lambda path: path.write_text(markdown(card), encoding="utf-8"))
    except OSError as problem:
        raise SourceError(
            f"The model cannot be written to '{folder}' ({problem.strerror}); make room or choose "
            "another folder, and give the same command again, which goes on from the storage."
        ) from problem
    return folder / MODEL, folder / CARD


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
