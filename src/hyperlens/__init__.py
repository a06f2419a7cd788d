"""Hyperlens explains hyperparameter optimisation.

>>> import hyperlens as hl
>>> sorted(set(hl.__all__) & {"read", "importance", "effect", "report"})
['effect', 'importance', 'read', 'report']
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)  # __init__.pyi
