"""A worker for the tests of the live page: it computes nothing, but is slow or dies when asked to."""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection
from typing import Any

from hyperlens.dashboard.catalogue import Run, RunState

SLOW, DEADLY, BROKEN = "slow", "deadly", "broken"
STATE = RunState(
    version="v1",
    title="a fake run",
    trials=7,
    analysed=6,
    parameters=("lr", SLOW, DEADLY, BROKEN),
    objectives=(("loss", False), ("time", False)),
    budgets=(1.0, 9.0),
    explained=(3, 4),
    recorded=True,
    seconds=0.0,
)


def work(connection: Connection, sources: Any) -> None:
    answered = 0
    while True:
        try:
            task, content = connection.recv()
        except EOFError:
            return
        if task == "list":
            connection.send(("done", [Run(0, None, "first"), Run(0, "b", "second")], None))
        elif task == "look":
            connection.send(("done", STATE, None))
        else:
            _, query, _ = content
            parameter = query.choices.parameter
            if parameter == DEADLY:
                os._exit(1)
            while parameter == SLOW:  # until somebody ends it
                connection.send(("step", "being slow", 0.5))
                time.sleep(0.01)
            if parameter == BROKEN:
                connection.send(("failed", "It is broken.", None))
                continue
            answered += 1
            result = {"versions": ("v1",), "trials": 7, "html": f"<p>{os.getpid()} {answered}</p>"}
            connection.send(("done", result, None))
