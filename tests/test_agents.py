"""The server for assistants: asked by the SDK's own client in this process; answers without it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import hyperlens as hl
from hyperlens.agents.answers import MOST_ROWS, Answers, as_answer
from hyperlens.agents.protocol_server import TOOLS, server
from hyperlens.cli import app
from hyperlens.dashboard.catalogue import Source


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Two studies in one storage."""
    where = f"sqlite:///{tmp_path_factory.mktemp('runs') / 'runs.db'}"
    space = hl.Space.of([hl.Parameter("x", "float", 0, 1), hl.Parameter("y", "float", 0, 1)])
    for name in ("first", "second"):
        hl.minimize(
            lambda v: (v["x"] - 0.3) ** 2 + 0.1 * v["y"],
            space,
            "random",
            15,
            storage=where,
            study=name,
        )
    return Source(where)


@pytest.fixture(scope="module")
def answers(source: Source) -> Answers:
    return Answers((source,))


def key(answers: Answers, title: str = "first") -> str:
    (run,) = answers.list_runs(title)["runs"]
    return str(run["run"])


def test_runs_are_listed_and_named_by_keys_alone(answers: Answers, source: Source) -> None:
    listed = answers.list_runs()
    assert [run["title"].split()[0] for run in listed["runs"]] == ["first", "second"]
    assert all(run["trials"] == 15 for run in listed["runs"])
    folder = str(Path(source.where.removeprefix("sqlite:///")).parent)
    assert folder not in json.dumps(listed)
    for path in (source.where, "../runs.db", "/etc/passwd", ""):
        with pytest.raises(hl.AnalysisError, match="no run"):
            answers.summary(path)
    with pytest.raises(hl.AnalysisError, match="9000 characters"):
        answers.effect(key(answers), "x" * 9000)


def test_answers_are_those_of_the_records(answers: Answers, source: Source) -> None:
    history = hl.read(source.where, "first")
    told = answers.importance(key(answers))
    assert told["sentence"] == " ".join(hl.importance(history).lead)
    assert told["verdict"] == hl.importance(history).verdict.sentence
    assert answers.effect(key(answers), "x")["sentence"].startswith(
        hl.effect(history, "x").sentence
    )
    for name in ("summary", "top_importance", "tunability", "why", "advise"):
        assert json.loads(json.dumps(getattr(answers, name)(key(answers))))["sentence"]
    assert "0.1" in answers.reach(key(answers), 0.1)["sentence"]


def test_a_file_that_is_not_there_is_refused_before_anybody_asks() -> None:
    pytest.importorskip("mcp")
    with pytest.raises(hl.SourceError, match="There is no file"):
        CliRunner().invoke(app, ["mcp", "missing.db"], catch_exceptions=False)


def test_long_answers_are_cut_and_say_so() -> None:
    rng = np.random.default_rng(0)
    space = hl.Space.of([hl.Parameter("x", "float", 0, 1)])
    trials = [hl.Trial(k, {"x": float(rng.random())}, (float(k),)) for k in range(MOST_ROWS + 5)]
    told = as_answer(hl.trials(hl.History(space, (hl.Objective("loss"),), tuple(trials))))
    assert len(told["tables"][0]["rows"]) == MOST_ROWS
    assert told["tables"][0]["left_out"] == 5


def test_the_client_of_the_sdk_is_answered(source: Source) -> None:
    pytest.importorskip("mcp")
    import anyio
    from mcp import Client

    async def ask() -> tuple[Any, ...]:
        async with Client(server((source,))) as client:
            tools = (await client.list_tools()).tools
            listed = await client.call_tool("list_runs", {"contains": "second"})
            run = json.loads(listed.content[0].text)["runs"][0]["run"]
            told = await client.call_tool("summary", {"run": run})
            wrong = await client.call_tool("effect", {"run": run, "parameter": "z"})
            return tools, json.loads(told.content[0].text), json.loads(wrong.content[0].text)

    tools, told, wrong = anyio.run(ask)
    assert tuple(tool.name for tool in tools) == TOOLS
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert all(tool.description for tool in tools)
    assert "The lowest cost is" in told["sentence"]
    assert "'z'" in wrong["problem"]


def test_the_command_answers_the_client_and_writes_nothing(source: Source) -> None:
    """The whole way: a process of its own over standard input and output, as assistants start it."""
    pytest.importorskip("mcp")
    import anyio
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    file = Path(source.where.removeprefix("sqlite:///"))
    before = file.read_bytes(), sorted(file.parent.iterdir())
    asked = StdioServerParameters(
        command=sys.executable, args=["-m", "hyperlens", "mcp", source.where]
    )

    async def ask() -> dict[str, Any]:
        with anyio.fail_after(120):
            async with Client(asked) as client:
                listed = await client.call_tool("list_runs", {})
                run = json.loads(listed.content[0].text)["runs"][0]["run"]
                told = await client.call_tool("top_importance", {"run": run})
                answer: dict[str, Any] = json.loads(told.content[0].text)
                return answer

    told = anyio.run(ask)
    assert "the best 2 of 15 trials" in told["sentence"]
    assert told["tables"][0]["columns"][0] == "parameter"
    assert (file.read_bytes(), sorted(file.parent.iterdir())) == before
