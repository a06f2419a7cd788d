"""The live page beside a notebook or script: a process of its own, which ends with who began it."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from hyperlens.dashboard.access import server
from hyperlens.dashboard.access.root_path import clean
from hyperlens.dashboard.catalogue import Source
from hyperlens.errors import SourceError

HOST = "127.0.0.1"
PATIENCE = 10.0  # seconds to end in


class LivePage:
    """A page that is served until `stop()`, or until this process ends; open `url` in a browser."""

    def __init__(self, process: subprocess.Popen[str], url: str, files: ExitStack) -> None:
        self.url = url
        self._process = process
        self._files = files
        atexit.register(self.stop)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """End the page; once is enough, more do no harm."""
        atexit.unregister(self.stop)
        _end(self._process)
        self._files.close()

    def __enter__(self) -> LivePage:
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"LivePage({self.url!r})" if self.running else "LivePage(stopped)"

    def _repr_html_(self) -> str:
        if not self.running:
            return "<p>The live page was stopped.</p>"
        link = (
            f'<a href="{escape(self.url)}" target="_blank" rel="noreferrer">{escape(self.url)}</a>'
        )
        return f"<p>Live page: {link}</p>"


def serve(
    *sources: Any,
    port: int = 0,
    token: bool | None = None,
    root_path: str = "",
    allowed_hosts: tuple[str, ...] = (),
    **how: Any,
) -> LivePage:
    """The live page on runs, in the background on this machine's own address.

    A path or a database's address is followed while it grows; a folder of runs is every run in it.
    Anything else that `read` takes is shown as it is now. `how` is passed to `read`. `port` 0 takes a
    free one. A `token` is asked for where other people work on this machine, or where a proxy is named;
    `root_path` and `allowed_hosts` are those of `hyperlens serve`.

    >>> page = hl.serve(history)  # doctest: +SKIP
    >>> page.url  # doctest: +SKIP
    'http://127.0.0.1:40213/'
    >>> page.stop()  # doctest: +SKIP
    """
    if not sources:
        raise SourceError(
            "There is nothing to serve; give a History, a study or the path of a run."
        )
    files = ExitStack()
    try:
        listed = server.each_run(_source(source, how, files) for source in sources)
        server.check(listed)
        asked = {"port": port, "token": token, "path": root_path, "proxies": list(allowed_hosts)}
        process, url = _begin({"sources": [asdict(s) for s in listed], **asked})
    except BaseException:
        files.close()
        raise
    return LivePage(process, url, files)


def _source(source: Any, how: Mapping[str, Any], files: ExitStack) -> Source:
    """Where a run is; one that is in memory is written where the page can read it."""
    if isinstance(source, (str, Path)):
        return Source(str(source), **how)
    from hyperlens.conversion.convert import convert

    folder = Path(files.enter_context(tempfile.TemporaryDirectory(prefix="hyperlens-")))
    return Source(str(convert(source, "table", folder / "run", **how)))


def _begin(asked: Mapping[str, Any]) -> tuple[subprocess.Popen[str], str]:
    """The process, and the address that it says."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # a notebook's "interrupt" is not meant for it
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    said = json.loads(process.stdout.readline() or "{}")
    if "url" in said:
        return process, said["url"]
    _end(process)
    raise SourceError(said.get("problem", "The live page could not be started; try again."))


def _end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()  # which it takes as its end,
    process.terminate()  # even where a fork of ours still holds the other side
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def main() -> None:
    """The process: takes what to serve from its input, and ends where that ends."""
    asked = json.loads(sys.stdin.readline())
    sources = [Source(**_read_back(content)) for content in asked["sources"]]
    proxies = tuple(asked["proxies"])
    try:
        path = clean(asked["path"])
        token = server.token_for(HOST, asked["token"], proxies)
        listening = server.bind(HOST, asked["port"])
        page = server.server(sources, HOST, token, proxies, path)
    except SourceError as problem:
        print(json.dumps({"problem": str(problem)}), flush=True)
        return

    def end_with_input() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        page.should_exit = True

    threading.Thread(target=end_with_input, daemon=True).start()
    with listening:
        print(json.dumps({"url": server.address(HOST, listening, token, path)}), flush=True)
        page.run(sockets=[listening])


def _read_back(content: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has lists where a source has tuples."""
    return {name: tuple(v) if isinstance(v, list) else v for name, v in content.items()}


if __name__ == "__main__":
    main()
