"""Model and hyperparameters chosen together: the pool of Sarigiannis et al. 2020 as a space, and the
pipelines it means."""

from hyperlens.cash.models.model import Model, Task
from hyperlens.cash.models.model_hyperparameters import Hyperparameter
from hyperlens.cash.models.pool import build, pool, pool_space

__all__ = ["Hyperparameter", "Model", "Task", "build", "pool", "pool_space"]
