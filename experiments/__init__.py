"""Experiments that back what the documentation claims; each prints Markdown and can save its page."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def options(about: str | None, name: str) -> argparse.ArgumentParser:
    """The options that every experiment has."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--save", action="store_true", help=f"write docs/results/{name}.md")
    return parser


def publish(name: str, title: str, command: str, parts: Sequence[str], save: bool) -> None:
    """Print the page, and write it where asked."""
    from benchmarks.machine import description

    page = "\n\n".join([f"# {title}", f"`python -m {command}`. {description()}", *parts])
    print(page)
    if save:
        (ROOT / "docs" / "results" / f"{name}.md").write_text(page + "\n", encoding="utf-8")
