"""Tables whose cells hold whole objects, as the API of Weights & Biases exports them."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hyperlens.importers.values import flat

if TYPE_CHECKING:
    from pandas import DataFrame

_PACKED = ("config", "summary")
MOST_TEXT = 200_000  # characters of one cell


def unpacked(frame: DataFrame) -> DataFrame:
    """The frame with columns `config.x` and `summary.y` for objects in `config` and `summary`."""
    import pandas

    for name in _PACKED:
        if name not in frame.columns:
            continue
        objects = [_object(cell) for cell in frame[name].tolist()]
        if any(found is None for found in objects) or not any(objects):
            continue
        rows = [flat(found) for found in objects if found is not None]
        keys = list(dict.fromkeys(key for row in rows for key in row))
        wide = {
            f"{name}.{key}": pandas.Series(
                [row.get(key) for row in rows], index=frame.index, dtype=object
            )
            for key in keys
            if f"{name}.{key}" not in frame.columns
        }
        frame = pandas.concat([frame.drop(columns=name), pandas.DataFrame(wide)], axis=1)
    return frame


def _object(cell: Any) -> Mapping[str, Any] | None:
    """An object, or the text of one in JSON or as Python writes it."""
    if isinstance(cell, Mapping):
        return cell
    if not isinstance(cell, str) or not cell.startswith("{") or len(cell) > MOST_TEXT:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(cell)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        return found if isinstance(found, dict) else None
    return None
