"""Whatever a file holds: a run, or one sentence; no traceback, no hang, no file beside the source."""

from __future__ import annotations

import copy
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tools
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_hpo_logs import EXPECTED

import hyperlens as hl
from hyperlens import HyperlensError
from hyperlens.cli import main

DEEP = 100_000
ONE_SENTENCE = re.compile(r"\S[^\r\n]+; [^\r\n]+\S\.")  # what is wrong; and what to do about it.
NASTY: list[Any] = [
    None,
    True,
    0,
    -1,
    10**30,
    1e308,
    -1e308,
    float("inf"),
    float("nan"),
    "",
    "nan",
    "NaN",
    "1e999",
    "x" * 1000,
    "<script>alert(1)</script>",
    "\x1b[31m\x07",
    "\ud800",
    "é\u202e\0",
    "'; DROP TABLE trials; --",
    "../../../../etc/passwd",
    [],
    {},
    [[[[[]]]]],
    {"a": {"b": [1, None]}},
    [1, "a", None],
]


def tried(source: Any, **how: Any) -> hl.Validation | None:
    """What validation says; every refusal is one sentence."""
    try:
        record = hl.validate(source, **how)
    except HyperlensError as problem:
        refusal = str(problem)
    else:
        json.loads(record.to_json())
        assert len(record.frame) == len(record.parameters)
        return record
    assert ONE_SENTENCE.fullmatch(refusal), refusal
    return None


def places(document: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to everything inside a JSON document."""
    yield at
    if isinstance(document, dict):
        for key in document:
            yield from places(document[key], (*at, key))
    elif isinstance(document, list):
        for k in range(len(document)):
            yield from places(document[k], (*at, k))


def mutated(document: Any, rng: random.Random) -> Any:
    """The document with something replaced, removed or doubled."""
    found = copy.deepcopy(document)
    at = rng.choice(list(places(found)))
    if not at:
        return rng.choice(NASTY)
    inner = found
    for key in at[:-1]:
        inner = inner[key]
    match rng.randrange(3):
        case 0:
            inner[at[-1]] = rng.choice(NASTY)
        case 1:
            del inner[at[-1]]
        case _ if isinstance(inner, list):
            inner.insert(at[-1], copy.deepcopy(inner[at[-1]]))
        case _:
            inner[f"{at[-1]}<b>\ud800"] = inner.pop(at[-1])
    return found


def spoil(path: Path, rng: random.Random) -> None:
    """Break a file: by its JSON, by its lines, or by its bytes."""
    content = path.read_bytes()
    how = rng.randrange(4)
    if how == 0:
        path.write_bytes(content[: rng.randrange(len(content) + 1)])
        return
    if how == 1:
        at = rng.randrange(len(content) + 1)
        path.write_bytes(content[:at] + rng.randbytes(rng.randrange(1, 9)) + content[at + 1 :])
        return
    try:
        path.write_text(json.dumps(mutated(json.loads(content), rng)))
    except ValueError:
        lines = content.decode("utf-8", "replace").splitlines() or [""]
        k = rng.randrange(len(lines))
        try:
            lines[k] = json.dumps(mutated(json.loads(lines[k]), rng))
        except ValueError:
            cells = lines[k].split(",")
            cells[rng.randrange(len(cells))] = str(rng.choice(NASTY))
            lines[k] = ",".join(cells)
        path.write_text("\n".join(lines) + "\n", errors="surrogatepass")


@pytest.mark.parametrize("kind", tools.WRITERS)
def test_spoilt_runs_of_every_tool(kind: str, tmp_path: Path) -> None:
    rng = random.Random(kind)
    source = tools.WRITERS[kind](tmp_path / "run")
    shutil.copytree(tmp_path / "run", tmp_path / "whole")
    files = [
        p for p in sorted((tmp_path / "whole").rglob("*")) if p.suffix != ".pkl" and p.is_file()
    ]
    outcomes = set()
    for _ in range(60):
        shutil.rmtree(tmp_path / "run")
        shutil.copytree(tmp_path / "whole", tmp_path / "run")
        for _ in range(rng.randrange(1, 3)):
            file = tmp_path / "run" / rng.choice(files).relative_to(tmp_path / "whole")
            spoil(file, rng)
        record = tried(source, objective="loss" if kind.startswith("ray") else None)
        outcomes.add(record is not None)
    assert False in outcomes  # large damage is refused
    if kind != "vizier":  # a database with a byte too many is none
        assert True in outcomes  # small damage is lived with


@pytest.mark.parametrize("name", EXPECTED)
def test_spoilt_recorded_runs(name: str, data: Callable[[str], Path], tmp_path: Path) -> None:
    rng = random.Random(name)
    whole = data(f"hpo_logs/{name}")
    for k in range(6):
        at = tmp_path / str(k)
        if whole.is_dir():
            shutil.copytree(whole, at, copy_function=shutil.copyfile)
            files = [p for p in sorted(at.rglob("*")) if p.is_file() and p.stat().st_size]
        else:
            shutil.copyfile(whole, at)
            files = [at]
        for path in [at, *at.rglob("*")]:
            path.chmod(0o700)
        if whole.suffix == ".sqlite3":
            content = at.read_bytes()
            cut = rng.randrange(len(content))
            at.write_bytes(content[:cut] + rng.randbytes(64) + content[cut + 64 :][: cut * (k % 2)])
        else:
            spoil(rng.choice(files), rng)
        tried(at, **EXPECTED[name][0])


@settings(max_examples=150)
@given(
    st.binary(max_size=300), st.sampled_from(["csv", "json", "jsonl", "log", "db", "parquet", "x"])
)
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes, ending: str) -> None:
    path = tmp_path_factory.getbasetemp() / f"any.{ending}"
    path.write_bytes(content)
    tried(path)


cells = st.sampled_from(["", "1", "0.5", "nan", "inf", "-1e400", "a", "True", "é", '"', "1e-320"])
header = st.sampled_from(["x", "y", "loss", "state", "budget", "seed", "params.a", "metric:m", ""])


@settings(max_examples=150)
@given(
    st.lists(header, min_size=1, max_size=5),
    st.lists(st.lists(cells, max_size=6), max_size=6),
    st.sampled_from([",", ";", "\t"]),
)
@example([""], [['"'], ['"']], ",")
def test_any_table(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], rows: list[list[str]], by: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any_table.csv"
    path.write_text("\n".join(by.join(row) for row in [names, *rows]))
    tried(path)


records = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["data", "configs", "x", "loss", "\ud800"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(records, st.sampled_from(["runhistory.json", "a.json", "a.jsonl"]))
def test_any_json(tmp_path_factory: pytest.TempPathFactory, document: Any, name: str) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_text(json.dumps(document))
    tried(path)


def large(folder: Path) -> None:
    """Files that a careless reader would hang on or run out of memory with."""
    (folder / "line.csv").write_text("x,loss\n" + "1" * 10_000_000 + ",2\n3,4\n")
    (folder / "header.csv").write_text("x" * 10_000_000 + "\n1\n")
    (folder / "wide.csv").write_text(",".join(f"c{k}" for k in range(100_000)) + "\n")
    (folder / "quote.csv").write_text('x,loss\n"' + "a," * 5_000_000)
    (folder / "line.json").write_text('{"x": "' + "a" * 10_000_000 + '"}')
    (folder / "digits.json").write_text('{"x": [' + "9" * 10_000_000 + "]}")
    (folder / "deep.json").write_text("[" * DEEP + "]" * DEEP)
    (folder / "deep.jsonl").write_text('{"a":' * DEEP + "1" + "}" * DEEP + "\n")
    (folder / "flaml.log").write_text(
        '{"validation_loss": 1, "learner": "a", "config": ' + '{"a":' * 2000 + "1" + "}" * 2001
    )
    with gzip.open(folder / "bomb.csv.gz", "wb", compresslevel=9) as file:
        for _ in range(700):
            file.write(b"0" * 2**20)
    smac = folder / "smac"
    smac.mkdir()
    (smac / "runhistory.json").write_text('{"data": ' + "[" * DEEP + "]" * DEEP + "}")
    keys = folder / "keys"
    keys.mkdir()
    (keys / "runhistory.json").write_text(
        json.dumps(
            {
                "data": [tools.smac_object(k, float(k)) for k in range(1, 4)],
                "configs": {str(k): {f"p{j}": j + k for j in range(3000)} for k in range(1, 4)},
            }
        )
    )


CHILD = """
import sys, time
from pathlib import Path
import hyperlens as hl
for path in sys.argv[1:]:
    start = time.perf_counter()
    try:
        hl.validate(path)
        outcome = "read"
    except hl.HyperlensError as problem:
        outcome = str(problem)[:100]
    print(path.rsplit("/", 1)[-1], round(time.perf_counter() - start, 1), outcome, file=sys.stderr)
# its own most; what resource.getrusage says may be that of the process which started it
own = [line.split() for line in Path("/proc/self/status").read_text().splitlines()]
print(next(int(words[1]) for words in own if words[0] == "VmHWM:") // 1024)
"""


def test_large_and_deep_files_end_within_memory(tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux says how much memory a process took at the most")
    large(tmp_path)
    paths = [str(path) for path in sorted(tmp_path.iterdir())]
    words = [sys.executable, "-c", CHILD, *paths]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == len(paths), done.stderr
    assert int(done.stdout) < 2048, done.stderr


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "table.csv").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in (
        "pipe.csv",
        "empty",
        "empty.json",
        "table.csv",
        "loop",
        "nowhere",
        "a" * 300,
        "a\0b",
    ):
        assert tried(tmp_path / name) is None
    for strange in ("", "/dev/zero", "~nobody/x", "http://x/y", "sqlite://", "sqlite:///"):
        assert tried(strange) is None
    for thing in (None, 3, [], {}, {"params": [], "mean_test_score": []}, object()):
        assert tried(thing) is None


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tools.WRITERS["smac_object"](tmp_path / "run")

    def refuse(self: Path, *_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        with pytest.raises(HyperlensError, match=r"Permission denied.*your rights"):
            hl.read(folder)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "iterdir", refuse)
        with pytest.raises(HyperlensError, match=r"Permission denied.*your rights"):
            hl.read(tmp_path)


WATCHED = """
import os, sys
import pandas
import hyperlens as hl
seen = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        seen.append((os.fsdecode(arguments[0]), arguments[1] or "r"))
    elif event in ("os.remove", "os.rename", "os.mkdir", "subprocess.Popen", "socket.connect"):
        seen.append((event, "w"))
sys.addaudithook(watch)
for source in [*sys.argv[1:], *sys.argv[1:]]:
    seen.clear()
    hl.validate(source, objective="loss" if "ray" in source else None)
    real = os.path.realpath(source)
    for path, mode in seen:
        installed = path.startswith((sys.prefix, sys.base_prefix, os.path.dirname(hl.__file__)))
        installed |= path.startswith("/sys/fs/cgroup/cpu")  # libraries count the processors
        if mode not in ("r", "rb") or not (os.path.realpath(path).startswith(real) or installed):
            print(source, path, mode)
"""


def test_only_the_sources_own_files_are_opened_and_only_to_read(tmp_path: Path) -> None:
    sources = [str(write(tmp_path / kind)) for kind, write in tools.WRITERS.items()]
    words = [sys.executable, "-c", WATCHED, *sources]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


EVIL = "<script>alert('x')</script>\x1b[31m'; DROP TABLE trials; --"


def test_text_of_a_run_injects_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    space = copy.deepcopy(tools.SPACE)
    space["hyperparameters"][0]["name"] = EVIL
    space["hyperparameters"][1]["choices"] = [EVIL, "tree"]
    space["hyperparameters"][1]["default_value"] = EVIL
    space["conditions"][0]["value"] = EVIL
    rng = random.Random(0)
    configs = {
        str(k): {EVIL: 10 ** rng.uniform(-4, 0)}
        | ({"model": EVIL, "degree": rng.randint(1, 5)} if k % 2 else {"model": "tree"})
        for k in range(1, 31)
    }
    rows = [tools.smac_object(k, rng.random(), instance=EVIL) for k in range(1, 30)]
    rows.append(tools.smac_object(30, 1.0, status=2, info={"error": EVIL}))
    folder = tmp_path / "run"
    tools.smac_2(folder, rows, EVIL)
    tools.put(folder / "configspace.json", space)
    history = json.loads((folder / "runhistory.json").read_text())
    tools.put(folder / "runhistory.json", history | {"configs": configs})
    for words in (
        ["validate", folder],
        ["validate", folder, "--format", "csv"],
        ["validate", folder, "--format", "json"],
        ["explain", folder, "--level", "0", "--html", tmp_path / "report.html"],
        ["importance", folder, "--level", "0", "--where", f"`{EVIL}` < 0.5"],
        ["convert", folder, "--to", "optuna", "--out", tmp_path / "run.db"],
        ["validate", tmp_path / "run.db"],
        ["validate", folder, "--objective", EVIL + "?"],
        ["importance", folder, "--where", EVIL],
    ):
        monkeypatch.setattr(sys, "argv", ["hyperlens", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert ended.value.code in (None, 0, 2), said.err
        assert said.out + said.err
        assert "\x1b" not in said.out + said.err
    page = (tmp_path / "report.html").read_text()
    assert "<script>alert" not in page
    again, first = hl.read(tmp_path / "run.db"), hl.read(folder)
    assert [dict(t.values) for t in again.trials] == [dict(t.values) for t in first.trials]
    assert [t.instance for t in again.trials] == [t.instance for t in first.trials]
