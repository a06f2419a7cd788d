"""The house as docs/architecture.md draws it: who may import whom, and what is public."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import hyperlens

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hyperlens"

# each room may use the rooms named here, and itself
MAY_USE = {
    "errors": set(),
    "spaces": {"errors"},
    "record": {"plots", "errors"},  # the one door upwards: record.plot()
    "runs": {"spaces", "errors"},
    "surrogates": {"spaces"},
    "conversion": {"importers", "explain", "runs", "spaces", "errors"},
    "importers": {"runs", "spaces", "errors"},
    "explain": {"runs", "spaces", "surrogates", "record", "errors"},
    "optimize": {"runs", "spaces", "surrogates", "record", "errors"},
    "comparison": {"record", "spaces", "errors"},
    "cash": {"optimize", "runs", "spaces", "record", "errors"},
    "optuna": {"optimize", "importers", "spaces", "errors"},  # hl.optuna, the sampler
    "plots": {"explain", "comparison", "optimize", "cash", "record", "errors"},
    "front": set(),  # style and scripts of the report and of the live page
    "reports": {
        "front",
        "explain",
        "comparison",
        "cash",
        "plots",
        "runs",
        "record",
        "surrogates",
        "errors",
    },
    "terminal": {
        "explain",
        "comparison",
        "cash",
        "optimize",
        "runs",
        "reports",
        "record",
        "surrogates",
    },
    "dashboard": {"front", "reports", "importers", "explain", "surrogates", "runs", "errors"},
    "commands": {
        "dashboard",
        "conversion",
        "surrogates",
        "terminal",
        "reports",
        "importers",
        "explain",
        "comparison",
        "cash",
        "optimize",
        "runs",
        "spaces",
        "record",
        "errors",
    },
    "cli": {"commands", "terminal", "errors"},
}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports(path: Path) -> set[str]:
    """Every hyperlens module that a file imports, at the top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module)
            if node.module == "hyperlens":
                found |= {f"hyperlens.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] == "hyperlens"}


def test_imports_point_one_way() -> None:
    rooms = {p.relative_to(SOURCE).parts[0].removesuffix(".py") for p in SOURCE.rglob("*.py")}
    assert rooms - {"__init__"} == set(MAY_USE)
    for path in SOURCE.rglob("*.py"):
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        for module in imports(path):
            used = room(module)
            if used in ("", "__version__") or used == own:
                continue
            assert used in MAY_USE[own], f"{path.name} of {own} imports {module}"


def test_only_two_files_touch_configspace() -> None:
    touching = set()
    for path in SOURCE.rglob("*.py"):
        text = re.sub(r"if TYPE_CHECKING:\n(    .*\n|\n)*", "", path.read_text())
        if re.search(r"^\s*(from|import) ConfigSpace", text, re.MULTILINE):
            touching.add(path.name)
    assert touching == {"configspace.py", "space.py"}


def test_no_file_opens_pickles_or_runs_text() -> None:
    banned = {"eval", "exec", "compile"}
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in banned, f"{path}: {node.func.id}"
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [a.name for a in node.names] + [getattr(node, "module", "") or ""]
                assert not {"pickle", "cloudpickle", "dill", "marshal", "shelve"} & set(names)


def test_the_public_names_are_these() -> None:
    assert hyperlens.__all__ == sorted(hyperlens.__all__)
    for name in hyperlens.__all__:
        assert getattr(hyperlens, name).__name__.removeprefix("hyperlens.") == name


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ["numpy", "pandas", "sklearn", "optuna", "plotly", "scipy", "numba", "ConfigSpace"]
    code = (
        "import sys, hyperlens, hyperlens.cli; "
        f"sys.exit(','.join(m for m in {heavy} if m in sys.modules) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_public_function_has_an_example() -> None:
    documented = (ROOT / "docs" / "tour.md").read_text()
    for name in hyperlens.__all__:
        if name[0].islower() and name != "optuna":
            assert f"hl.{name}(" in documented, f"docs/tour.md has no example of hl.{name}"
