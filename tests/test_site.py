"""The documentation as a site: its links, its navigation, its commands, its code and its notebooks."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
import yaml
from house import ROOT

import hyperlens as hl
from hyperlens.cli import COMMANDS, load

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
EVERYWHERE = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]
MADE = DOCS / "gallery"  # pictures that are drawn when the site is built


def settings() -> Any:
    return yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def listed(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from listed(part)


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """The places of a page that can be linked to, as Markdown names headings."""
    heads = re.findall(r"^#+ (.+)$", prose(page), re.M)
    plain = [re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", head).lower() for head in heads]
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", head).strip()) for head in plain}


def test_formulas_have_a_style_that_names_fonts_which_set_indices() -> None:
    (style,) = settings()["extra_css"]
    assert re.search(r"math \{ font-family: math, .*Math", (DOCS / style).read_text())


def test_every_page_is_in_the_navigation_once() -> None:
    pages = list(listed(settings()["nav"]))
    assert len(pages) == len(set(pages))
    assert set(pages) == {page.relative_to(DOCS).as_posix() for page in PAGES}, "see mkdocs.yml"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_links_lead_to_a_place_within_the_site(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", prose(page)):
        name, _, place = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.is_relative_to(DOCS), f"{target} leads out of the site"
        assert file.is_file() or file.parent == MADE, f"there is no {target}"
        assert not place or place in anchors(file), f"{name or page.name} has no heading #{place}"


def test_the_gallery_shows_what_the_example_draws() -> None:
    place = importlib.util.spec_from_file_location("gallery", ROOT / "examples" / "gallery.py")
    assert place is not None
    assert place.loader is not None
    example = importlib.util.module_from_spec(place)
    place.loader.exec_module(example)
    shown = re.findall(r"\(gallery/(\w+)\.svg\)", (DOCS / "gallery.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(example.NAMES)


def commands() -> Iterator[tuple[str, list[str]]]:
    """Every call of the command line that a page shows, in a block or within a sentence."""
    for page in EVERYWHERE:
        text = page.read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"^```(?:sh|bash)?\n(.*?)^```", text, re.M | re.S))
        calls = re.findall(r"^hyperlens .*$", blocks, re.M)
        calls += re.findall(r"`(hyperlens [a-z][^`\n]* [^`\n]*)`", prose(page))
        for call in calls:
            if not re.search(r"\.\.\.|COMMAND|…", call):
                yield page.name, shlex.split(call, comments=True)[1:]


def test_every_command_that_is_shown_would_run() -> None:
    """As far as names, options and values go: nothing is computed."""
    calls = list(commands())
    assert len(calls) > 40
    for page, (name, *words) in calls:
        assert name in COMMANDS or name.startswith("--"), f"{page} shows hyperlens {name}"
        if name in COMMANDS:
            try:
                load(name).make_context(name, words)
            except Exception as problem:
                pytest.fail(f"{page} shows hyperlens {shlex.join([name, *words])}: {problem}")


def names_shown() -> Iterator[tuple[str, str, str]]:
    """What pages name: things of the package, options, targets of make, modules, extras."""
    for page in EVERYWHERE:
        text = page.read_text(encoding="utf-8")
        kinds = {
            "hl": r"\bhl\.(\w+)",
            "make": r"`make ([a-z-]+)|^make ([a-z-]+) +#",
            "module": r"python -m ((?:benchmarks|experiments)[\w.]*)",
            "extra": r"hyperlens\[([a-z]+)\]|\bextra `([a-z]+)`",
        }
        if page.parent.name != "results" and page.name != "container.md":  # those of other programs
            kinds["option"] = r"(?<![\w-])(--[a-z][a-z-]*)"
        for kind, pattern in kinds.items():
            for found in re.finditer(pattern, text, re.M):
                yield page.name, kind, next(filter(None, found.groups()))


def test_every_name_that_is_shown_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    options = {"--help", "--version", "--install-completion", "--show-completion"}
    for command in map(load, COMMANDS):
        options |= {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)}
    there: dict[str, Callable[[str], object]] = {
        "hl": lambda name: hasattr(hl, name),
        "make": lambda name: re.search(rf"^{name}:", makefile, re.M),
        "module": lambda name: any(ROOT.glob(f"{name.replace('.', '/')}*")),
        "extra": project["optional-dependencies"].__contains__,
        "option": options.__contains__,
    }
    shown = set(names_shown())
    assert {kind for _, kind, _ in shown} == {*there}
    wrong = sorted((page, name) for page, kind, name in shown if not there[kind](name))
    assert not wrong


def test_the_python_of_the_first_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        storage="sqlite:///study.db", sampler=optuna.samplers.RandomSampler(seed=0)
    )
    study.optimize(
        lambda trial: (
            trial.suggest_float("learning_rate", 1e-5, 1, log=True) + trial.suggest_int("k", 1, 9)
        ),
        n_trials=20,
    )
    (code,) = blocks(ROOT / "README.md")
    assert "trials=80" in code
    names: dict[str, Any] = {"loss": lambda c: abs(c["lr"] - 0.01) + (c["optimizer"] == "sgd")}
    exec(compile(code.replace("trials=80", "trials=4"), "README.md", "exec"), names)
    assert len(names["history"].trials) == 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def at_hand(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where pages run: a study is read once, so that its surrogates are fitted once for all pages."""
    monkeypatch.chdir(folder)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    read, kept = hl.read, KEPT

    def once(source: Any, *args: Any, **options: Any) -> hl.History:
        if isinstance(source, str) and source == "study.db" and not args and not options:
            if source not in kept:
                kept[source] = read(source)
            return kept[source]
        return read(source, *args, **options)

    monkeypatch.setattr(hl, "read", once)
    return folder


KEPT: dict[str, hl.History] = {}


def run(blocks: list[str], name: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)
    return names


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


def test_the_first_page_and_every_how_to_run(at_hand: Path) -> None:
    pages = [DOCS / "start.md", *sorted((DOCS / "how-to").glob("*.md"))]
    for page in pages:
        assert blocks(page), f"{page.name} shows no code"
        run(blocks(page), page.name)
    assert (at_hand / "next.yaml").exists()


@pytest.mark.parametrize("name", ["explain_a_study", "tune_and_ask_why", "compare_methods"])
def test_notebooks_run(name: str, at_hand: Path) -> None:
    book = json.loads((DOCS / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert book["nbformat"] == 4
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    run(["".join(cell["source"]) for cell in code], name)


def test_the_notebooks_are_these() -> None:
    assert len(list((DOCS / "notebooks").iterdir())) == 3


def test_formulas_become_mathml_and_code_stays() -> None:
    pytest.importorskip("latex2mathml")
    from formulas import on_page_markdown

    page = on_page_markdown("a $x^2$ and `$HOME`\n\n$$\\sum_j y_j$$\n\n```\n$z$\n```\n")
    assert page.count("<math") == 2
    assert re.search(r'<div style="overflow: auto hidden"[^>]*><math[^>]*display="block"', page)
    assert "`$HOME`" in page
    assert "\n$z$\n" in page


def test_the_site_builds(tmp_path: Path) -> None:
    for module in ("mkdocs", "material", "mkdocstrings", "latex2mathml"):
        pytest.importorskip(module)
    for name in ("mkdocs.yml", "docs", "src", "tests/formulas.py", "tests/docstring_examples.py"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(exist_ok=True)
        copy(ROOT / name, tmp_path / name)
    (tmp_path / "docs" / "gallery").mkdir(exist_ok=True)
    shown = re.findall(r"gallery/\w+\.svg", (DOCS / "gallery.md").read_text(encoding="utf-8"))
    for picture in shown:
        (tmp_path / "docs" / picture).write_text("<svg/>", encoding="utf-8")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        assert not re.search(r"<(?:script|img)[^>]* src=\"?https?:", page.read_text("utf-8")), page
