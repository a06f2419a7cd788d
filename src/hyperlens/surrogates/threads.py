"""One thread for linear algebra: small matrices are faster so, and results the same on any machine."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """While it is entered, BLAS uses one thread."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> Any:
    """Looking for the libraries takes ten milliseconds; they do not change once they are loaded."""
    import scipy.linalg  # noqa: F401  # loads its own beside NumPy's

    return ThreadpoolController()
