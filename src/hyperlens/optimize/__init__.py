"""Optimisers that are asked for a configuration and told its cost, and the one loop that runs them.

An optimiser works on arrays and a space. It keeps no history, starts no process and writes no file:
`run` has the loop, `store` keeps what was measured, `engine` says where trials are evaluated.
"""

from hyperlens.optimize.optimizers.ledger import Result
from hyperlens.optimize.optimizers.protocol import Candidate, Optimizer
from hyperlens.optimize.optimizers.random_search import RandomSearch
from hyperlens.optimize.optimizers.smbo import SMBO

__all__ = ["SMBO", "Candidate", "Optimizer", "RandomSearch", "Result"]
