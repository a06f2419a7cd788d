"""What every result is: a frozen record that is tabulated, written as JSON, or drawn."""

from __future__ import annotations

import dataclasses
import html
import json
import math
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError

if TYPE_CHECKING:
    import pandas as pd

NOTEBOOK_ROWS = 20
CONTROL = ("Cc", "Cf", "Cs")  # Unicode's control and format characters, and lone surrogates


@dataclass(frozen=True)
class Record:
    """Base of all results. Subclasses are frozen dataclasses of names, numbers and arrays."""

    def __post_init__(self) -> None:
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    if TYPE_CHECKING:  # each record has both, as a field or as a property

        @property
        def sentence(self) -> str:
            """What the record says, in words."""

        @property
        def notes(self) -> tuple[str, ...]:
            """What is to be known of it."""

    @property
    def frame(self) -> pd.DataFrame:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts; what is not finite becomes None."""
        names = [f.name for f in dataclasses.fields(self) if not f.name.startswith("_")]
        return {"record": type(self).__name__} | {n: plain(getattr(self, n)) for n in names}

    def to_json(self) -> str:
        return as_json(self.to_dict())

    def to_csv(self) -> str:
        """The frame as CSV; control characters in its texts are written out."""
        try:
            frame = self.frame.copy()
        except UnicodeEncodeError:  # pandas refuses half a character
            frame = _spelled(self).frame.copy()
        return as_csv(frame)

    def plot(self, backend: Literal["plotly", "matplotlib"] = "plotly") -> Any:
        """The record as a Plotly figure, or as a Matplotlib figure that needs no browser."""
        from hyperlens.plots import draw  # drawing lies above computing; this is its one door

        if backend not in ("plotly", "matplotlib"):
            raise AnalysisError(
                f"There is no backend '{backend}'; choose 'plotly' or 'matplotlib'."
            )
        if backend == "plotly":
            return draw(self)
        from hyperlens.plots.stills.still import still

        return still(draw(self))

    def _repr_html_(self) -> str:
        """What a notebook shows of it in HTML: the verdict, the first rows of its frame, its notes."""
        quality, notes = getattr(self, "quality", None), getattr(self, "notes", ())
        said = [getattr(self, "sentence", ""), getattr(quality, "sentence", ""), *notes]
        parts = [f"<p>{html.escape(text)}</p>" for text in said if text]
        try:
            frame = self.frame
        except NotImplementedError:
            return f"<b>{html.escape(type(self).__name__)}</b>" + "".join(parts)
        left = len(frame) - NOTEBOOK_ROWS
        table = frame.head(NOTEBOOK_ROWS).to_html(index=False, border=0, float_format=_digits)
        parts.append(table + (f"<p>… and {left} more rows</p>" if left > 0 else ""))
        return f"<b>{html.escape(type(self).__name__)}</b>" + "".join(parts)

    def _ipython_display_(self) -> None:
        """A notebook shows the Plotly figure in its own way, and the rest below it."""
        from IPython.display import HTML, display

        with suppress(TypeError):  # some records have no figure
            display(self.plot())
        display(HTML(self._repr_html_()))


def _digits(x: float) -> str:
    return f"{x:.4g}"


def written_out(value: Any) -> Any:
    """A text whose control characters are written out (\\x1b); several names joined by ':'."""
    if isinstance(value, tuple):
        return written_out(":".join(map(str, value)))
    if not isinstance(value, str):
        return value
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in CONTROL else c
        for c in value
    )


def _spelled(value: Any) -> Any:
    """The same value with the control characters of all its texts written out."""
    if isinstance(value, str):
        return written_out(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value) if f.init and not f.name.startswith("_")]
        return dataclasses.replace(value, **{n: _spelled(getattr(value, n)) for n in names})
    if isinstance(value, (list, tuple)):
        return type(value)(_spelled(v) for v in value)
    if isinstance(value, dict):
        return {_spelled(k): _spelled(v) for k, v in value.items()}
    return value


def as_csv(frame: pd.DataFrame) -> str:
    """A frame of our own as CSV; it is changed: control characters in its texts are written out."""
    for k, column in enumerate(frame.columns):
        if frame[column].map(lambda value: isinstance(value, (str, tuple))).any():
            frame.isetitem(k, [written_out(value) for value in frame[column]])
    frame.columns = [written_out(column) for column in frame.columns]
    text: str = frame.to_csv(index=False)
    return text


def as_json(value: Any) -> str:
    """JSON in ASCII alone: no name in it can steer a terminal, and none cannot be written."""
    return json.dumps(value, indent=1, allow_nan=False)


def plain(value: Any) -> Any:
    """A value as JSON can carry it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
