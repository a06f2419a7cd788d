"""What a user gets: the module as a command, completion in a shell, metadata, extras."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from house import ROOT

import hyperlens as hl

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def module(*words: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "hyperlens", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_module_is_the_command() -> None:
    assert module("--version").strip() == hl.__version__


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("hyperlens expl", ["explain"]),
        ("hyperlens importance --among a", ["all"]),
        ("hyperlens nonsense stu", []),
    ],
)
def test_a_shell_completes(typed: str, offered: list[str]) -> None:
    where = str(len(typed.split()) - 1)
    told = module(_HYPERLENS_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=where)
    assert told.split() == offered


def test_parquet_without_its_reader_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*args: object, **options: object) -> None:
        raise ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", missing)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = tmp_path / "run.parquet"
    path.write_bytes(b"PAR1....PAR1")
    from hyperlens.cash.data.dataset import read_table
    from hyperlens.comparison.score_table import read

    for reader in (hl.read, read_table, read):
        with pytest.raises(hl.SourceError, match=r"pip install hyperlens\[parquet\]"):
            reader(path)


def test_without_numba_the_numbers_are_the_same(tmp_path: Path) -> None:
    rows = [f"{k / 24},{k * 7 % 25 / 24},{(k / 24 - 0.3) ** 2 + k % 5}" for k in range(25)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,loss", *rows]) + "\n")
    words = ["importance", "t.csv", "--objective", "loss", "--minimize", "--format", "json"]
    words += ["--surrogate", "forest"]
    code = (
        "from hyperlens.explain.models import fitting; fitting.MANY_INTERPRETED = 20; "
        f"import sys; sys.argv[1:] = {words}; from hyperlens.cli import main; main()"
    )
    with_it, without = (
        subprocess.run(
            [sys.executable, "-c", start + code],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )
        for start in ("", "import sys; sys.modules['numba'] = None; ")
    )  # fmt: skip
    assert without.stdout == with_it.stdout
    assert "pip install numba" in without.stderr
    assert "numba" not in with_it.stderr


def test_every_extra_is_complete_and_bounded() -> None:
    extras = PROJECT["optional-dependencies"]
    developed = re.search(r"hyperlens\[(.*)\]", extras["dev"][0])
    assert developed is not None
    assert {*developed[1].split(",")} == {*extras} - {"dev", "docs", "experiments", "boosters"}
    for need in [*PROJECT["dependencies"], *(n for group in extras.values() for n in group)]:
        assert ">=" in need or need.startswith("hyperlens["), f"{need} has no lower bound"


def test_constraints_name_every_core_dependency() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").lower().splitlines()
    pinned = {line.split("==")[0].replace("_", "-") for line in lines if "==" in line}
    needed = {need.split(">=")[0].lower() for need in PROJECT["dependencies"]}
    assert needed <= pinned, needed - pinned


def test_the_container_serves_what_the_extras_give() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    named = re.search(r"hyperlens-\*\.whl\[(.*?)\]|\.\[(.*?)\]", text)
    assert named is not None
    assert {*(named[1] or named[2]).split(",")} <= {*PROJECT["optional-dependencies"]}
    assert '"hyperlens", "serve"' in text
    cache = re.search(r"NUMBA_CACHE_DIR=(\S+)", text)
    assert cache is not None
    assert f"install -d -m 1777 {cache[1]} " in text  # whoever --user names compiles there


def test_environments_of_their_own_have_what_all_tests_need() -> None:
    """`make botorch` and `make oldest` install less than everything."""
    tree = ast.parse((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
    named = {
        n.module.split(".")[0] for n in tree.body if isinstance(n, ast.ImportFrom) and n.module
    }
    named |= {a.name.split(".")[0] for n in tree.body if isinstance(n, ast.Import) for a in n.names}
    ours = {path.stem for path in (ROOT / "tests").glob("*.py")} | {"hyperlens"}
    core = {re.split(r"\W", name)[0] for name in PROJECT["dependencies"]}
    needed = named - sys.stdlib_module_names - ours - core
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    for environment in ("BOTORCH", "OLDEST"):
        (line,) = re.findall(rf"\$\({environment}\)/bin/pip install .*", makefile)
        assert needed <= set(line.split()), environment
    assert needed >= {"hypothesis", "pytest"}


@pytest.mark.parametrize(
    ("root", "code", "said"),
    [(True, 1, "Installed and still not there"), (False, 0, "Cannot be installed here")],
)
def test_what_can_be_installed_and_is_missing_fails(
    tmp_path: Path, root: bool, code: int, said: str
) -> None:
    """Where everything but a browser and servers is there, and installing them changes nothing."""
    script = ROOT / ".ci" / "run"
    if os.name != "posix" or not script.exists():
        pytest.skip("no script here")
    copy = tmp_path / "ci" / "run"  # beside no sources: nothing of it is meant to be made
    copy.parent.mkdir()
    copy.write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "report.html").write_text("a report", encoding="utf-8")
    commands = tmp_path / "commands"
    commands.mkdir()
    for name in ("dirname", "xargs", "timeout", "echo"):
        (commands / name).symlink_to(str(shutil.which(name)))
    for name, says in {"id": "echo 0" if root else "echo 1000", "apt-get": "", "make": ""}.items():
        (commands / name).write_text(f"#!{shutil.which('bash')}\n{says}\n", encoding="utf-8")
        (commands / name).chmod(0o755)
    done = subprocess.run(
        [str(shutil.which("bash")), str(copy)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(commands)},
    )
    assert done.returncode == code, done.stderr
    assert said in done.stdout
    assert "chromium" in done.stdout
