"""The house as its imports draw it: which file uses which, by whatever road."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "hyperlens"

When = Literal["top", "late", "types"]  # at import, inside a function, for type checkers alone
Graph = dict[str, set[str]]

# imports against the order of the house, each made when a function is called
DOORS = {
    ("record", "plots"): "record.plot() draws itself, and loads drawings only then",
    ("runs.history", "runs.selection"): "History.select() is a method, its many choices a file",
    ("optimize.running.engine", "optimize.running.cluster"): "Dask is loaded only where it is used",
}


@dataclass(frozen=True)
class Import:
    """One file of hyperlens uses another; names are dotted, without `hyperlens.`."""

    user: str
    used: str
    when: When
    line: int


@cache
def sources() -> dict[str, Path]:
    """All files by dotted name; a room's own file has the room's name, the front door none."""
    return {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        .removesuffix("__init__")
        .rstrip("."): path
        for path in sorted(SOURCE.rglob("*.py"))
    }


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def public() -> dict[str, str]:
    """Public names with the file that defines each, as `__init__.pyi` lists them."""
    return lazy(SOURCE / "__init__.pyi")


def lazy(stub: Path) -> dict[str, str]:
    """Names that a room loads when they are used, with the file that defines each."""
    inside = stub.parent.relative_to(SOURCE).parts
    return {
        alias.name: ".".join([*inside, node.module or alias.name])
        for node in tree(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def room(name: str) -> str:
    return name.split(".")[0]


@cache
def imports() -> tuple[Import, ...]:
    """Every import of one file of hyperlens by another, by whatever road."""
    return tuple(
        Import(user, used, when, getattr(node, "lineno", 0))
        for user, path in sources().items()
        if user
        for node, when in walk(tree(path), "top")
        for used in targets(node, tree(path))
        if used != user
    ) + tuple(
        Import(".".join(path.parent.relative_to(SOURCE).parts), used, "late", 0)
        for path in SOURCE.rglob("*/__init__.pyi")  # a room whose names are loaded when used
        for used in lazy(path).values()
    )


def graph(*when: When) -> Graph:
    """Files with those that they import, at the given times, but not through doors."""
    edges: Graph = {name: set() for name in sources() if name}
    for each in imports():
        if each.when in when and not is_door(each):
            edges[each.user].add(each.used)
    return edges


def is_door(each: Import, doors: Iterable[tuple[str, str]] = tuple(DOORS)) -> bool:
    """Whether one of the doors, each from a file to a room or to a file, allows this import."""
    return any(each.user == a and f"{each.used}.".startswith(f"{b}.") for a, b in doors)


def rooms(files: Graph) -> Graph:
    """The graph of files as one of rooms."""
    edges: Graph = {room(name): set() for name in files}
    for user, used in files.items():
        edges[room(user)] |= {room(name) for name in used} - {room(user), ""}
    return edges


def cycle(edges: Graph) -> list[str]:
    """A ring of imports, empty where there is none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as ring:
        return [str(name) for name in ring.args[1]]
    return []


def functions() -> Iterator[tuple[str, int]]:
    """Every function as `file:name`, with its lines."""
    for name, path in sources().items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{name}:{node.name}", node.end_lineno - node.lineno + 1


def walk(node: ast.AST, when: When) -> Iterator[tuple[ast.AST, When]]:
    for child in ast.iter_child_nodes(node):
        yield child, when
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from walk(child, "late" if when == "top" else when)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from ((n, "types") for part in child.body for n in ast.walk(part))
            yield from ((n, when) for part in child.orelse for n in ast.walk(part))
        else:
            yield from walk(child, when)


def targets(node: ast.AST, module: ast.Module) -> Iterator[str]:
    """Files of hyperlens that one node imports."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name == "hyperlens":  # the front door: what is taken through it
                yield from _through_the_door(module, alias.asname or "hyperlens")
            elif alias.name.startswith("hyperlens."):
                yield alias.name.removeprefix("hyperlens.")
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative import; name the module in full"
        if node.module == "hyperlens":
            yield from (_public(alias.name) for alias in node.names)
        elif node.module and node.module.startswith("hyperlens."):
            parent = node.module.removeprefix("hyperlens.")
            for alias in node.names:
                inner = f"{parent}.{alias.name}"
                yield inner if inner in sources() else parent
    elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
        argument = node.args[0]
        if isinstance(argument, ast.JoinedStr):
            argument = argument.values[0]
        if isinstance(argument, ast.Constant) and str(argument.value).startswith("hyperlens."):
            yield str(argument.value).removeprefix("hyperlens.").rstrip(".")


def _through_the_door(module: ast.Module, name: str) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == name:
            yield _public(node.attr)


def _public(name: str) -> str:
    """The file behind a name of the front door; '' for what is the door's own."""
    return name if name in sources() else public().get(name, "")


def called(node: ast.Call) -> str:
    """The last part of the name of what is called."""
    return ast.unparse(node.func).rsplit(".", 1)[-1]
