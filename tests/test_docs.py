"""What the documentation shows must run."""

from __future__ import annotations

import re
from pathlib import Path

import optuna
import pytest

ROOT = Path(__file__).parents[1]


def blocks(name: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / name).read_text(), re.DOTALL)


def test_the_tour_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    names: dict[str, object] = {}
    for block in blocks("tour.md"):
        exec(compile(block, "tour.md", "exec"), names)
    assert (tmp_path / "report.html").stat().st_size > 1_000_000
