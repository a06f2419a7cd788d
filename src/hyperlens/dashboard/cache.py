"""Answers by what was asked: the same data and choices, the same answer."""

import threading
from collections import OrderedDict
from typing import Any

MOST_BYTES = 128 * 2**20


class Cache:
    """Texts by key; the ones used last are kept, up to a total size."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._size = 0
        self._answers: OrderedDict[str, tuple[int, dict[str, Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> dict[str, Any] | None:
        with self._lock:
            if key not in self._answers:
                return None
            self._answers.move_to_end(key)
            return self._answers[key][1]

    def put(self, key: str, answer: dict[str, Any]) -> None:
        size = len(answer["html"])
        with self._lock:
            if key in self._answers:
                self._size -= self._answers.pop(key)[0]
            self._answers[key] = (size, answer)
            self._size += size
            while self._size > self._most and len(self._answers) > 1:
                self._size -= self._answers.popitem(last=False)[1][0]
