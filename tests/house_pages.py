"""What the documentation shows of the house: a figure, all files, all names, the works it cites.

`make pages` writes them into docs/architecture.md, docs/api.md and docs/references.md; a test
holds that they are what the source says.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from house import DOORS, ROOT, SOURCE, Graph, graph, public, room, rooms, sources, tree

# the public names by the room that has them, in the order of docs/api.md
TITLES = {
    "importers": "Read a run",
    "conversion": "Check and convert it",
    "runs": "What a run is",
    "spaces": "What a space is",
    "explain": "Explain it",
    "reports": "Hand it over",
    "optimize": "Run a search",
    "optuna": "In Optuna",
    "comparison": "Compare methods",
    "cash": "Search models",
    "dashboard": "Watch it",
    "errors": "What can be wrong",
}


def figure() -> str:
    """The rooms in Mermaid: an arrow to each room that is used, unless a longer way leads there."""
    edges = rooms(graph("top", "late"))
    below = {name: _reachable(edges, name) for name in edges}
    inner = {name: sorted(edges[name]) for name in sorted(edges)}  # the same order every time
    order = list(TopologicalSorter(inner).static_order())
    lines = [
        f"    {user} --> {used}"
        for user in sorted(edges, key=lambda n: (-len(below[n]), n))
        for used in sorted(edges[user], key=order.index, reverse=True)
        if not any(used in below[other] for other in edges[user])
    ]
    dotted = sorted({(room(a), room(b)) for a, b in DOORS if room(a) != room(b)})
    lines += [f"    {a} -.-> {b}" for a, b in dotted]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"])


def _reachable(edges: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    ahead = set(edges[start])
    while ahead:
        name = ahead.pop()
        seen.add(name)
        ahead |= edges[name] - seen
    return seen


def listing() -> str:
    """Every file with the first sentence of its docstring, a table for each room."""
    lines: list[str] = []
    for name, path in sorted(sources().items(), key=lambda item: (item[1].parent != SOURCE, item)):
        sentence = first_sentence(tree(path))
        if not name or not sentence:
            continue
        title = "Single files" if path.parent == SOURCE else f"`{room(name)}/`"
        if f"### {title}" not in lines:
            lines += ["", f"### {title}", "", "| file | what it is |", "|---|---|"]
        place = path.relative_to(SOURCE / ("" if path.parent == SOURCE else room(name)))
        lines.append(f"| `{place.as_posix()}` | {sentence} |")
    return "\n".join(lines[1:])


def names() -> str:
    """Every public name by room, as mkdocstrings finds it."""
    lines: list[str] = []
    for title_of, title in TITLES.items():
        found = {n: file for n, file in public().items() if room(file) == title_of}
        if found:
            lines += ["", f"## {title}", ""]
        for name, file in sorted(found.items(), key=lambda item: (item[0][0].isupper(), item[0])):
            whole = file if name == file else f"{file}.{name}"
            lines += [f"::: hyperlens.{whole}", ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def first_sentence(module: ast.Module) -> str:
    """What a file's docstring begins with, without citations in brackets."""
    paragraph = (ast.get_docstring(module) or "").split("\n\n")[0]
    text = re.sub(r" \([^()]*\d{4}[^()]*\)", "", " ".join(paragraph.split()))
    return re.split(r"(?<!et al)[.](?= [A-Z]|$)", text)[0].replace("|", "\\|")


CITATION = re.compile(
    r"\b((?:de )?[A-Z][^\W\d_]+(?: et al\.| and [A-Z][^\W\d_]+)?)(?:'s?)?,? \(?((?:19|20)\d\d)\b"
)


@cache
def citations() -> dict[str, set[str]]:
    """Works that the source cites by author and year, with the files that do."""
    cited: dict[str, set[str]] = {}
    for path in sources().values():
        text = re.sub(r"\s*\n\s*(# )?", " ", path.read_text(encoding="utf-8"))
        for author, year in CITATION.findall(text):
            cited.setdefault(f"{author} {year}", set()).add(path.relative_to(SOURCE).as_posix())
    return cited


def with_files(references: str) -> str:
    """docs/references.md with the files that cite each work."""

    def filled(entry: re.Match[str]) -> str:
        files = ", ".join(f"`{file}`" for file in sorted(citations().get(entry[2], ())))
        return f"{entry[1]} {files}".rstrip()

    return re.sub(r"(### (.+)\n(?:(?!###).*\n)*?Used in:).*", filled, references)


def between(page: str, name: str, text: str) -> str:
    """The page with the text between its two marks of this name."""
    begin, end = f"<!-- {name}: written by tests/house_pages.py -->", f"<!-- end of {name} -->"
    head, rest = page.split(begin)
    return f"{head}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}"


def written() -> dict[Path, str]:
    """The pages that show the house, as they have to be."""
    pages = ("architecture.md", "references.md", "api.md")
    page, references, api = (ROOT / "docs" / name for name in pages)
    text = between(page.read_text(encoding="utf-8"), "figure", figure())
    return {
        page: between(text, "files", listing()),
        references: with_files(references.read_text(encoding="utf-8")),
        api: between(api.read_text(encoding="utf-8"), "names", names()),
    }


if __name__ == "__main__":
    for page, text in written().items():
        page.write_text(text, encoding="utf-8")
