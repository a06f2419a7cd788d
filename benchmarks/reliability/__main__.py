"""How Hyperlens holds under faults, hostile input and load: what was tried, and what failed.

    python -m benchmarks.reliability [PART ...] [--every 1] [--cases 20000] [--save]

Parts: kills, shared, servers, held, page, odd, again, load, live, tuned; all of them where none is
named. Each has a section of docs/results/reliability.md, which `--save` replaces, row by row; so parts
that take long can be run one at a time. `--every 3` kills at every third write, `--cases` is how many
odd cases are tried, in `--minutes` at the most; `again` tries those that were wrong.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import optuna

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from benchmarks.machine import description
from benchmarks.reliability import Row, held, kills, load, odd, page, shared

RESULT = Path(__file__).resolve().parents[2] / "docs" / "results" / "reliability.md"
HEAD = """# Reliability

Made by `python -m benchmarks.reliability`, part by part; each says when and where. What failed was
mended, unless the section says otherwise.
"""
CUT_OFF = "This part was cut off here; its other rows were not measured."


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first odd case")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="for odd cases, at the most"
    )
    parser.add_argument("--again", type=int, nargs="*", default=(), help="numbers of odd cases")
    parser.add_argument("--save", action="store_true", help=f"write {RESULT.name}")
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    parts: dict[str, tuple[str, Callable[[], Iterator[Row]]]] = {
        "kills": (kills.ABOUT, lambda: kills.rows(given.every)),
        "shared": (shared.ABOUT, shared.rows),
        "servers": (shared.ABOUT, shared.on_servers),
        "held": (held.ABOUT, held.rows),
        "page": (page.ABOUT, page.rows),
        "odd": (odd.ABOUT, lambda: odd.rows(given.first, given.cases, given.minutes)),
        "again": (odd.AGAIN, lambda: odd.again(given.again)),
        "load": (load.ABOUT, load.rows),
        "live": (load.LIVE, load.live),
        "tuned": (load.TUNING, load.tuned),
    }
    if unknown := set(given.parts) - parts.keys():
        parser.error(f"there is no part {', '.join(unknown)}; choose of {', '.join(parts)}")
    for name in given.parts or parts:
        about, make = parts[name]
        options = {"kills": f" --every {given.every}", "odd": f" --cases {given.cases}"}.get(
            name, ""
        )
        command = f"python -m benchmarks.reliability {name}{options}"
        found: list[Row] = []
        for row in make():
            found.append(row)
            print(row.what, row.tried, row.failed, row.measured, row.wanted, sep="; ", flush=True)
            if given.save:  # a part that is cut off leaves what it has measured
                save(name, section(name, command, about, found) + f"\n\n{CUT_OFF}")
        text = section(name, command, about, found)
        if given.save:
            save(name, text)
        else:
            print(text)


def save(name: str, text: str) -> None:
    RESULT.write_text(placed(RESULT.read_text() if RESULT.exists() else "", name, text))


def section(name: str, command: str, about: str, rows: list[Row]) -> str:
    """One part of the page, with what it was measured on."""
    measured = any(row.measured for row in rows)
    head = "| test | tried | failed |" + (" measured | wanted |" if measured else "")
    lines = [head, "|---" * head.count(" |") + "|"]
    for row in rows:
        more = f" {row.measured} | {row.wanted} |" if measured else ""
        lines.append(f"| {row.what} | {row.tried} | {row.failed} |{more}")
    busy = f"{os.getloadavg()[2]:.1f} processes wanted the {os.cpu_count()} cores on average"
    return f"## {name}\n\n`{command}`. {description()} {busy}.\n\n{about.strip()}\n\n" + "\n".join(
        lines
    )


def placed(page: str, name: str, text: str) -> str:
    """The page with one section in its place, by the order of their names' first appearance."""
    known = dict(re.findall(r"(?ms)^## (\w+)\n(.*?)(?=^## |\Z)", page))
    sections = {key: f"## {key}\n{body}".strip() for key, body in known.items()} | {
        name: text.strip()
    }
    return "\n\n".join([HEAD.strip(), *sections.values()]) + "\n"


if __name__ == "__main__":
    main()
