"""The house as docs/architecture.md draws it: who imports whom, what is public, what is never done."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from dangers import dangers
from house import (
    DOORS,
    ROOT,
    SOURCE,
    cycle,
    functions,
    graph,
    imports,
    is_door,
    room,
    rooms,
    sources,
    targets,
    tree,
    walk,
)

import hyperlens

# each room may use the rooms named here, and itself
MAY_USE = {
    "errors": set(),
    "front": set(),
    "words": set(),
    "plain": set(),
    "tables": {"words"},
    "notebook": {"tables"},
    "spaces": {"notebook", "tables", "words", "errors"},
    "proposal": set(),
    "record": {"notebook", "tables", "plain", "words", "errors"},
    "runs": {"proposal", "spaces", "notebook", "tables", "words", "errors"},
    "surrogates": {"spaces", "notebook", "words"},
    "importers": {"proposal", "runs", "spaces", "words", "errors"},
    "explain": {
        "proposal",
        "runs",
        "spaces",
        "surrogates",
        "record",
        "notebook",
        "tables",
        "plain",
        "words",
        "errors",
    },
    "optimize": {"proposal", "runs", "spaces", "surrogates", "record", "tables", "words", "errors"},
    "comparison": {"record", "tables", "words", "spaces", "errors"},
    "conversion": {"proposal", "importers", "explain", "runs", "spaces", "errors"},
    "cash": {"proposal", "optimize", "runs", "spaces", "record", "tables", "words", "errors"},
    "optuna": {"proposal", "optimize", "importers", "runs", "surrogates", "spaces", "errors"},
    "plots": {"explain", "comparison", "optimize", "cash", "words", "errors"},
    "sections": {
        "proposal",
        "tables",
        "plain",
        "words",
        "explain",
        "cash",
        "plots",
        "runs",
        "record",
        "surrogates",
        "errors",
    },
    "reports": {"sections", "front", "comparison", "plots", "runs", "errors"},
    "terminal": {
        "words",
        "tables",
        "explain",
        "optimize",
        "sections",
        "runs",
        "record",
    },
    "dashboard": {
        "sections",
        "front",
        "reports",
        "conversion",
        "importers",
        "surrogates",
        "runs",
        "errors",
    },
    "agents": {"dashboard", "explain", "plain", "record", "runs", "errors"},
    "commands": {
        "agents",
        "words",
        "sections",
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
        "proposal",
        "errors",
    },
    "cli": {"commands", "terminal", "errors"},
    "__main__": {"cli"},
}

# what could run another's text, and why it may
ALLOWED = {
    ("optimize.running.target", "importlib.import_module imports what it is told"): (
        "the objective that the user names on the command line"
    ),
    ("optimize.running.target", "spec.loader.exec_module runs a file"): (
        "the file of the objective that the user names on the command line"
    ),
}

# rooms whose files have the names of what they draw, show or run, see docs/architecture.md
MIRRORS = {"plots", "sections", "terminal", "commands"}
NAMESAKES = {
    "anova": "one decomposition, of a forest and of a Gaussian process",
    "protocol": "what every optimiser, and every surrogate, can do",
}

# who else says "resource": scikit-learn's halving, runs kept by 0.1, Python's files, HTTP
RESOURCE = {
    "importers.tools.sklearn",
    "importers.tools.syne_tune",
    "proposal",
    "front",
    "dashboard.access.guard",
}

LONG = 60  # lines of a function
DOZEN = 12

PUBLIC = [
    "Ablation",
    "Across",
    "Advice",
    "AnalysisError",
    "Bias",
    "CASHClassifier",
    "CASHRegressor",
    "Choice",
    "Comparison",
    "Confirm",
    "Confirmed",
    "Course",
    "Effect",
    "EffectsOf",
    "FailureProbability",
    "Failures",
    "Feasibility",
    "Fitted",
    "Footprint",
    "Forecast",
    "Formula",
    "Hindsight",
    "History",
    "HyperlensError",
    "Importance",
    "Importances",
    "Interactions",
    "Leader",
    "LearningCurves",
    "LivePage",
    "LocalImportance",
    "ModelSearch",
    "Objective",
    "Overview",
    "Parameter",
    "ParetoFront",
    "PooledEffect",
    "ProposalPath",
    "Pruning",
    "RandomSearch",
    "Reach",
    "Region",
    "Regions",
    "Reliability",
    "RunComparison",
    "SMBO",
    "SampleSize",
    "Schedule",
    "SourceError",
    "Space",
    "SpaceError",
    "Spending",
    "State",
    "Stop",
    "Subspace",
    "Timeline",
    "TopImportance",
    "Tradeoff",
    "Trial",
    "Trials",
    "TrueFront",
    "Tunability",
    "Validation",
    "Why",
    "Winner",
    "ablation",
    "across",
    "advise",
    "bias",
    "check_sample_size",
    "choose",
    "compare",
    "compare_runs",
    "confirm",
    "confirmed",
    "convert",
    "curves",
    "effect",
    "effects_of",
    "failure_probability",
    "failures",
    "feasibility",
    "fit",
    "footprint",
    "forecast",
    "formula",
    "hindsight",
    "importance",
    "importances",
    "interactions",
    "leader",
    "local_importance",
    "maximize",
    "minimize",
    "model_search",
    "optuna",
    "overview",
    "pareto",
    "path",
    "reach",
    "read",
    "recommend",
    "regions",
    "reliability",
    "report",
    "schedule",
    "serve",
    "spending",
    "timeline",
    "top_importance",
    "tradeoff",
    "trials",
    "true_front",
    "tunability",
    "validate",
    "why",
    "winner",
]


def test_imports_point_one_way() -> None:
    assert {room(name) for name in sources()} - {""} == set(MAY_USE)
    for each in imports():
        if room(each.used) in ("", room(each.user)) or is_door(each):
            continue
        assert room(each.used) in MAY_USE[room(each.user)], (
            f"{each.user} imports {each.used} in line {each.line}: {room(each.user)} may not use "
            f"{room(each.used)}, see MAY_USE"
        )


def test_no_imports_in_a_ring() -> None:
    """Neither the rooms as they may be used, nor as they are, nor files; types point back only
    inside a room."""
    assert not cycle({name: set(used) for name, used in MAY_USE.items()})
    assert not cycle(graph("top", "late"))
    assert not cycle(rooms(graph("top", "late", "types")))


def test_every_permission_and_door_is_used() -> None:
    used = rooms(graph("top", "late", "types"))
    for name, allowed in MAY_USE.items():
        assert allowed <= used[name], f"{name} uses no {allowed - used[name]} any more, see MAY_USE"
    for door in DOORS:
        assert any(is_door(each, [door]) for each in imports()), f"{door} is not needed any more"


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("import hyperlens as hl\nhl.read('x')", {("importers", "top")}),
        ("import hyperlens\nhyperlens.optuna", {("optuna", "top")}),
        ("import hyperlens.plots.parts.style as s", {("plots.parts.style", "top")}),
        ("from hyperlens import effect", {("explain.effects.effect", "top")}),
        ("from hyperlens import cli", {("cli", "top")}),
        ("from hyperlens.plots.parts import style", {("plots.parts.style", "top")}),
        ("def f():\n    import hyperlens.cli", {("cli", "late")}),
        ("f = lambda: importlib.import_module('hyperlens.cli')", {("cli", "late")}),
        ("import_module(f'hyperlens.plots.{x}')", {("plots", "top")}),
        ("__import__('hyperlens.cli')", {("cli", "top")}),
        ("if TYPE_CHECKING:\n    from hyperlens.cli import main", {("cli", "types")}),
        (
            "if typing.TYPE_CHECKING:\n    import a\nelse:\n    import hyperlens.cli",
            {("cli", "top")},
        ),
        ("class A:\n    def f(self):\n        from hyperlens.cli import main", {("cli", "late")}),
        ("try:\n    import hyperlens.cli\nexcept ImportError:\n    pass", {("cli", "top")}),
        ("import numpy\nimport hyperlens_other", set()),
    ],
)
def test_imports_are_seen_by_every_road(code: str, used: set[tuple[str, str]]) -> None:
    module = ast.parse(code)
    assert {(t, when) for node, when in walk(module, "top") for t in targets(node, module)} == used


def test_a_ring_is_seen() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}})
    assert not cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()})


def test_no_file_opens_pickles_or_runs_text() -> None:
    for name, path in sources().items():
        for danger in dangers(tree(path)):
            assert (name, danger) in ALLOWED, f"{name}: {danger}"


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import load",
        "import os, dill",
        "import cloudpickle as c",
        "import shelve",
        "import_module = importlib.import_module\nimport importlib\nimportlib.import_module('pickle')",
        "from importlib import import_module\nimport_module(name)",
        "from importlib import import_module\nimport_module(f'{name}.x')",
        "import joblib\njoblib.load(p)",
        "from joblib import load\nload(p)",
        "import joblib as j\nread = j.load",
        "import pandas as pd\npd.read_pickle(p)",
        "import pandas\npandas.read_hdf(p)",
        "from pandas import read_pickle",
        "import numpy as np\nnp.load(p, allow_pickle=True)",
        "import numpy as np\nnp.load(p, allow_pickle=wanted)",
        "import torch\ntorch.load(p)",
        "eval(x)",
        "f = exec",
        "compile(x, '', 'exec')",
        "__import__(x)",
        "import builtins\nbuiltins.eval(x)",
        "frame.eval(x)",
        "import runpy\nrunpy.run_path(x)",
        "spec.loader.exec_module(m)",
        "import yaml\nyaml.load(x)",
        "import yaml\nyaml.load(x, Loader=yaml.Loader)",
        "import yaml\nyaml.unsafe_load(x)",
        "import subprocess\nsubprocess.run(x, shell=True)",
        "import os\nos.system(x)",
        "def f():\n    from os import popen",
    ],
)
def test_a_danger_is_seen(code: str) -> None:
    assert list(dangers(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "import re\nre.compile('a')",
        "import ast\nast.literal_eval('1')",
        "import numpy as np\nnp.load(p)",
        "import numpy as np\nnp.load(p, allow_pickle=False)",
        "import yaml\nyaml.safe_load(x)",
        "import yaml\nyaml.load(x, Loader=yaml.CSafeLoader)",
        "import joblib\njoblib.dump(x, p)",
        "import subprocess\nsubprocess.run([x])",
        "from importlib import import_module\nimport_module('distributed')",
        "from importlib import import_module\nimport_module(f'hyperlens.plots.{x}')",
        "def load(x):\n    return x\nload(1)",
    ],
)
def test_what_is_harmless_is_no_danger(code: str) -> None:
    assert list(dangers(ast.parse(code))) == []


def test_rooms_hold_at_most_a_dozen_files() -> None:
    for folder in [SOURCE, *(p for p in SOURCE.rglob("*") if p.is_dir())]:
        files = [p for p in folder.glob("*.py") if p.name != "__init__.py"]
        assert len(files) <= DOZEN, f"{folder.name} holds {len(files)} files"


def test_no_two_files_have_one_name_but_mirrors() -> None:
    count = Counter(
        name.rpartition(".")[2]
        for name, path in sources().items()
        if path.name != "__init__.py" and room(name) not in MIRRORS
    )
    assert {name for name, times in count.items() if times > 1} == set(NAMESAKES)


def test_functions_fit_on_a_screen() -> None:
    assert [name for name, lines in functions() if lines > LONG] == []


def test_papers_are_cited_by_author_and_year() -> None:
    for path in _texts():
        found = re.search(r"\bP[0-4]\b", path.read_text(encoding="utf-8"))
        assert found is None, f"{path} says {found}"


def test_one_word_for_one_thing() -> None:
    """Words that were given up: say best, secondary surrogate, budget."""
    for name, path in sources().items():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?i)\bincumbent|witness", text), name
        if name not in RESOURCE:
            assert not re.search(r"(?i)\b_?resource", text), name


def test_only_two_files_touch_configspace() -> None:
    touching = {
        name
        for name, path in sources().items()
        for node, when in walk(tree(path), "top")
        if isinstance(node, ast.Import | ast.ImportFrom)
        and when != "types"
        and "ConfigSpace" in [getattr(node, "module", None), *(a.name for a in node.names)]
    }
    assert touching == {"spaces.configspace", "spaces.space"}


def test_the_public_names_are_these() -> None:
    assert hyperlens.__all__ == PUBLIC
    for name in PUBLIC:
        assert getattr(hyperlens, name).__name__.removeprefix("hyperlens.") == name


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = [
        "numpy",
        "pandas",
        "sklearn",
        "optuna",
        "plotly",
        "scipy",
        "numba",
        "ConfigSpace",
        "jinja2",
    ]
    code = (
        "import sys, hyperlens, hyperlens.cli; "
        f"sys.exit(','.join(m for m in {heavy} if m in sys.modules) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_public_function_has_an_example() -> None:
    documented = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    for name in hyperlens.__all__:
        if name[0].islower() and name != "optuna":
            assert f"hl.{name}(" in documented, f"docs/tour.md has no example of hl.{name}"


def _texts() -> Iterator[Path]:
    for folder in ("src", "tests", "docs", "benchmarks", "examples", "experiments"):
        for ending in ("py", "md"):
            yield from (
                p for p in (ROOT / folder).rglob(f"*.{ending}") if p.name != "test_architecture.py"
            )


def test_no_text_for_users_names_a_page_that_is_not_installed() -> None:
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for path in SOURCE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        quoted = {ast.get_docstring(n, clean=False) for n in nodes if isinstance(n, documented)}
        texts = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        assert [text for text in texts - quoted if "docs/" in text] == [], path
