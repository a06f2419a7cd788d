"""Answers that were given, by what they were given to: the same data and choices, the same answer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

MOST_BYTES = 128 * 2**20


class Cache:
    """Texts by key; the ones used last are kept, up to a total size."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._size = 0
        self._kept: OrderedDict[str, tuple[int, dict[str, Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> dict[str, Any] | None:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][1]

    def put(self, key: str, answer: dict[str, Any]) -> None:
        size = len(answer["html"])
        with self._lock:
            if key in self._kept:
                self._size -= self._kept.pop(key)[0]
            self._kept[key] = (size, answer)
            self._size += size
            while self._size > self._most and len(self._kept) > 1:
                self._size -= self._kept.popitem(last=False)[1][0]
