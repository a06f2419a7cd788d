"""What models predicted for held-out rows, kept in a folder while a search runs.

Evaluations may run in processes of their own; what they predict would be lost with them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hyperlens.spaces.cube import FloatArray


def key_of(configuration: Mapping[str, Any]) -> str:
    """A short name for a configuration."""
    text = json.dumps(dict(configuration), sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


class Kept:
    """Predictions of one configuration on one part of the rows: one array a split."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(
        self, configuration: Mapping[str, Any], part: float, predictions: Sequence[FloatArray]
    ) -> None:
        """Whole or not at all: a process may be ended meanwhile."""
        path = self._path(configuration, part)
        begun = path.with_suffix(".begun")
        with begun.open("wb") as file:
            np.savez(file, *[np.asarray(p, dtype=np.float32) for p in predictions])
        begun.replace(path)

    def read(self, configuration: Mapping[str, Any], part: float) -> list[FloatArray] | None:
        path = self._path(configuration, part)
        if not path.exists():
            return None
        with np.load(path, allow_pickle=False) as file:
            return [file[name].astype(np.float64) for name in file.files]

    def _path(self, configuration: Mapping[str, Any], part: float) -> Path:
        return self.folder / f"{key_of(configuration)}-{part:.6g}.npz"
