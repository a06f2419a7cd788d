"""Shared by tests: where the recorded results of other implementations lie, and a real browser."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
collect_ignore = ["docstring_examples.py"]  # an extension of what builds the site, not needed here
if importlib.util.find_spec("botorch") is None:
    collect_ignore.append("botorch_models.py")  # for `make botorch`, in an environment of its own

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)  # programs that tests start inherit it


def data_dir() -> Path:
    """HYPERLENS_DATA, or shared/data beside the repository."""
    return Path(os.environ.get("HYPERLENS_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def data() -> Callable[[str], Path]:
    """Path of a recorded file, by its name under the data directory; skips where it is absent."""

    def find(name: str) -> Path:
        path = data_dir() / name
        if not path.exists():
            pytest.skip(f"{name} is not in {data_dir()}: set HYPERLENS_DATA to where it is")
        return path

    return find


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; tests are skipped where it, or what drives it, is absent."""
    from browsing import CHROMIUM, FLAGS

    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def watch(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages and notes what they complain of."""
    from browsing import LAPTOP, Watched

    contexts = []

    def opened(size: tuple[int, int] = LAPTOP, scheme: str = "light") -> Watched:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            accept_downloads=True,
        )
        contexts.append(context)
        return Watched(context.new_page())

    yield opened
    for context in contexts:
        context.close()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The last line says how many tests were skipped, and why."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(_reason(report).removeprefix("Skipped: ") for report in skipped)
    said = "; ".join(f"{n} because {reason}" for reason, n in reasons.most_common())
    terminalreporter.write_line(f"Skipped: {len(skipped)}{f' ({said})' if said else ''}.")


def _reason(report: Any) -> str:
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


if not hasattr(os, "mkfifo"):  # Windows: tests that wait for each other by a named pipe
    setattr(os, "mkfifo", lambda _: pytest.skip("there are no named pipes here"))  # noqa: B010

settings.register_profile("shared", deadline=None)  # a busy machine is not a failure
settings.load_profile("shared")
