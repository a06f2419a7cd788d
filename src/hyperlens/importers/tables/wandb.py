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
        rows = [flat(content) for content in objects if content is not None]
        if len(rows) < len(objects) or not any(rows):
            continue
        wide = {
            f"{name}.{key}": pandas.Series([row.get(key) for row in rows], frame.index, object)
            for key in dict.fromkeys(key for row in rows for key in row)
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
            content = read(cell)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        return content if isinstance(content, dict) else None
    return None
