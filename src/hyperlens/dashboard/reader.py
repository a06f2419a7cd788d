"""Reading runs in a worker: again only when something changed, of a study in a storage only what is new;
and a digest of what was read."""

import hashlib
import math
import os
import struct
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperlens.dashboard.catalogue import WHOLE, Part, Run, RunState, Source, labels
from hyperlens.errors import AnalysisError, NoTrials
from hyperlens.runs.history import History, Trial

MOST_RUNS = 8  # runs kept in memory, each with what was computed from it
MOST_FILES = 2000  # of a folder, looked at for a change
MOST_EXPLAINED = 5000  # recorded proposals that can be chosen


@dataclass(frozen=True)
class Snapshot:
    """A run as it was at some moment; `mark` changes when its files do. `followed` is what reading it
    left for the next time, `digests` are those of its trials, by their ids in memory."""

    mark: Any
    history: History
    state: RunState
    followed: Any = None
    digests: Mapping[int, bytes] = field(default_factory=dict)


class Reader:
    """Runs by their place in the catalogue; the ones used last are kept."""

    def __init__(self, sources: tuple[Source, ...]) -> None:
        self.sources = sources
        self._listed: dict[str, tuple[Any, dict[str | None, dict[str, Any] | None]]] = {}
        self._snapshots: OrderedDict[tuple[int, str | None, Part], Snapshot] = OrderedDict()

    def runs(self) -> list[Run]:
        """Every run of every source; a storage is listed study by study."""
        runs = []
        texts = labels([source.where for source in self.sources])
        for k, (source, label) in enumerate(zip(self.sources, texts, strict=True)):
            sizes = self._sizes(source.where)
            names = (source.study,) if source.study else tuple(sizes)
            if len(names) > 1 or (names and source.study is None and len(self.sources) > 1):
                runs += [Run(k, name, f"{name} ({label})", sizes.get(name)) for name in names]
            else:
                name = names[0] if names else None
                runs.append(Run(k, name, label, sizes.get(name)))
        return runs

    def _sizes(self, where: str) -> dict[str | None, dict[str, Any] | None]:
        """The studies of a storage with what it tells of each; asked again when it changed."""
        from hyperlens.importers.optuna.study_names import studies
        from hyperlens.importers.optuna.study_sizes import study_sizes

        mark = _mark(where)
        last = self._listed.get(where)
        if last is None or mark is None or last[0] != mark:
            sizes: dict[str | None, dict[str, Any] | None] = {
                name: asdict(size) for name, size in study_sizes(where).items()
            }
            last = (mark, sizes or dict.fromkeys(studies(where)))
            self._listed[where] = last
        return last[1]

    def look(self, run: Run, part: Part = WHOLE) -> RunState:
        """What there is of the run now; nothing yet, perhaps."""
        try:
            return self.read(run, part).state
        except NoTrials:
            return RunState(title=run.title)

    def read(self, run: Run, part: Part = WHOLE) -> Snapshot:
        """The run as it is now, or what of it is wanted."""
        key, source = (run.source, run.study, part), self.sources[run.source]
        last = self._snapshots.get(key)
        if part.where is not None:
            whole = self.read(run, replace(part, where=None))
            if last is None or last.mark != whole.state.version:
                last = _narrowed(whole, part.where)
        else:
            mark = _mark(source.where)
            if last is None or mark is None or last.mark != mark:
                last = _read(run, source, part, mark, last)
        self._snapshots[key] = last
        self._snapshots.move_to_end(key)
        while len(self._snapshots) > MOST_RUNS:
            self._snapshots.popitem(last=False)
        return last


def _read(run: Run, source: Source, part: Part, mark: Any, last: Snapshot | None) -> Snapshot:
    """The run read again; where it is the same, with what was computed from it."""
    from hyperlens.importers import open_run
    from hyperlens.importers.optuna.following import Followed
    from hyperlens.importers.read_options import ReadOptions

    start = time.perf_counter()
    followed = Followed() if last is None else last.followed
    options = ReadOptions(
        run.study,
        source.space,
        part.cost or source.objective,
        source.maximize if part.maximize is None else part.maximize,
        constraint=(*(source.constraint or ()), *part.limits) or None,
        followed=followed,
    )
    follows = followed.past is not None
    history = open_run(source.where, options)
    digests = _digests(history, {} if last is None else last.digests)
    version = _digest(history, digests)
    if last is not None and last.state.version == version:
        return replace(last, mark=mark)
    taken = time.perf_counter() - start
    if followed.past is not None and not follows:
        taken = 0.0  # the next look reads what is new alone
    return Snapshot(mark, history, _state(history, version, taken), followed, digests)


def _narrowed(whole: Snapshot, where: str) -> Snapshot:
    """The trials that meet a condition, as a run of its own."""
    from hyperlens.runs.selection import Selection

    start = time.perf_counter()
    history = Selection(where=where).of(whole.history)
    version = digest(history)
    seconds = whole.state.seconds + time.perf_counter() - start
    return Snapshot(whole.state.version, history, _state(history, version, seconds))


def digest(history: History) -> str:
    """A text that is the same only for the same trials, space and objectives."""
    return _digest(history, _digests(history, {}))


def _digest(history: History, digests: Mapping[int, bytes]) -> str:
    declared = [*map(astuple, history.objectives), *map(astuple, history.space.parameters)]
    clauses = sorted(history.space.clauses.items())
    head = [history.source, history.notes, declared, clauses, history.plan, history.limits]
    digest = hashlib.blake2b(repr(head).encode("utf-8", "replace"), digest_size=16)
    digest.update(b"".join(digests[id(trial)] for trial in history.trials))
    return digest.hexdigest()


def _digests(history: History, known: Mapping[int, bytes]) -> dict[int, bytes]:
    """Of each trial; of one that was read before it is known, for trials never change."""
    return {id(t): known.get(id(t)) or _trial_digest(t) for t in history.trials}


def _trial_digest(t: Trial) -> bytes:
    """Floats by their bytes, since to write them takes longest, all else by its text."""
    floats = [math.nan if x is None else x for x in (t.started, t.ended, *t.costs, *t.excess)]
    others: list[Any] = [
        t.number,
        *t.values,
        str(t.state),
        t.budget,
        t.seed,
        t.instance,
        t.proposer,
    ]
    others += [t.reason, t.proposal and t.proposal.to_dict()]
    for name, value in t.values.items():
        if type(value) is float:
            floats.append(value)
        else:
            others.append((name, value))
    digest = hashlib.blake2b(repr(others).encode("utf-8", "replace"), digest_size=16)
    digest.update(struct.pack(f"{len(floats)}d", *floats))
    if t.curve is not None:
        digest.update(t.curve.steps.tobytes() + t.curve.values.tobytes())
    return digest.digest()


def _state(history: History, version: str, seconds: float) -> RunState:
    from hyperlens.sections.explainable import explainable
    from hyperlens.sections.run.models import tells_models

    budgets = history.budgets
    numbers, recorded = explainable(history)
    return RunState(
        version=version,
        title=history.source,
        trials=len(history.trials),
        analysed=sum(t.state in history.analysed for t in history.trials),
        best=_best(history),
        parameters=history.space.names,
        objectives=tuple((o.name, o.maximize) for o in history.objectives),
        budgets=budgets if len(budgets) > 1 else (),
        explained=numbers[-MOST_EXPLAINED:],
        recorded=recorded,
        models=tells_models(history),
        seconds=seconds,
    )


def _best(history: History) -> float | None:
    """Of one objective; None where there is none yet."""
    if len(history.objectives) != 1:
        return None
    try:
        best = history.best().costs[0]
    except AnalysisError:
        return None
    return best if math.isfinite(best) else None


def _mark(where: str) -> Any:
    """What changes when the files of a run do; None where only reading tells."""
    if "://" in where and not where.startswith("sqlite:///"):
        return None
    path = Path(where.removeprefix("sqlite:///")).expanduser()
    if path.is_dir():
        names = sorted(p for p in path.rglob("*") if p.is_file())[:MOST_FILES]
    else:
        names = [path, *(Path(f"{path}{end}") for end in ("-wal", "-journal"))]
    stamps = []
    for name in names:
        try:
            at = os.stat(name)
        except OSError:
            continue
        stamps.append((str(name), at.st_mtime_ns, at.st_size))
    return tuple(stamps)
