"""Memory of a large run: given back to the system when it is free."""

import ctypes
import sys
from contextlib import suppress

_MMAP_THRESHOLD = -3  # glibc's name for it in mallopt
_LARGE = 4 * 2**20  # bytes of an array that goes back


def give_back() -> None:
    """Let arrays of some megabytes go back to the system as soon as nobody holds them.

    The allocator of glibc learns from the first of them to keep what is freed, and then holds half as
    much again as is in use. Elsewhere nothing happens.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
