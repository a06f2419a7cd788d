"""What the documentation shows must run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import optuna
import pytest

ROOT = Path(__file__).parents[1]
CODE = r"\n\n```(?:python)?\n(.*?)```"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_tour_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text("docs/tour.md"), re.DOTALL):
        exec(compile(block, "tour.md", "exec"), names)
    assert (tmp_path / "report.html").stat().st_size > 1_000_000


def test_the_new_analysis_of_contributing_works(tmp_path: Path) -> None:
    """Its files are put into a copy of the package, and its own tests run there."""
    page = text("CONTRIBUTING.md")
    shutil.copytree(ROOT / "src", tmp_path / "src")  # with what numba has compiled
    (tmp_path / "tests").mkdir()
    files = re.findall(rf"^`(\S+\.py)`:{CODE}", page, re.M | re.S)
    assert [Path(name).parts[-3:-1] for name, _ in files[:3]] == [
        ("explain", "run"),
        ("plots", "run"),
        ("sections", "run"),
    ]
    for name, code in files:
        assert not (tmp_path / name).exists(), f"{name} is there already"
        (tmp_path / name).write_text(code, encoding="utf-8")
    lines = re.findall(rf"^After the line `(.+)` of `(\S+)`:{CODE}", page, re.M | re.S)
    assert len(lines) == 1
    for line, name, code in lines:
        before = (tmp_path / name).read_text(encoding="utf-8")
        assert before.count(f"{line}\n") == 1, f"{name} has no line {line}"
        after = before.replace(f"{line}\n", f"{line}\n{code}")
        (tmp_path / name).write_text(after, encoding="utf-8")
    changed = [name for name, _ in files] + [name for _, name, _ in lines]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for command in (["check"], ["format", "--check"]):
        config = ["--config", str(ROOT / "pyproject.toml")]
        words = [sys.executable, "-m", "ruff", *command, *config, *changed]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
