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

TREES = "trees"


def key_of(configuration: Mapping[str, Any]) -> str:
    """A short name for a configuration."""
    text = json.dumps(dict(configuration), sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


class Kept:
    """Predictions of one configuration with one budget: one array a split."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(
        self,
        configuration: Mapping[str, Any],
        part: float,
        predictions: Sequence[FloatArray],
        trees: int | None = None,
    ) -> None:
        """Whole or not at all: a process may be ended meanwhile. `trees` is where growing stopped."""
        path = self._path(configuration, part)
        begun = path.with_suffix(".begun")
        grown: dict[str, Any] = {} if trees is None else {TREES: np.array(trees)}
        with begun.open("wb") as file:
            np.savez(file, *[np.asarray(p, dtype=np.float32) for p in predictions], **grown)
        begun.replace(path)

    def read(self, configuration: Mapping[str, Any], part: float) -> list[FloatArray] | None:
        path = self._path(configuration, part)
        if not path.exists():
            return None
        with np.load(path, allow_pickle=False) as file:
            return [file[name].astype(np.float64) for name in file.files if name != TREES]

    def trees(self, configuration: Mapping[str, Any], part: float) -> int | None:
        """Where growing stopped; None of what does not grow, or is not known."""
        path = self._path(configuration, part)
        if not path.exists():
            return None
        with np.load(path, allow_pickle=False) as file:
            return int(file[TREES]) if TREES in file.files else None

    def _path(self, configuration: Mapping[str, Any], part: float) -> Path:
        return self.folder / f"{key_of(configuration)}-{part:.6g}.npz"
