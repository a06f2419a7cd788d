"""The search space: values (what a user writes) and vectors (points of the unit cube).

Columns of a vector are the tunable parameters in the order of `names`, nan where a parameter is
inactive; constants have no column. "Uniform over the space" is uniform on the cube's latents.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import scipy

from hyperlens.errors import SpaceError, listed
from hyperlens.notebook import view
from hyperlens.spaces.clauses import Clauses, in_words
from hyperlens.spaces.cube import BoolArray, Clause, Cube, FloatArray, IntArray
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.short_form import REMEDY, is_short, number_of, parameters
from hyperlens.tables import from_frame
from hyperlens.words import counted, first_few, number, printable

if TYPE_CHECKING:
    import pandas as pd
    from ConfigSpace import ConfigurationSpace

MOST_SHOWN = 5  # parameters in a line

GivenSpace: TypeAlias = Union[
    "Space",
    "ConfigurationSpace",
    Mapping[str, Any],
    list[Parameter],
    tuple[Parameter, ...],
    str,
    Path,
]


class Space:
    """A ConfigSpace seen as parameters, conditions and a unit cube.

    `inferred` holds one sentence for each thing that was concluded from data instead of declared.

    >>> space = Space.of([Parameter("lr", "float", 1e-4, 1e-1, log=True)])
    >>> round(space.decode(space.encode([{"lr": 0.01}]))[0]["lr"], 12)
    0.01
    """

    def __init__(self, configspace: ConfigurationSpace, inferred: Sequence[str] = ()) -> None:
        from hyperlens.spaces.configspace import read

        parameters, self.clauses, self.constants = read(configspace)
        self.configspace = configspace
        self.inferred = tuple(inferred)
        self.parameters = tuple(parameters)

    @staticmethod
    def of(
        parameters: Sequence[Parameter],
        clauses: Mapping[str, Clauses] | None = None,
        constants: Mapping[str, Any] | None = None,
        inferred: Sequence[str] = (),
    ) -> Space:
        """Build a space from plain descriptions."""
        from hyperlens.spaces.configspace import write

        return Space(write(parameters, clauses or {}, constants or {}), inferred)

    @staticmethod
    def load(path: str | Path) -> Space:
        """Read ConfigSpace's own JSON or YAML, the older PCS, or a short form in JSON or YAML (see
        hyperlens.spaces.short_form)."""
        path = Path(path)
        if not path.is_file():
            raise SpaceError(f"There is no space file '{path}'; check the path of the space.")
        form = path.suffix.lower()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of fields renamed since old files
                space = _read_file(path, form)
        except SpaceError:
            raise
        except Exception as problem:  # ConfigSpace raises whatever its decoders meet
            reason = " ".join(f"{type(problem).__name__}: {problem}".split())[:200]
            raise SpaceError(
                f"The file '{path}' is not a space in ConfigSpace's JSON or YAML form ({reason}); "
                f"{REMEDY}"
            ) from problem
        if not len(space.configspace):  # ConfigSpace reads any JSON object as a space
            raise SpaceError(f"The file '{path}' holds no hyperparameters; {REMEDY}")
        return space

    @staticmethod
    def from_json(text: str) -> Space:
        """The space that `to_json` wrote."""
        from ConfigSpace import ConfigurationSpace

        return Space(ConfigurationSpace.from_json(StringIO(text)))

    def to_json(self) -> str:
        """ConfigSpace's own JSON."""
        text = StringIO()
        self.configspace.to_json(text)
        return text.getvalue()

    def to_yaml(self) -> str:
        """ConfigSpace's own YAML."""
        import yaml

        # ConfigSpace's to_yaml writes tuples that its from_yaml refuses
        text: str = yaml.safe_dump(json.loads(self.to_json()), sort_keys=False)
        return text

    def save(self, path: str | Path) -> None:
        """Write ConfigSpace's own JSON, or YAML by the file's ending."""
        yaml = Path(path).suffix.lower() in (".yaml", ".yml")
        Path(path).write_text(self.to_yaml() if yaml else self.to_json(), encoding="utf-8")

    def restricted(self, keep: Sequence[str], fixed: Mapping[str, Any]) -> Space:
        """The space of the kept parameters, all others constant at their fixed values."""
        parameters = [self[name] for name in keep]
        clauses = {name: self.clauses[name] for name in keep if name in self.clauses}
        return Space.of(parameters, clauses, {**self.constants, **fixed}, self.inferred)

    def __repr__(self) -> str:
        ranges = first_few([f"{p.name} ({p.extent})" for p in self.parameters], MOST_SHOWN)
        conditions = f", {counted(len(self.clauses), 'condition')}" if self.clauses else ""
        count = counted(len(self), "parameter")
        return printable(f"<Space of {count}{conditions}: {ranges}>")

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each parameter and constant, for people."""
        import pandas as pd

        rows = [
            {
                "parameter": p.name,
                "type": p.kind,
                "range": p.extent,
                "scale": "log" if p.log else "linear" if p.kind in ("float", "integer") else None,
                "default": number(p.default),
                "active when": self.conditions.get(p.name),
            }
            for p in self.parameters
        ]
        rows += [
            {"parameter": name, "type": "constant", "range": number(value)}
            for name, value in self.constants.items()
        ]
        return pd.DataFrame(rows).astype(object).replace({np.nan: None})

    def _repr_html_(self) -> str:
        """What a notebook shows of it."""
        forbidden = [
            f"Forbidden: {str(clause).replace('Forbidden: ', '').replace(' && ', ' and ')}"
            for clause in self.configspace.forbidden_clauses
        ]
        title = f"Space of {counted(len(self), 'parameter')}"
        notes = (*forbidden, *self.inferred)
        return view(title, tables=[from_frame(self.frame)], notes=notes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def __getitem__(self, name: str) -> Parameter:
        return self.parameters[self.column(name)]

    def column(self, name: str) -> int:
        """Column of a parameter in vectors."""
        if name in self._columns:
            return self._columns[name]
        why = "is a constant of this space" if name in self.constants else "is not in this space"
        near = [n for n in self.names if name and n.startswith(name)]
        near = near if len(near) == 1 else get_close_matches(name, self.names, 1)
        meant = f", most likely {near[0]!r}" if near else ""
        raise SpaceError(f"Parameter '{name}' {why}; choose one of {listed(self.names)}{meant}.")

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def cube(self) -> Cube:
        conditions: dict[int, tuple[Clause, ...]] = {}
        for child, clauses in self.clauses.items():
            conditions[self.column(child)] = tuple(
                tuple((self.column(p), self[p].runs(comparison, v)) for p, comparison, v in clause)
                for clause in clauses
            )
        return Cube(tuple(p.axis for p in self.parameters), conditions)

    @property
    def conditions(self) -> dict[str, str]:
        """Child -> when it is active, in words."""
        return {child: in_words(clauses) for child, clauses in self.clauses.items()}

    @property
    def central(self) -> bool:
        """Is the default the middle of every range and the first of every choice, as in a space that
        gives none?"""
        return all(p.central for p in self.parameters)

    @property
    def default(self) -> dict[str, Any]:
        """Values of the default configuration, active parameters only."""
        codes = [p.encode([p.default])[0] for p in self.parameters]
        return self.decode(self.cube.vectors(np.array([codes])))[0]

    def encode(self, configurations: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Values to vectors, shape (n, d). A parameter that is absent is inactive."""
        vectors = np.full((len(configurations), len(self)), np.nan)
        for j, parameter in enumerate(self.parameters):
            name = parameter.name
            if values := [c[name] for c in configurations if name in c]:
                present = [name in c for c in configurations]
                vectors[present, j] = parameter.encode(values)
        return vectors

    def whole(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration with the constants that are active in it, as ConfigSpace has it."""
        found, asked = dict(values), self.configspace.parent_conditions_of
        for name in self.configspace:  # parents come before children
            if name in self.constants and all(c.satisfied_by_value(found) for c in asked[name]):
                found[name] = self.constants[name]
        return found

    def decode(self, vectors: FloatArray) -> list[dict[str, Any]]:
        """Vectors to values; inactive parameters are left out."""
        configurations: list[dict[str, Any]] = [{} for _ in range(len(vectors))]
        for j, parameter in enumerate(self.parameters):
            present = np.flatnonzero(~np.isnan(vectors[:, j]))
            for i, value in zip(present, parameter.decode(vectors[present, j]), strict=True):
                configurations[i][parameter.name] = value
        return configurations

    def misfits(self, vectors: FloatArray) -> IntArray:
        """Rows whose pattern of inactive parameters contradicts the conditions."""
        present = ~np.isnan(vectors)
        expected = self.cube.active(np.where(present, vectors, 0.5))
        return np.flatnonzero((expected != present).any(axis=1))

    def forbidden(self, vectors: FloatArray) -> BoolArray:
        """Which rows a forbidden clause rules out."""
        clauses = self.configspace.forbidden_clauses
        if not clauses:
            return np.zeros(len(vectors), dtype=bool)
        values = self.decode(vectors)
        return np.array(
            [any(c.is_forbidden_value({**self.constants, **v}) for c in clauses) for v in values],
            dtype=bool,
        )

    def sample(
        self, n: int, seed: int | np.random.Generator = 0, sobol: bool = False
    ) -> FloatArray:
        """Vectors uniform over the space: conditions honoured, forbidden ones drawn again."""
        rng = np.random.default_rng(seed)
        engine = scipy.stats.qmc.Sobol(len(self), rng=rng) if sobol else None
        accepted = np.empty((0, len(self)))
        for _ in range(1000):
            missing = n - len(accepted)
            if missing <= 0:
                return accepted[:n]
            if engine is None:
                latents = rng.random((missing, len(self)))
            else:
                latents = engine.random(2 ** int(np.ceil(np.log2(missing))))
            vectors = self.cube.vectors(latents)
            accepted = np.vstack([accepted, vectors[~self.forbidden(vectors)]])
        raise SpaceError("Forbidden clauses leave almost nothing of this space; loosen them.")

    def grid(self, name: str, size: int = 20) -> tuple[FloatArray, list[Any]]:
        """Codes and values of an even grid on one parameter."""
        codes = self[name].grid(size)
        return codes, self[name].decode(codes)


def as_space(source: GivenSpace) -> Space:
    """Our view of a space in any form that a user may hold."""
    if isinstance(source, Space):
        return source
    if isinstance(source, (str, Path)):
        return Space.load(source)
    if isinstance(source, (list, tuple)):
        if source and all(isinstance(p, Parameter) for p in source):
            return Space.of(source)
    elif isinstance(source, Mapping) and not hasattr(source, "parent_conditions_of"):
        if is_short(source):
            return Space.of(*_short(source))
    elif hasattr(source, "parent_conditions_of"):
        return Space(source)  # type: ignore[arg-type]  # ConfigSpace's own is a Mapping too
    raise SpaceError(
        f"A {type(source).__name__} is not a search space; give a ConfigSpace, the path of its "
        "JSON or YAML file, or a dict such as {'lr': {'low': 1e-5, 'high': 1.0, 'log': True}}."
    )


def _from_pcs(path: Path) -> Any:
    """A space as SMAC's older versions wrote it, in the newer of two dialects or the older."""
    from ConfigSpace.read_and_write import pcs, pcs_new

    lines = path.read_text(encoding="utf-8").splitlines()
    dialect = (
        pcs_new
        if any(re.search(r"\b(real|integer|categorical|ordinal)\b", x) for x in lines)
        else pcs
    )
    return dialect.read(lines)


def _read_file(path: Path, form: str) -> Space:
    """What a file holds, of whatever form; it may be nothing."""
    from ConfigSpace import ConfigurationSpace

    if form == ".pcs":
        return Space(_from_pcs(path))
    said = _described(path, yaml=form in (".yaml", ".yml"))
    if not isinstance(said, dict):
        raise SpaceError(f"The file '{path}' holds no space; {REMEDY}")
    if is_short(said):
        return Space.of(*_short(said))
    return Space(ConfigurationSpace.from_serialized_dict(said))


def _short(said: Mapping[str, Any]) -> tuple[list[Parameter], dict[str, Clauses], dict[str, Any]]:
    varying, constants = parameters(said)
    return varying, {}, constants


def _described(path: Path, yaml: bool) -> Any:
    """What a file says of a space; numbers such as 1.0e4 and 1e-5, which YAML 1.1 takes for texts,
    are numbers."""
    text = path.read_text(encoding="utf-8")
    if not yaml:
        return json.loads(text)
    import yaml as reader

    said = reader.safe_load(text)
    for described in said.get("hyperparameters", ()) if isinstance(said, dict) else ():
        kind = str(described.get("type"))
        for key, value in described.items():
            if "float" in kind:
                described[key] = number_of(value)
            elif "int" in kind and number_of(value) is not value:
                described[key] = int(number_of(value))
    return said
