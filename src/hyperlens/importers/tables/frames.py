"""Table files as frames: CSV, Parquet, JSON lines and JSON, gzipped or not, of bounded size."""

from __future__ import annotations

import csv
import gzip
import warnings
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperlens.errors import NO_PARQUET, SourceError, listed
from hyperlens.importers.files import json_lines, load_json
from hyperlens.importers.values import flat, one_line

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_BYTES = 512 * 2**20  # of a table as text
MOST_COLUMNS = 10_000
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
    return _csv(path)


def _json(path: Path) -> tuple[Any, list[str]]:
    """One object a line, or one document."""
    notes: list[str] = []
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
        if len(names) > MOST_COLUMNS:
            raise _too_wide(what, len(names))
        columns = {name: [row.get(name, pandas.NA) for row in rows] for name in names}
    else:
        raise SourceError(f"{what} holds no table; write one JSON object for each trial.")
    frame = pandas.DataFrame({n: pandas.Series(c, dtype=object) for n, c in columns.items()})
    frame.attrs["notes"] = tuple(notes)
    return frame


def _writable(name: Any) -> str:
    """A column's name; half of a surrogate pair, which JSON may hold, is written out."""
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")


def _too_wide(what: str, columns: int) -> SourceError:
    return SourceError(
        f"{what} has {columns} columns, more than the {MOST_COLUMNS} that can be read; keep the "
        "parameters and the cost."
    )


def _parquet(path: Path) -> DataFrame:
    import pandas

    try:
        return pandas.read_parquet(path)
    except ImportError as problem:
        raise SourceError(NO_PARQUET.format(path)) from problem
    except Exception as problem:  # pyarrow's errors have no common base
        raise SourceError(
            f"The file '{path}' is not a readable Parquet table ({one_line(problem)}); "
            "write it again."
        ) from problem


def _csv(path: Path) -> DataFrame:
    """All cells as text, so that None, NA, True and 1 stay what the file says."""
    import pandas

    try:
        _check_size(path)
        sep = _check_header(path)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            return pandas.read_csv(
                path, sep=sep, dtype=str, na_filter=False, index_col=False, encoding="utf-8-sig"
            )
    except UnicodeDecodeError as problem:
        raise SourceError(
            f"The table '{path}' is not text in UTF-8; save it again with that encoding."
        ) from problem
    except (pandas.errors.ParserError, pandas.errors.ParserWarning, csv.Error) as problem:
        raise SourceError(
            f"The table '{path}' is not a well-formed CSV ({one_line(problem)}); check its "
            "separators and quotes."
        ) from problem
    except (OSError, EOFError, zlib.error) as problem:
        raise SourceError(
            f"The table '{path}' cannot be read ({one_line(problem)}); check the file."
        ) from problem


def _check_size(path: Path) -> None:
    """A small gzipped file may unpack to more than fits into memory."""
    size = path.stat().st_size
    if path.suffix.lower() == ".gz":
        size = 0
        with gzip.open(path, "rb") as file:
            while size <= MOST_BYTES and (block := file.read(_BLOCK)):
                size += len(block)
    if size > MOST_BYTES:
        raise SourceError(
            f"The table '{path}' is larger than {MOST_BYTES >> 20} MiB; keep its parameters and "
            "costs alone, or give fewer trials."
        )


def _check_header(path: Path) -> str:
    """The separator. Pandas renames columns of the same name, so the header is checked here."""
    unpack: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with unpack(path, "rt", encoding="utf-8-sig", newline="") as file:
        start = file.read(4096)
        if not start.strip():
            raise SourceError(f"The table '{path}' is empty; give one with a header and rows.")
        if "\0" in start:
            raise SourceError(f"The file '{path}' is binary, not a CSV; give the table as text.")
        first = start.lstrip().splitlines()[0]
        separator = max(",\t;", key=first.count)  # the comma where all are equal
        file.seek(0)
        header = next(filter(None, csv.reader(file, delimiter=separator)), [])
    if len(header) > MOST_COLUMNS:
        raise _too_wide(f"The table '{path}'", len(header))
    check_names(header, f"The table '{path}'")
    return separator


def check_names(names: Sequence[str], what: str) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise SourceError(
            f"{what} has more than one column named {listed(twice)}; rename or remove the others."
        )
