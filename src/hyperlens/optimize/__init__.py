"""Optimisers that are asked for a configuration and told its cost; the caller owns the loop.

An optimiser works on arrays and a space. It keeps no history, starts no process and writes no file:
whoever runs the loop stores trials, spreads them over machines, and explains proposals from what
each one carries.
"""

from __future__ import annotations

from hyperlens.optimize.smbo import SMBO, Proposal, Told

__all__ = ["SMBO", "Proposal", "Told"]
