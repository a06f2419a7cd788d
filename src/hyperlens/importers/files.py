"""Opening a run's files: read only, of bounded size, and never outside the folder that was named."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError
from hyperlens.importers.extent import check_document
from hyperlens.importers.values import one_line

MOST_BYTES = 256 * 2**20  # of a JSON document, which takes several times its size in memory
MOST_YAML = 4 * 2**20  # of a YAML document, which is slow to read
MOST_LINE = 64 * 2**20  # of one line of a JSON lines file


def start_of(path: Path, size: int = 4096) -> bytes:
    """The first bytes of a file; a pipe or a device, which might never end, is not opened."""
    try:
        if path.exists() and not path.is_file():
            raise SourceError(f"'{path}' is no file that could be read; give a file or a folder.")
        with path.open("rb") as file:
            return file.read(size)
    except FileNotFoundError:
        raise SourceError(f"There is no file '{path}'; check the path.") from None
    except (OSError, ValueError) as problem:  # ValueError: a null character in the path
        raise _unreadable(path, problem) from problem


def load_json(path: Path) -> Any:
    """A JSON document."""
    try:
        check_document(path, MOST_BYTES, "a JSON document")
        return json.loads(path.read_bytes().decode("utf-8-sig"), parse_int=_whole)
    except (ValueError, RecursionError) as problem:
        raise broken(path, problem) from problem
    except OSError as problem:
        raise _unreadable(path, problem) from problem


def load_yaml(path: Path) -> Any:
    """A small YAML document; one that repeats its parts by reference could grow without bounds."""
    import yaml

    try:
        check_document(path, MOST_YAML, "YAML")
        content = path.read_bytes().decode("utf-8-sig")
        if "*" in content and any(isinstance(e, yaml.AliasEvent) for e in yaml.parse(content)):
            raise SourceError(
                f"The file '{path}' has YAML aliases, which are not read; write it out."
            )
        return yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        reason = "nested too deeply" if isinstance(problem, RecursionError) else one_line(problem)
        raise SourceError(
            f"The file '{path}' is not readable YAML ({reason}); restore it or write it again."
        ) from problem
    except OSError as problem:
        raise _unreadable(path, problem) from problem


def json_lines(path: Path, notes: list[str] | None = None) -> Iterator[tuple[int, Any]]:
    """Line numbers and their JSON; a last line that was cut off is left out and noted."""
    try:
        with path.open("rb") as file:
            lines = iter(lambda: file.readline(MOST_LINE + 1), b"")
            for number, line in enumerate(lines, 1):
                if len(line) > MOST_LINE:
                    raise SourceError(
                        f"Line {number} of '{path}' is longer than {MOST_LINE >> 20} MiB; check "
                        "that this is the run's file."
                    )
                if not line.strip():
                    continue
                try:
                    yield number, json.loads(line.decode("utf-8-sig"), parse_int=_whole)
                except (ValueError, RecursionError) as problem:
                    if line.endswith(b"\n") or number == 1:
                        raise broken(path, problem, number) from problem
                    if notes is not None:
                        notes.append(f"The last line of '{path.name}' is cut off and was left out.")
    except OSError as problem:
        raise _unreadable(path, problem) from problem


def inside(folder: Path, name: str) -> Path | None:
    """A file of a folder if it is there; never one that a link leads to outside of it."""
    path = folder / name
    with suppress(OSError, ValueError):
        if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            return path
    return None


def entries(folder: Path) -> list[Path]:
    """What a folder holds, by name; links that leave it are not followed."""
    try:
        home = folder.resolve()
        return [p for p in sorted(folder.iterdir()) if p.resolve().is_relative_to(home)]
    except OSError as problem:
        raise _unreadable(folder, problem) from problem


def broken(path: Path, problem: Exception, line: int | None = None) -> SourceError:
    """What to say of JSON that is none."""
    where = f"The file '{path}'" if line is None else f"Line {line} of '{path}'"
    reason = "nested too deeply" if isinstance(problem, RecursionError) else one_line(problem)
    return SourceError(f"{where} is not readable JSON ({reason}); restore it or write it again.")


def malformed(path: Path, what: str) -> SourceError:
    """What to say of JSON that is not what a tool writes."""
    return SourceError(
        f"The file '{path}' does not hold {what}; check that the run was saved completely."
    )


def _unreadable(path: Path, problem: Exception) -> SourceError:
    reason = getattr(problem, "strerror", None) or one_line(problem)
    return SourceError(f"'{path}' cannot be opened ({reason}); check the path and your rights.")


def _whole(digits: str) -> int | float:
    """A whole number; beyond what a float can tell apart, a float."""
    return int(digits) if len(digits) <= 18 else float(digits)
