"""Runs in a folder that is none itself: which there are, by which tool, or why there is none."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hyperlens.errors import SourceError
from hyperlens.importers.files import entries
from hyperlens.importers.kinds import REMEDY, Kind, file_kind, folder_kind
from hyperlens.importers.read_options import ReadOptions
from hyperlens.runs.history import History
from hyperlens.words import counted

DEEPEST = 3  # folders inside folders, such as SMAC's output/name/seed
MOST_ENTRIES = 2000  # files and folders that are looked at
MOST_NAMED = 8
TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
PICKLES = (".pkl", ".pickle", ".joblib", ".dill", ".pt", ".pth")


def each_run(source: str) -> list[str]:
    """The runs of a folder that holds several, where many can be asked about; else what was given."""
    path = Path(source).expanduser()
    if "://" in source or not path.is_dir() or folder_kind(path) is not None:
        return [source]
    found = _found(path, [])
    return [str(run) for run, _ in found] if len(found) > 1 else [source]


def read_found(folder: Path, options: ReadOptions) -> History:
    """Read the one run that lies in a folder; of several, or of none, say what was found."""
    looked: list[Path] = []
    found = _found(folder, looked)
    if not found:
        raise SourceError(_nothing(folder, looked))
    if len(found) > 1:
        named = [f"'{path.relative_to(folder)}' ({kind.tool})" for path, kind in found]
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        raise SourceError(
            f"The folder '{folder}' holds {len(found)} runs; choose one of "
            f"{', '.join(named[:MOST_NAMED])}{more}."
        )
    ((path, kind),) = found
    history = kind.read(options)
    note = f"Of the folder '{folder.name}', '{path.relative_to(folder)}' was read ({kind.tool})."
    return replace(history, notes=(note, *history.notes))


def _found(folder: Path, looked: list[Path]) -> list[tuple[Path, Kind]]:
    found = list(_runs_below(folder, DEEPEST, looked))
    if any(kind.certain for _, kind in found):  # a table beside a run is a part of it
        return [(path, kind) for path, kind in found if kind.certain]
    return found


def _runs_below(folder: Path, depth: int, looked: list[Path]) -> Iterator[tuple[Path, Kind]]:
    """Runs in the order of their names; a folder that is a run is not looked into."""
    for path in entries(folder):
        if path.is_symlink() or path.name.startswith("."):
            continue
        if len(looked) == MOST_ENTRIES:
            return
        looked.append(path)
        if path.is_dir():
            if (kind := folder_kind(path)) is not None:
                yield path, kind
            elif depth > 1:
                yield from _runs_below(path, depth - 1, looked)
        elif path.is_file() and (kind := _quiet_kind(path)) is not None:
            yield path, kind


def _quiet_kind(path: Path) -> Kind | None:
    """What a file is; none if it cannot be opened or any JSON would be it, for nobody asked for it."""
    try:
        kind = file_kind(path)
    except SourceError:
        return None
    table = path.suffix.lower() in TABLES
    return kind if kind is not None and (kind.certain or table) else None


def _nothing(folder: Path, looked: list[Path]) -> str:
    """Why a folder holds no run."""
    files = [path for path in looked if path.is_file()]
    if not files:
        return f"'{folder}' is a folder without a file that could be read; {REMEDY}."
    pickles = [path for path in files if path.suffix.lower() in PICKLES]
    names = [f"'{path.relative_to(folder)}'" for path in files if path not in pickles]
    are = "is" if len(pickles) == 1 else "are"
    told = [f"{counted(len(pickles), 'pickle')}, which {are} never opened"] if pickles else []
    if names:
        told.append(
            ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        )
    return f"'{folder}' is a folder of no kind that can be read (it holds {'; '.join(told)}); {REMEDY}."
