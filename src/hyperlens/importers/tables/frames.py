"""Table files as frames: CSV, Parquet, JSON lines and JSON, of bounded size."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hyperlens.errors import NO_PARQUET, SourceError, listed
from hyperlens.importers.extent import check_extent
from hyperlens.importers.files import json_lines, load_json
from hyperlens.importers.tables.spreadsheets import with_points
from hyperlens.importers.values import flat, one_line
from hyperlens.words import counted

if TYPE_CHECKING:
    from pandas import DataFrame

_BLOCK = 2**20


def read_frame(path: Path, start: bytes) -> DataFrame:
    """A table by what its first bytes are."""
    if start.startswith(b"PAR1"):
        return _parquet(path)
    opening = start.lstrip().lstrip(b"\xef\xbb\xbf")[:1]
    if opening == b"{" or (
        opening == b"[" and path.suffix.lower() in (".json", ".jsonl", ".ndjson")
    ):
        return from_records(*_json(path), f"The table '{path}'")
    return csv_frame(path, f"The table '{path}'")


def _json(path: Path) -> tuple[Any, list[str]]:
    """One object a line, or one document."""
    notes: list[str] = []
    check_extent(f"The table '{path}'", path.stat().st_size)
    try:
        records = [line for _, line in json_lines(path, notes)]
    except SourceError:  # then it must be a document as a whole
        records = []
    if not records or not all(isinstance(record, dict) for record in records):
        return load_json(path), []
    return records[0] if len(records) == 1 and not notes else records, notes


def from_records(document: Any, notes: Sequence[str], what: str) -> DataFrame:
    """The frame of a list of objects, or of an object of columns (lists, or objects by row)."""
    import pandas

    if isinstance(document, dict):
        cells = {
            _writable(k): list(c.values()) if isinstance(c, dict) else c
            for k, c in document.items()
        }
        columns = {name: column for name, column in cells.items() if isinstance(column, list)}
        if len(set(map(len, columns.values()))) != 1:
            raise SourceError(
                f"{what} is neither a list of trials nor columns of one length; write one JSON "
                "object for each trial."
            )
    elif isinstance(document, list) and all(isinstance(row, dict) for row in document):
        rows = [{_writable(k): v for k, v in flat(row).items()} for row in document]
        names = dict.fromkeys(name for row in rows for name in row)
        check_extent(what, rows=len(rows), columns=len(names))
        columns = {name: [row.get(name, pandas.NA) for row in rows] for name in names}
    else:
        raise SourceError(f"{what} holds no table; write one JSON object for each trial.")
    frame = pandas.DataFrame({n: pandas.Series(c, dtype=object) for n, c in columns.items()})
    frame.attrs["notes"] = tuple(notes)
    return frame


def _writable(name: Any) -> str:
    """A column's name; half of a surrogate pair, which JSON may hold, is written out."""
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")


def _parquet(path: Path) -> DataFrame:
    import pandas

    try:
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as file:
            about = file.metadata
            groups = map(about.row_group, range(about.num_row_groups))
            size = sum(group.total_byte_size for group in groups)
        check_extent(f"The table '{path}'", size, about.num_rows, about.num_columns)
        return pandas.read_parquet(path)
    except ImportError as problem:
        raise SourceError(NO_PARQUET.format(path)) from problem
    except SourceError:
        raise
    except Exception as problem:  # pyarrow's errors have no common base
        raise SourceError(
            f"The file '{path}' is not a readable Parquet table ({one_line(problem)}); "
            "write it again."
        ) from problem


def csv_frame(content: Path | bytes, what: str) -> DataFrame:
    """All cells as text, so that None, NA, True and 1 stay what the file says."""
    import pandas

    def opened() -> IO[bytes]:
        return BytesIO(content) if isinstance(content, bytes) else content.open("rb")

    sep = ","
    try:
        rows = _check_size(opened, what)
        sep = _check_header(opened, rows, what)
        with warnings.catch_warnings(), opened() as file:
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            frame = pandas.read_csv(
                file, sep=sep, dtype=str, na_filter=False, index_col=False, encoding="utf-8-sig"
            )
        return with_points(frame) if sep == ";" else frame
    except UnicodeDecodeError as problem:
        raise SourceError(
            f"{what} is not text in UTF-8; save it again with that encoding."
        ) from problem
    except (pandas.errors.ParserError, pandas.errors.ParserWarning, csv.Error) as problem:
        why = _uneven(opened, sep) or one_line(problem)
        raise SourceError(
            f"{what} is not a well-formed CSV ({why}); check its separators and quotes."
        ) from problem
    except OSError as problem:
        raise SourceError(
            f"{what} cannot be read ({one_line(problem)}); check the file."
        ) from problem


def _check_size(opened: Callable[[], IO[bytes]], what: str) -> int:
    """How many lines there are."""
    size = lines = 0
    with opened() as file:
        while block := file.read(_BLOCK):
            size, lines = size + len(block), lines + block.count(b"\n")
            check_extent(what, size, lines)
    return lines


def _check_header(opened: Callable[[], IO[bytes]], rows: int, what: str) -> str:
    """The separator. Pandas renames columns of the same name, so the header is checked here."""
    with TextIOWrapper(opened(), encoding="utf-8-sig", newline="") as file:
        start = file.read(4096)
        if not start.strip():
            raise SourceError(f"{what} is empty; give one with a header and rows.")
        if "\0" in start:
            raise SourceError(f"{what} is binary, not a CSV; give it as text.")
        first = start.lstrip().splitlines()[0]
        separator = max(",\t;", key=first.count)  # the comma where all are equal
        file.seek(0)
        header = next(filter(None, csv.reader(file, delimiter=separator)), [])
    check_extent(what, rows=rows, columns=len(header))
    check_names(header, what)
    return separator


def _uneven(opened: Callable[[], IO[bytes]], separator: str) -> str | None:
    """Which line has more cells than the header, if that is what is wrong."""
    with TextIOWrapper(opened(), encoding="utf-8-sig", newline="") as file, suppress(csv.Error):
        lines = csv.reader(file, delimiter=separator)
        header = next(filter(None, lines), [])
        for row in lines:
            if len(row) > len(header):
                return (
                    f"line {lines.line_num} has {counted(len(row), 'cell')} where the header, "
                    f"{separator.join(header)[:60]!r}, has {len(header)}"
                )
    return None


def check_names(names: Sequence[str], what: str) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise SourceError(
            f"{what} has more than one column named {listed(twice)}; rename or remove the others."
        )
