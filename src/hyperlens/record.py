"""What every result is: a frozen record that is tabulated, written as JSON, or drawn."""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from hyperlens.errors import AnalysisError, SourceError
from hyperlens.notebook import title_of, view
from hyperlens.plain import Misfit, as_json, built, plain, public
from hyperlens.tables import Table, from_frame
from hyperlens.words import no_formula

if TYPE_CHECKING:
    import pandas as pd

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
        """The record as a table."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def _columns(self) -> dict[str, Any]:
        """The columns of its frame."""
        raise NotImplementedError

    def _fields(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    @property
    def heading(self) -> str:
        """What it is, and for which objective."""
        objective: str = getattr(self, "objective", "")
        return title_of(type(self)) + (f" for {objective}" if objective else "")

    @property
    def lead(self) -> tuple[str, ...]:
        """The sentences with which it is shown."""
        return (self.sentence,)

    @property
    def tables(self) -> tuple[Table, ...]:
        """What it shows as rows, the most important first."""
        return (from_frame(self.frame),)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts, see `hyperlens.plain`; nan becomes None."""
        fields = {name: plain(getattr(self, name)) for name in public(type(self))}
        return {"record": type(self).__name__} | fields

    def to_json(self) -> str:
        return as_json(self.to_dict())

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """The record that `to_dict` wrote. The run it was computed from is not in it.

        `Record.from_dict` takes any record, a class only its own.
        """
        kind = record_class(fields.get("record"))
        if not issubclass(kind, cls):
            raise SourceError(
                f"This is a saved {kind.__name__}; read it with {kind.__name__}.from_dict."
            )
        try:
            record: Self = built(kind, fields)
        except Misfit as problem:
            raise SourceError(
                f"This saved {kind.__name__} cannot be read: {problem}; compute and save it again."
            ) from problem
        return record

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The record that `to_json` wrote."""
        try:
            fields = json.loads(text)
        except ValueError as problem:
            raise SourceError(f"This is no JSON: {problem}; give what to_json wrote.") from problem
        return cls.from_dict(fields if isinstance(fields, dict) else {})

    def to_csv(self) -> str:
        """The frame as CSV; control characters in its texts are written out."""
        return as_csv(self.spelled_frame)

    @property
    def spelled_frame(self) -> pd.DataFrame:
        """A copy of its frame, in which half a character, which pandas refuses, is written out."""
        try:
            return self.frame.copy()
        except UnicodeEncodeError:
            return _spelled(self).frame.copy()

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
        """What a notebook shows of it above the figure."""
        verdict: Any = getattr(self, "verdict", None)
        notes = (getattr(verdict, "sentence", ""), *self.notes)
        word = getattr(verdict, "word", "")
        return view(self.heading, self.sentence, self.tables, notes, word)

    def _ipython_display_(self) -> None:
        """Words and numbers, and the figure below them."""
        from IPython.display import HTML, display

        display(HTML(self._repr_html_()))
        with suppress(TypeError):  # some records have no figure
            display(figure_bundle(self.plot()), raw=True)


def figure_bundle(figure: Any) -> dict[str, Any]:
    """A Plotly figure for any notebook: alive in Jupyter and VS Code, elsewhere a picture.

    Where Matplotlib is missing, Plotly's own page with its script from the net stands for the picture.
    """
    from hyperlens.plots.stills.still import still

    live = {"application/vnd.plotly.v1+json": json.loads(figure.to_json())}
    try:
        picture = BytesIO()
        still(figure).savefig(picture, format="png")
    except AnalysisError:
        return live | {"text/html": figure.to_html(full_html=False, include_plotlyjs="cdn")}
    return live | {"image/png": b64encode(picture.getvalue()).decode()}


def columns_of(kind: type, rows: Iterable[Any]) -> dict[str, Any]:
    """Dataclasses of this kind as columns, one a field."""
    return {f.name: [getattr(row, f.name) for row in rows] for f in dataclasses.fields(kind)}


def record_of(fields: Mapping[str, Any]) -> Record:
    """The record that any `to_dict` wrote."""
    return Record.from_dict(fields)


def record_class(name: object) -> type[Record]:
    """The class of a record by its name: a public one, or one that is already there."""
    import hyperlens  # its names are loaded when they are asked for

    kind = getattr(hyperlens, name) if isinstance(name, str) and name in hyperlens.__all__ else None
    if kind is None:
        kind = next((k for k in _subclasses(Record) if k.__name__ == name), None)
    if not (isinstance(kind, type) and issubclass(kind, Record)):
        raise SourceError("This is no saved record; give what a record's to_json wrote.")
    return kind


def _subclasses(kind: type[Record]) -> Iterator[type[Record]]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


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
    """A frame of our own as CSV; it is changed: control characters in its texts are written out, and
    what a spreadsheet would compute is a text there."""
    for k in range(frame.shape[1]):
        cells = frame.iloc[:, k]
        if cells.dtype.kind in "biuf":
            continue
        texts = {v for v in cells if isinstance(v, (str, tuple))}  # few different ones, often
        if texts:
            known = {text: no_formula(written_out(text)) for text in texts}
            frame.isetitem(
                k, [known[v] if isinstance(v, (str, tuple)) else v for v in cells.tolist()]
            )
    frame.columns = [no_formula(written_out(column)) for column in frame.columns]
    text: str = frame.to_csv(index=False)
    return text
