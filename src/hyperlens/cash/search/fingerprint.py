"""What tells one model search from another in a storage that holds many: its table and its question."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any


def fingerprint(X: Any, y: Any, question: Sequence[Any]) -> str:
    """Eight hexadecimal digits of a frame, its target and whatever else decides what comes out."""
    from pandas.util import hash_pandas_object

    whole = hashlib.sha256()
    for k in range(X.shape[1]):
        column = X.iloc[:, k]
        plain = column.astype(str) if column.dtype.kind == "O" else column
        whole.update(hash_pandas_object(plain, index=False).to_numpy().tobytes())
    whole.update(repr([str(v) for v in y]).encode())
    whole.update(json.dumps(list(question), default=str).encode())
    return whole.hexdigest()[:8]


def code_of(build: Callable[..., Any] | None) -> str | None:
    """What tells one function from another that has the same name."""
    if build is None:
        return None
    try:
        return inspect.getsource(build)
    except (OSError, TypeError):  # written at a prompt, or not a function
        return getattr(build, "__qualname__", type(build).__qualname__)
