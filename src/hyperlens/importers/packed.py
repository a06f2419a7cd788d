"""Runs that are packed: gzip, bzip2 or xz of any file or of all in a folder, tar or zip of a folder.

They are unpacked into a temporary folder that is removed again. What is larger unpacked than a table
may be is refused before it is written. Of an archive, plain files alone are taken, of the kinds that
runs are read from, so that models kept beside a run cost nothing; no name leads out of the folder.
"""

import bz2
import gzip
import lzma
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from hyperlens.errors import HyperlensError, SourceError
from hyperlens.importers.extent import check_extent
from hyperlens.importers.files import entries, start_of
from hyperlens.importers.values import one_line

MOST_FILES = 100_000  # of an archive
MOST_PACKED = 2**27  # bytes of a folder whose files are unpacked to see whether they are a run
MOST_LAYERS = 3  # of packing inside packing: an archive may hold itself
_BLOCK = 2**20
_BROKEN = (
    *(OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zlib.error),
    *(tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError),
)
_ENDINGS = (".gz", ".gzip", ".tgz", ".bz2", ".xz", ".tar", ".zip")
_STARTS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"PK\x03\x04": "zip"}
_OPENERS: dict[str, Callable[..., Any]] = {
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
}
_READ = {
    *("", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".yaml", ".yml", ".log", ".pcs"),
    *(".db", ".sqlite", ".sqlite3", ".parquet", ".journal", ".gz", ".bz2", ".xz", ".zip"),
}
SPREADSHEET = "The file '{}' is a spreadsheet; save its sheet of trials as CSV and give that."
Member = tuple[str, int, IO[bytes]]  # a file of an archive: its name, size and content


def packing(start: bytes) -> str | None:
    """How a file with these first bytes is packed; None if it is not."""
    how = next((how for first, how in _STARTS.items() if start.startswith(first)), None)
    return how or ("tar" if start[257:262] == b"ustar" else None)


@contextmanager
def unpacked(path: Path, how: str) -> Iterator[Path]:
    """The file or the folder that a file holds, for as long as it is needed.

    What is wrong inside is said of the file that was given.
    """
    with tempfile.TemporaryDirectory(prefix="hyperlens-") as temporary:
        inner = _named_alike(Path(temporary), path) / _plain_name(path)
        try:
            if how in _OPENERS:
                _write_file(path, how, inner)
            else:
                _write_folder(path, how, inner)
        except _BROKEN as problem:
            raise SourceError(
                f"The packed file '{path}' cannot be read ({one_line(problem)}); pack it again."
            ) from problem
        try:
            yield inner
        except HyperlensError as problem:
            raise type(problem)(str(problem).replace(str(inner), str(path))) from problem


@contextmanager
def unpacked_files(folder: Path) -> Iterator[Path | None]:
    """A folder with the files of another, those unpacked that are packed one by one; None where none
    is."""
    files = [path for path in entries(folder) if path.is_file() and not path.is_symlink()]
    packings = {path: packing(start_of(path)) for path in files if path.suffix.lower() in _READ}
    size = sum(path.stat().st_size for path in packings)
    if size > MOST_PACKED or not any(how in _OPENERS for how in packings.values()):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="hyperlens-") as temporary:
        inner = _named_alike(Path(temporary), folder) / (folder.resolve().name or "run")
        inner.mkdir()
        total = 0
        for path, how in packings.items():
            try:
                if how in _OPENERS:
                    _write_file(path, how, inner / _plain_name(path))
                else:
                    shutil.copyfile(path, inner / path.name)
            except _BROKEN as problem:
                raise SourceError(
                    f"The file '{path}' cannot be read ({one_line(problem)}); pack it again."
                ) from problem
            total += sum(made.stat().st_size for made in inner.glob(_plain_name(path)))
            check_extent(f"The folder '{folder}'", total)
        try:
            yield inner
        except HyperlensError as problem:
            raise type(problem)(str(problem).replace(str(inner), str(folder))) from problem


def _named_alike(temporary: Path, path: Path) -> Path:
    """Folders that are called as those above a file, for runs are named after them."""
    above = path.resolve().parent
    place = temporary / (above.parent.name or "runs") / (above.name or "run")
    place.mkdir(parents=True)
    return place


def zipped_table(path: Path) -> bytes:
    """The one file of a zip archive, which some tools write beside their logs."""
    try:
        with zipfile.ZipFile(path) as archive:
            (member,) = archive.infolist()
            check_extent(f"The table '{path}'", member.file_size)
            return archive.read(member)
    except _BROKEN as problem:
        raise SourceError(
            f"The table '{path}' cannot be read ({one_line(problem)}); restore it or write it again."
        ) from problem


def _plain_name(path: Path) -> str:
    """The name without what packing added to it."""
    name = path.name
    ending = next((e for e in _ENDINGS if name.lower().endswith(e)), "")
    plain = name[: len(name) - len(ending)] or "run"
    return f"{plain}.tar" if ending == ".tgz" else plain


def _write_file(path: Path, how: str, target: Path) -> None:
    """Unpack one file, after its size was counted."""
    size, opener = 0, _OPENERS[how]
    with opener(path, "rb") as file:
        while block := file.read(_BLOCK):
            size += len(block)
            check_extent(f"The packed file '{path}'", size)
    with opener(path, "rb") as file, target.open("wb") as out:
        shutil.copyfileobj(file, out, _BLOCK)


def _write_folder(path: Path, how: str, target: Path) -> None:
    """Unpack those files of an archive that a run may be read from."""
    target.mkdir()
    total = count = 0
    with _archive(path, how) as members:
        for name, size, content in members:
            parts = PurePosixPath(name.replace("\\", "/")).parts
            inside = parts and not {"/", ".."} & set(parts) and ":" not in parts[0]
            if not inside or Path(name).suffix.lower() not in _READ:
                continue
            total, count = total + size, count + 1
            check_extent(f"The archive '{path}'", total)
            if count > MOST_FILES:
                raise SourceError(
                    f"The archive '{path}' holds more than {MOST_FILES} files; give the folder of one "
                    "run."
                )
            place = target.joinpath(*parts)
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as out:
                shutil.copyfileobj(content, out, _BLOCK)


@contextmanager
def _archive(path: Path, how: str) -> Iterator[Iterator[Member]]:
    """The plain files of an archive; of no link, no device and no folder."""
    if how == "zip":
        with zipfile.ZipFile(path) as archive:
            if {"xl/workbook.xml", "xl/workbook.bin", "content.xml"} & {*archive.namelist()}:
                raise SourceError(SPREADSHEET.format(path))
            entries = (e for e in archive.infolist() if not e.is_dir())
            yield ((e.filename, e.file_size, archive.open(e)) for e in entries)
    else:
        with tarfile.open(path, "r:") as tar:
            members = ((m, tar.extractfile(m)) for m in tar if m.isreg())
            yield ((m.name, m.size, content) for m, content in members if content is not None)
