"""Roads by which a program would run what a file says: pickles, text as code, shells."""

from __future__ import annotations

import ast
from collections.abc import Iterator

PICKLES = {"_pickle", "cloudpickle", "dill", "jsonpickle", "marshal", "pickle", "shelve"}
CODE = {"code", "codeop", "runpy"}
BUILTINS = {"__import__", "compile", "eval", "exec"}
NAMES = {
    "importlib.import_module": "imports what it is told",
    "joblib.load": "opens a pickle",
    "os.popen": "runs a shell",
    "os.system": "runs a shell",
    "pandas.eval": "runs text",
    "pandas.read_hdf": "opens a pickle",
    "pandas.read_pickle": "opens a pickle",
    "torch.load": "opens a pickle",
    "yaml.full_load": "builds objects from text",
    "yaml.load": "builds objects from text",
    "yaml.load_all": "builds objects from text",
    "yaml.unsafe_load": "builds objects from text",
}
IMPORTS = {"importlib.import_module"}  # allowed with a literal name
METHODS = {"eval": "runs text", "exec_module": "runs a file", "read_pickle": "opens a pickle"}


def dangers(module: ast.Module) -> Iterator[str]:
    """What a file does that could run another's text; each as one line of words."""
    names = _names(module)
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (f"imports {name}" for name in _modules(node) & (PICKLES | CODE))
            if isinstance(node, ast.ImportFrom):
                taken = {f"{node.module}.{alias.name}" for alias in node.names}
                yield from (f"{name} {NAMES[name]}" for name in taken & set(NAMES) - IMPORTS)
        elif isinstance(node, ast.Name) and node.id in BUILTINS:
            yield f"uses {node.id}"
        elif isinstance(node, ast.Attribute):
            full = _dotted(node, names)
            if full in NAMES and full not in IMPORTS:
                if not (full.startswith("yaml.load") and _is_safe(module, node)):
                    yield f"{full} {NAMES[full]}"
            elif full.startswith("builtins.") or node.attr in METHODS:
                yield f"{full} {METHODS.get(node.attr, 'runs text')}"
        elif isinstance(node, ast.Call):
            yield from _calls(node, names)


def _calls(node: ast.Call, names: dict[str, str]) -> Iterator[str]:
    full = _dotted(node.func, names)
    if full in IMPORTS:
        text = node.args[0]
        begin = _constant(text.values[0] if isinstance(text, ast.JoinedStr) else text)
        whole = isinstance(text, ast.Constant)
        if not isinstance(begin, str) or not (whole or begin.startswith("hyperlens.")):
            yield f"{full} {NAMES[full]}"
        elif begin.split(".")[0] in PICKLES | CODE:
            yield f"imports {begin}"
    for keyword in node.keywords:
        if keyword.arg == "shell" and _constant(keyword.value) is not False:
            yield "subprocess with a shell"
        if keyword.arg == "allow_pickle" and _constant(keyword.value) is not False:
            yield "numpy.load opens a pickle"


def _is_safe(module: ast.Module, function: ast.Attribute) -> bool:
    """Whether yaml.load is called with a safe loader."""
    return any(
        isinstance(node, ast.Call)
        and node.func is function
        and any(
            "SafeLoader" in ast.unparse(a) for a in [*node.args, *(k.value for k in node.keywords)]
        )
        for node in ast.walk(module)
    )


def _names(module: ast.Module) -> dict[str, str]:
    """Local names of imported modules and functions, with their full ones."""
    names = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _modules(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").split(".")[0]}
    return {alias.name.split(".")[0] for alias in node.names}


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    first, _, rest = ast.unparse(node).partition(".")
    return f"{names.get(first, first)}.{rest}" if rest else names.get(first, first)


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else node
