"""The tasks: LCBench as YAHPO's model predicts it, in the space of its own `config_space.json`.

batch_size and max_units are integers by their logarithm, learning_rate a float by its logarithm, the
others are linear; the epoch is no parameter but the budget. Nothing here but `hyperlens.Space` and
`hyperlens.Parameter` is asked of the package, so that any state of it can be measured.

Symbols
    unit   (n, 7), a point of the unit cube: uniform on each axis; an integer k owns the cell from
           k - 1/2 to k + 1/2 on the scale of its axis
    cost   1 - validation accuracy / 100 after an epoch, the last one unless said otherwise
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hyperlens as hl

FloatArray = NDArray[np.float64]
Cost = Callable[[FloatArray], FloatArray]  # unit (n, 7) -> costs (n,)
EPOCHS = 52
CHUNK = 4096  # points that the model is asked for at once
INPUTS = (
    *("batch_size", "learning_rate", "momentum", "weight_decay"),
    *("num_layers", "max_units", "max_dropout"),
)


class Tasks:
    """The recorded model, its tasks by name in their own order, and their common space."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "model.onnx").is_file():
            raise SystemExit(f"There is no LCBench model in '{folder}'; name its folder by --data.")
        self.folder = folder
        codes = json.loads((folder / "encoding.json").read_text())["OpenML_task_id"]
        named = json.loads((folder / "task_names.json").read_text())["tasks"]
        known = json.loads((folder / "config_space.json").read_text())["hyperparameters"]
        self.codes = {named[task]: codes[task] for task in known[0]["choices"]}
        kinds = {"uniform_int": "integer", "uniform_float": "float"}
        self.parameters = [
            hl.Parameter(p["name"], kinds[p["type"]], p["lower"], p["upper"], p["log"])  # type: ignore[arg-type]
            for p in sorted(known[1:], key=lambda p: str(p["name"]))
            if p["name"] != "epoch"
        ]
        self.space = hl.Space.of(self.parameters)
        self.names = tuple(p.name for p in self.parameters)
        assert tuple(self.space.names) == self.names

    @property
    def even(self) -> list[str]:
        """Tasks on which settings may be chosen."""
        return list(self.codes)[::2]

    @property
    def odd(self) -> list[str]:
        """Tasks that are only reported."""
        return list(self.codes)[1::2]

    @cached_property
    def session(self) -> Any:
        try:
            import onnxruntime
        except ImportError:
            raise SystemExit("This experiment runs ONNX models: pip install onnxruntime.") from None
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(
            str(self.folder / "model.onnx"), settings, providers=["CPUExecutionProvider"]
        )

    def columns(self, unit: FloatArray) -> FloatArray:
        """Values of points, (n, 7) -> (n, 7)."""
        return np.column_stack([_values(p, unit[:, j]) for j, p in enumerate(self.parameters)])

    def configurations(self, unit: FloatArray) -> list[dict[str, Any]]:
        """Values of points, one dict each, integers as such."""
        kinds = [int if p.kind == "integer" else float for p in self.parameters]
        return [
            {name: kind(v) for name, kind, v in zip(self.names, kinds, row, strict=True)}
            for row in self.columns(unit)
        ]

    def unit(self, values: FloatArray) -> FloatArray:
        """Points of values, (n, 7) -> (n, 7)."""
        return np.column_stack([place(p, values[:, j]) for j, p in enumerate(self.parameters)])

    def snapped(self, grid: FloatArray) -> FloatArray:
        """Coordinates along each axis (7, m), those of integers at the codes of their levels."""
        return self.unit(self.columns(grid.T)).T

    def at(self, task: str, values: FloatArray, epoch: FloatArray | float = EPOCHS) -> FloatArray:
        """Costs of values (n, 7) after an epoch, the same or one each."""
        order = [self.names.index(name) for name in INPUTS]
        epochs = np.broadcast_to(epoch, len(values))
        inputs = np.column_stack([epochs, values[:, order]]).astype(np.float32)
        costs = [
            self.session.run(
                None,
                {
                    "x_cat": np.full((len(part), 1), self.codes[task], dtype=np.int32),
                    "x_cont": part,
                },
            )[0][:, 1]
            for part in (inputs[k : k + CHUNK] for k in range(0, len(inputs), CHUNK))
        ]
        return 1 - np.concatenate(costs).astype(np.float64) / 100

    def cost(self, task: str) -> Cost:
        return lambda unit: self.at(task, self.columns(unit))


def _ends(p: hl.Parameter) -> tuple[float, float]:
    half = 0.5 if p.kind == "integer" else 0.0
    low, high = p.lower - half, p.upper + half
    return (float(np.log(low)), float(np.log(high))) if p.log else (low, high)


def _values(p: hl.Parameter, unit: FloatArray) -> FloatArray:
    low, high = _ends(p)
    placed = low + unit * (high - low)
    values = np.exp(placed) if p.log else placed
    if p.kind == "integer":
        values = np.rint(values)
    return np.clip(values, p.lower, p.upper)


def place(p: hl.Parameter, values: FloatArray) -> FloatArray:
    """Unit coordinates of the values of one parameter."""
    low, high = _ends(p)
    return np.clip(((np.log(values) if p.log else values) - low) / (high - low), 0.0, 1.0)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """A name to write to, which takes the right one at the end, so that no file is ever half there."""
    part = path.with_name(f".{os.getpid()}.{path.name}")
    yield part
    part.replace(path)
