"""Trials on a Dask cluster, by the address of its scheduler."""

from importlib import import_module
from typing import Any

from hyperlens.errors import AnalysisError
from hyperlens.optimize.running.engine import Futures
from hyperlens.optimize.running.trial_outcome import Objective

CONNECTING = 30  # seconds


def dask(
    objective: Objective,
    scheduler: str | None,
    workers: int | None,
    timeout: float | None,
    files: tuple[str, ...] = (),
) -> Futures:
    """As many trials at once as the cluster has threads, or `workers`.

    When a worker dies, Dask gives its trial to another; one whose objective kills worker after
    worker fails.
    """
    try:
        distributed: Any = import_module("distributed")
    except ModuleNotFoundError as problem:
        raise AnalysisError(
            "The engine 'dask' is not installed; install it with 'pip install hyperlens[dask]'."
        ) from problem
    if scheduler is None:
        raise AnalysisError(
            "The engine 'dask' needs the address of a scheduler; give one such as "
            "tcp://127.0.0.1:8786."
        )
    try:
        client = distributed.Client(scheduler, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:
        raise AnalysisError(
            f"There is no Dask scheduler at '{scheduler}'; start one with 'dask scheduler' and "
            "give the address that it prints."
        ) from problem
    for path in files:
        client.upload_file(path)

    def threads() -> int:
        return workers or max(1, sum(client.ncores().values()))

    return Futures(objective, client.get_executor(pure=False), threads, timeout, client.close)
