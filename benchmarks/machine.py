"""Where and with what a benchmark ran."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "optuna", "ConfigSpace", "fanova")


def description() -> str:
    """One paragraph of Markdown: date, processor, Python and packages."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {_processor()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, {', '.join(found)}."
    )


def revision(sources: str = "src") -> str:
    """The last commit of the sources, with a plus where they differ from it."""
    root = Path(__file__).parents[1]
    commit = _git(root, "log", "-1", "--format=%h", "--", sources)
    return commit + ("+" if _git(root, "status", "--porcelain", "--", sources) else "")


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def peak_memory_mib() -> float:
    """Largest resident size of this process so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
