"""The front end: style, scripts and templates that the report and the live page share."""

from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

PARTS = (
    "figures.js",
    "controls.js",
    "tables.js",
    "trials.js",
    "brushing.js",
    "page.js",
)  # in the order in which they are read


@cache
def asset(name: str) -> str:
    """A file of the front end; names are ours, never a reader's."""
    return files("hyperlens.front").joinpath(name).read_text(encoding="utf-8")


def front_end(*more: str) -> str:
    """All parts of the script as one, which shares nothing with other scripts of the page."""
    body = "\n".join(asset(name) for name in (*PARTS, *more))
    return f'"use strict";\n(() => {{\n{body}\n}})();\n'


@cache
def plotly_js() -> str:
    """Plotly's own script, as its Python package brings it; found without importing the package."""
    package = find_spec("plotly")
    assert package is not None
    assert package.submodule_search_locations
    folder = Path(package.submodule_search_locations[0])
    return (folder / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
