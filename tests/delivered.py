"""What is delivered: the wheel and the sdist hold what they must and nothing else, and work.

`make dist` builds both and looks into them; `make try-dist` installs the wheel into an empty
environment, with the dependencies that it names and no others, and explains a run there.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from email import message_from_string
from pathlib import Path
from urllib.request import urlopen

from house import ROOT, SOURCE

FIELDS = ("Summary", "Requires-Python", "License-Expression", "Author", "Keywords", "Classifier")
BESIDE = {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "constraints.txt"}
BUILT = {"PKG-INFO", "MANIFEST.in", "pyproject.toml", "setup.cfg"}


def sources() -> set[str]:
    """The files of the package, below `src`."""
    return {
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def look_into_wheel(path: Path) -> None:
    with zipfile.ZipFile(path) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        told = {n.split(".dist-info/")[1]: n for n in wheel.namelist() if ".dist-info/" in n}
        metadata = message_from_string(wheel.read(told["METADATA"]).decode())
        commands = wheel.read(told["entry_points.txt"]).decode()
    assert names == sources(), f"the wheel differs: {sorted(names ^ sources())}"
    assert "licenses/LICENSE" in told
    assert "hyperlens = hyperlens.cli:main" in commands
    missing = [field for field in FIELDS if not metadata.get(field)]
    assert not missing, f"the metadata lack {missing}"
    assert metadata.get_payload(), "the metadata lack the README"


def look_into_sdist(path: Path) -> None:
    with tarfile.open(path) as sdist:
        inner = [name.partition("/")[2] for name in sdist.getnames() if name.partition("/")[2]]
        files = {n for n in inner if sdist.getmember(f"{sdist.getnames()[0]}/{n}").isfile()}
    code = {name.removeprefix("src/") for name in files if name.startswith("src/hyperlens/")}
    assert code == sources(), f"the sdist differs: {sorted(code ^ sources())}"
    rest = {name for name in files if not name.startswith(("src/hyperlens/", "src/hyperlens.egg"))}
    assert rest == BESIDE | BUILT, f"the sdist has beside its code {sorted(rest ^ BESIDE ^ BUILT)}"


def try_wheel(path: Path) -> None:
    """As a newcomer: an empty environment, one installation, one explanation."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "empty", with_pip=True)
        place = folder / "empty" / ("Scripts" if sys.platform == "win32" else "bin")
        python = str(place / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run(folder, *pip, "--no-compile", "-c", str(ROOT / "constraints.txt"), str(path))
        rows = [(10.0 ** (k * 7 % 30 / 6 - 5), k % 8 + 1) for k in range(30)]
        lines = [f"{lr},{depth},{(math.log10(lr) + 3) ** 2 + depth / 10}" for lr, depth in rows]
        (folder / "run.csv").write_text("\n".join(["lr,depth,loss", *lines]) + "\n")
        (folder / "run.parquet").write_bytes(b"PAR1 and no reader")
        told = _run(folder, python, "-m", "hyperlens", "--version")
        assert told.strip() == path.name.split("-")[1], told
        hyperlens = str(place / "hyperlens")
        told = _run(folder, hyperlens, "explain", "run.csv", "--html", "report.html")
        assert "lr" in told, told
        assert (folder / "report.html").stat().st_size > 1_000_000
        _serves(folder, hyperlens, "serve", "run.csv", "--objective", "loss", "--minimize")
        told = _run(folder, hyperlens, "validate", "run.parquet", code=2)
        assert "pip install hyperlens[parquet]" in told, told


def _serves(folder: Path, *words: str) -> None:
    """The live page answers at the address that its command prints."""
    command = [*words, "--port", "0", "--no-token"]
    page = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        assert page.stdout is not None
        address = page.stdout.readline().split()[1]
        with urlopen(address, timeout=60) as answer:
            assert "Hyperlens" in answer.read().decode()
    finally:
        page.terminate()
        page.wait(60)


def _run(folder: Path, *words: str, code: int = 0) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{' '.join(words)}:\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def main(*words: str) -> None:
    (wheel,) = (ROOT / "dist").glob("*.whl")
    (sdist,) = (ROOT / "dist").glob("*.tar.gz")
    look_into_wheel(wheel)
    look_into_sdist(sdist)
    if "--try" in words:
        try_wheel(wheel)
        print(f"{wheel.name}: installed into an empty environment, and it explains a run there")
    else:
        print(f"{wheel.name}, {sdist.name}: the package, its licence and its metadata, no more")


if __name__ == "__main__":
    main(*sys.argv[1:])
