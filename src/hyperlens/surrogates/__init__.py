"""Surrogates of a cost: a Gaussian process, a forest, and whether they may be explained.

The models are imported on first use, so that naming one does not load the other.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # __init__.pyi
