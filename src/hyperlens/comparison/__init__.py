"""Which method is better over many data sets, and how surely: ranks, tests, groups, sentences."""

from hyperlens.comparison.compare import Comparison, Pair, compare
from hyperlens.comparison.corrections import Correction, adjusted
from hyperlens.comparison.friedman import Friedman
from hyperlens.comparison.score_table import read

__all__ = ["Comparison", "Correction", "Friedman", "Pair", "adjusted", "compare", "read"]
