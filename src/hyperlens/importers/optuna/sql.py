"""Optuna's relational storage, read by plain SQL: nothing is written, created, or migrated.

Optuna itself creates tables and stamps versions when it opens a database, and refuses one of
another version; these queries read all its schemas since 2.0. A SQLite file is copied page by page
into a private temporary database first, so a running study is locked for that moment only; to see what
is new in one takes less than to copy it.
"""

import math
import sqlite3
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError
from hyperlens.importers.extent import check_extent
from hyperlens.importers.optuna.following import Followed, Rows
from hyperlens.importers.optuna.sqlite_snapshot import described, open_read_only, snapshot
from hyperlens.importers.optuna.stored_study import (
    METRIC_NAMES,
    PROPOSERS,
    REASONS,
    StoredStudy,
    StoredTrial,
    choose,
    parsed,
)
from hyperlens.importers.values import one_line, seconds
from hyperlens.proposal import EXCESS, LIMITS, PLAN, PROPOSAL, RUNGS, SPACE, STOPPED
from hyperlens.runs import databases

_INFINITE = {"INF_POS": float("inf"), "INF_NEG": float("-inf"), "NAN": float("nan")}


@dataclass(frozen=True)
class Database:
    """An open database: its columns by table, and a way to ask it."""

    where: str
    columns: Mapping[str, set[str]]
    select: Callable[[str], Iterable[Any]]

    def has(self, table: str, column: str) -> bool:
        return column in self.columns.get(table, ())


def read_sqlite(
    path: Path, study: str | None = None, every: bool = False, followed: Followed | None = None
) -> StoredStudy:
    """A study out of a SQLite file, which is left exactly as it is; `every` attribute, if asked for;
    only what is new in it, if it was followed before."""
    followed = followed or Followed()
    try:
        if followed.past is not None:
            with suppress(sqlite3.Error), closing(open_read_only(path)) as connection:
                return _in_sqlite(connection, path, study, every, followed)
        with closing(snapshot(path)) as connection:
            return _in_sqlite(connection, path, study, every, followed)
    except sqlite3.Error as problem:
        raise SourceError(described(path, problem)) from problem


def _in_sqlite(
    connection: sqlite3.Connection, path: Path, study: str | None, every: bool, followed: Followed
) -> StoredStudy:
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    columns = {
        table: {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')}
        for (table,) in tables.fetchall()
    }
    return _read(Database(f"'{path}'", columns, connection.execute), study, every, followed)


def read_server(
    url: str, study: str | None = None, every: bool = False, followed: Followed | None = None
) -> StoredStudy:
    """A study out of any other database that SQLAlchemy knows."""
    import sqlalchemy

    try:
        engine = sqlalchemy.create_engine(databases.parse(url))
    except ModuleNotFoundError as problem:
        raise SourceError(
            f"The database driver '{problem.name}' is not installed; install it with "
            f"'pip install {problem.name}'."
        ) from problem
    except sqlalchemy.exc.SQLAlchemyError as problem:
        raise SourceError(
            f"This is not a usable database address ({one_line(problem)}); "
            "write it like postgresql://user:password@host/database."
        ) from problem
    where = f"'{engine.url.render_as_string(hide_password=True)}'"
    try:
        with engine.connect() as connection:
            inspector = sqlalchemy.inspect(connection)
            columns = {
                table: {column["name"] for column in inspector.get_columns(table)}
                for table in inspector.get_table_names()
            }
            database = Database(where, columns, connection.exec_driver_sql)
            return _read(database, study, every, followed or Followed())
    except sqlalchemy.exc.SQLAlchemyError as problem:
        reason = one_line(getattr(problem, "orig", None) or problem)
        raise SourceError(
            f"The database {where} cannot be read ({reason}); check its address and your rights."
        ) from problem
    finally:
        engine.dispose()


def _read(database: Database, name: str | None, every: bool, followed: Followed) -> StoredStudy:
    if not {"studies", "trials", "trial_params", "trial_values"} <= database.columns.keys():
        raise SourceError(
            f"The database {database.where} holds no Optuna studies; give the storage that "
            "optuna.create_study was called with."
        )
    rows = database.select("SELECT study_name, study_id FROM studies ORDER BY study_id")
    ids = {str(name): int(study) for name, study in rows}
    name = choose(ids, name, f"the database {database.where}")
    study = ids[name]
    past = followed.past
    known = isinstance(past, Rows) and past.of == (name, study, every)
    if not known or not past.still(database.select, study):
        past = Rows()
    followed.past = None  # what is cut off in the middle is no past
    wanted = past.wanted(study)
    of = f"trial_id IN (SELECT trial_id FROM trials WHERE {wanted})"
    if len(ids) == 1 and not past.trials:
        of = "trial_id IS NOT NULL"  # all that there is, in the order in which it was written
    _check_extent(database, wanted, of, len(past.trials))
    numbered = _trials(database, wanted, past)
    _params(database, of, numbered, past)
    _values(database, of, numbered)
    _steps(database, of, numbered)
    _attributes(database, of, numbered, every)
    past.of, past.trials = (name, study, every), past.trials | numbered
    followed.past = past if database.has("trials", "number") else None
    distributions = past.distributions
    trials = sorted(past.trials.values(), key=lambda trial: trial.number)
    names = _study_attribute(database, study, "system", METRIC_NAMES)
    kept = {"space": SPACE, "plan": PLAN, "stopped": STOPPED, "limits": LIMITS}
    known = {name: _study_attribute(database, study, "user", key) for name, key in kept.items()}
    directions = _directions(database, study)
    return StoredStudy(name, directions, names, distributions, trials, **known)


def _check_extent(database: Database, wanted: str, of: str, known: int) -> None:
    """Refuse a study before it fills the memory: its trials, values and what is written with them."""
    ((trials,),) = database.select(f"SELECT COUNT(*) FROM trials WHERE {wanted}")
    ((values,),) = database.select(f"SELECT COUNT(*) FROM trial_params WHERE {of}")
    size = 0
    for table in ("trial_user_attributes", "trial_system_attributes"):
        if table in database.columns:
            question = f"SELECT COALESCE(SUM(LENGTH(value_json)), 0) FROM {table} WHERE {of}"
            ((letters,),) = database.select(question)
            size += int(letters)
    columns = math.ceil(values / max(trials, 1))
    check_extent(f"A study in {database.where}", size, known + trials, columns)


def _directions(database: Database, study: int) -> list[str]:
    table = "study_directions" if "study_directions" in database.columns else "studies"
    order = " ORDER BY objective" if database.has(table, "objective") else ""
    rows = database.select(f"SELECT direction FROM {table} WHERE study_id = {study}{order}")
    return [str(direction) for (direction,) in rows]


def _study_attribute(database: Database, study: int, kind: str, key: str) -> Any:
    """One of a study's attributes, which a user or the system set; None if it is not there."""
    table = f"study_{kind}_attributes"
    if table not in database.columns:
        return None
    rows = database.select(
        f"SELECT a.value_json FROM {table} a WHERE a.study_id = {study} AND a.key = '{key}'"
    )
    return next((parsed(text) for (text,) in rows), None)


def _trials(database: Database, wanted: str, past: Rows) -> dict[int, StoredTrial]:
    """Trials by their id in the database."""
    optional = [c for c in ("number", "value") if database.has("trials", c)]
    numbered, valued = "number" in optional, "value" in optional
    rows = database.select(
        f"SELECT {', '.join(['trial_id, state, datetime_start, datetime_complete', *optional])} "
        f"FROM trials WHERE {wanted} ORDER BY trial_id"
    )
    utc = _times_are_utc(database)
    trials = {}
    ends: dict[int, tuple[Any, ...]] = {}
    before = len(past.trials)
    for position, (trial_id, state, started, ended, *more) in enumerate(rows, before):
        number = more[0] if numbered else None
        trial = StoredTrial(
            position if number is None else int(number),
            str(state),
            seconds(started, utc),
            seconds(ended, utc),
        )
        if valued and more[-1] is not None:  # one objective, before Optuna 2.4
            trial.values = [float(more[-1])]
        trials[int(trial_id)] = trial
        ends[int(trial_id)] = (state, started, ended)
    past.note_ends(ends)
    return trials


def _times_are_utc(database: Database) -> bool:
    """Optuna writes UTC since version 5, before that local time; neither says so in the row."""
    if not database.has("version_info", "library_version"):
        return False
    versions = [str(v) for (v,) in database.select("SELECT library_version FROM version_info")]
    major = versions[0].split(".")[0] if versions else ""
    return major.isdigit() and int(major) >= 5


def _params(database: Database, of: str, trials: Mapping[int, StoredTrial], past: Rows) -> None:
    distributions, first = past.distributions, past.first
    rows = database.select(
        "SELECT param_id, trial_id, param_name, param_value, distribution_json "
        f"FROM trial_params WHERE {of} ORDER BY param_id"
    )
    readers: dict[tuple[str, str], tuple[str, Callable[[Any], Any] | None]] = {}
    for param_id, trial_id, name, stored, text in rows:
        known = readers.get((name, text))
        if known is None:
            first[name] = min(first.get(name, param_id), param_id)
            # one text of the name for all trials, where the database makes one for each
            known = readers[name, text] = (sys.intern(name), distributions.reader(name, text))
        trial = trials.get(trial_id)
        if trial is not None:  # a server goes on between two questions
            shown, reader = known
            trial.params[shown] = stored if reader is None else reader(stored)
    distributions.seen = {
        name: distributions.seen[name]
        for name in sorted(first, key=first.__getitem__)
        if name in distributions.seen
    }


def _values(database: Database, of: str, trials: Mapping[int, StoredTrial]) -> None:
    if not database.has("trial_values", "objective"):
        return
    kind = "value_type" if database.has("trial_values", "value_type") else "NULL"
    rows = database.select(
        f"SELECT trial_id, value, {kind} FROM trial_values WHERE {of} ORDER BY trial_id, objective"
    )
    values: dict[int, list[float | None]] = {}
    for trial_id, value, value_type in rows:
        values.setdefault(trial_id, []).append(_INFINITE.get(value_type, value))
    for trial_id in values.keys() & trials.keys():
        trials[trial_id].values = values[trial_id]


def _steps(database: Database, of: str, trials: Mapping[int, StoredTrial]) -> None:
    """What trials reported on their way."""
    table, value = "trial_intermediate_values", "intermediate_value"
    if table not in database.columns:  # before Optuna 2.4
        table, value = "trial_values", "value"
    if not database.has(table, "step"):
        return
    kind = f"{value}_type" if database.has(table, f"{value}_type") else "NULL"
    rows = database.select(f"SELECT trial_id, step, {value}, {kind} FROM {table} WHERE {of}")
    for trial_id, step, reported, value_type in rows:
        if trial_id in trials:
            known = _INFINITE.get(value_type, reported)
            trials[trial_id].steps[int(step)] = math.nan if known is None else float(known)


def _attributes(
    database: Database, of: str, trials: Mapping[int, StoredTrial], every: bool
) -> None:
    """All keys, since samplers leave traces in them, but only the contents that are shown, or every
    one."""
    keys = ", ".join(f"'{key}'" for key in (*REASONS, *PROPOSERS, PROPOSAL, RUNGS, EXCESS))
    shown = f"a.key IN ({keys}) OR SUBSTR(a.key, 1, {len(EXCESS) + 1}) = '{EXCESS}:'"
    content = "a.value_json" if every else f"CASE WHEN {shown} THEN a.value_json END"
    for table in ("trial_user_attributes", "trial_system_attributes"):
        if table in database.columns:
            rows = database.select(
                f"SELECT a.trial_id, a.key, {content} FROM {table} a WHERE a.{of}"
            )
            for trial_id, key, text in rows:
                if trial_id in trials:
                    trials[trial_id].attributes[str(key)] = parsed(text)
