"""Protocol buffers as they are written: fields by number, without a schema, of bounded depth.

A message is a sequence of a key and a value; the key holds a field's number and how its value is
written. What a field means is for the reader of a tool to say.
"""

import struct
from collections.abc import Iterator

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
Message = dict[int, list[int | bytes]]  # what each field holds, in the order written


def message(content: bytes) -> Message:
    """The fields of a message; ValueError where it is none.

    >>> message(b"\\x08\\x96\\x01\\x12\\x02hi")
    {1: [150], 2: [b'hi']}
    """
    fields: Message = {}
    for number, value in _fields(content):
        fields.setdefault(number, []).append(value)
    return fields


def _fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        number, how = key >> 3, key & 7
        if how == _VARINT:
            value, at = _varint(content, at)
            yield number, value
            continue
        if how == _BYTES:
            size, at = _varint(content, at)
        elif how in (_FIXED_64, _FIXED_32):
            size = 8 if how == _FIXED_64 else 4
        else:
            raise ValueError(f"no value is written in way {how}")
        if at + size > len(content):
            raise ValueError("a message that is cut off")
        yield number, content[at : at + size]
        at += size


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for k in range(10):
        if at + k >= len(content):
            break
        value |= (content[at + k] & 127) << (7 * k)
        if content[at + k] < 128:
            return value, at + k + 1
    raise ValueError("a number that is cut off")


def texts(field: list[int | bytes] | None) -> list[str]:
    return [v.decode("utf-8", "replace") for v in field or () if isinstance(v, bytes)]


def text(field: list[int | bytes] | None) -> str:
    return next(iter(texts(field)), "")


def messages(field: list[int | bytes] | None) -> list[Message]:
    """Messages inside a message."""
    return [message(v) for v in field or () if isinstance(v, bytes)]


def integers(field: list[int | bytes] | None) -> list[int]:
    """Signed whole numbers, one by one or packed together."""
    numbers: list[int] = []
    for value in field or ():
        if isinstance(value, int):
            numbers.append(value)
        else:
            at = 0
            while at < len(value):
                one, at = _varint(value, at)
                numbers.append(one)
    return [n - 2**64 if n >= 2**63 else n for n in numbers]


def doubles(field: list[int | bytes] | None) -> list[float]:
    """Floats, one by one or packed together."""
    return [x for v in field or () if isinstance(v, bytes) for (x,) in struct.iter_unpack("<d", v)]
