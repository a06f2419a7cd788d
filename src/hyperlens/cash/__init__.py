"""Model and hyperparameters chosen together: the pool of P1 as spaces, and the pipelines it means."""

from __future__ import annotations

from hyperlens.cash.models import Hyperparameter, Model, Task
from hyperlens.cash.pool import build, pool, pool_space

__all__ = ["Hyperparameter", "Model", "Task", "build", "pool", "pool_space"]
