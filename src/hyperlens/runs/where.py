"""Conditions on trials as text: `model == 'svm' and (lr < 0.01 or budget in [9, 27])`.

Comparisons (==, !=, <, <=, >, >=, also in chains), `in` and `not in` a list, `and`, `or`, `not` and
parentheses; names as they are, or in backquotes where they hold other characters; numbers, texts in
quotes, True, False and None. It is parsed here and nowhere run as code. What a trial does not have
is equal to nothing and in no list: every comparison with it is false.
"""

from __future__ import annotations

import operator
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hyperlens.errors import AnalysisError

MOST_CHARACTERS = 10_000
DEEPEST = 50

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))"
    r"|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|`(?P<quoted>[^`]+)`"
    r"|(?P<name>[^\W\d][\w.:/]*)"
    r"|(?P<sign>==|!=|<=|>=|<|>|\(|\)|\[|\]|,))",
    re.DOTALL,
)
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WORDS = {"and", "or", "not", "in"}
_VALUES = {"True": True, "False": False, "None": None}

MISSING = object()
Lookup = Callable[[str], Any]  # the value of a name in one trial, or MISSING


@dataclass(frozen=True)
class Name:
    """Something that a trial may have."""

    name: str


@dataclass(frozen=True)
class Compared:
    """Two operands and a comparison."""

    left: Any
    sign: str
    right: Any

    def holds(self, lookup: Lookup) -> bool:
        left, right = _value(self.left, lookup), _value(self.right, lookup)
        if left is MISSING or right is MISSING:
            return False
        if self.sign in ("==", "!="):
            return bool(_same(left, right) == (self.sign == "=="))
        try:
            return bool(_COMPARE[self.sign](left, right))
        except TypeError:
            raise AnalysisError(
                f"{left!r} {self.sign} {right!r} cannot be compared; compare numbers with numbers "
                "and texts with texts in --where."
            ) from None


@dataclass(frozen=True)
class Among:
    """An operand and a list that it is to be in, or not."""

    left: Any
    values: tuple[Any, ...]
    negated: bool

    def holds(self, lookup: Lookup) -> bool:
        left = _value(self.left, lookup)
        if left is MISSING:
            return False
        return any(_same(left, value) for value in self.values) != self.negated


@dataclass(frozen=True)
class Joined:
    """Parts of which all (`and`) or one (`or`) must hold."""

    word: str
    parts: tuple[Condition, ...]

    def holds(self, lookup: Lookup) -> bool:
        test = all if self.word == "and" else any
        return test(part.holds(lookup) for part in self.parts)


@dataclass(frozen=True)
class Negated:
    """A condition that must not hold."""

    part: Condition

    def holds(self, lookup: Lookup) -> bool:
        return not self.part.holds(lookup)


Condition = Compared | Among | Joined | Negated


def parse(text: str) -> Condition:
    """A condition out of its text.

    >>> parse("1 < lr <= 10").holds({"lr": 3.0}.get)
    True
    """
    if len(text) > MOST_CHARACTERS:
        raise AnalysisError(
            f"The condition of --where is longer than {MOST_CHARACTERS} characters; shorten it."
        )
    reader = _Reader(list(_tokens(text)))
    found = reader.either()
    if reader.rest:
        raise _wrong(f"there is {reader.rest[0][1]!r} where the condition should end")
    return found


def names(condition: Condition) -> set[str]:
    """Everything that a condition asks for."""
    if isinstance(condition, Joined):
        return set().union(*map(names, condition.parts))
    if isinstance(condition, Negated):
        return names(condition.part)
    sides = [condition.left, *([condition.right] if isinstance(condition, Compared) else [])]
    return {side.name for side in sides if isinstance(side, Name)}


def demands(condition: Condition) -> list[tuple[str, str, Any]]:
    """What must hold in every case: (name, comparison or "in", value)."""
    if isinstance(condition, Joined) and condition.word == "and":
        return [demand for part in condition.parts for demand in demands(part)]
    if isinstance(condition, Among) and not condition.negated and isinstance(condition.left, Name):
        return [(condition.left.name, "in", condition.values)]
    if isinstance(condition, Compared):
        left, sign, right = condition.left, condition.sign, condition.right
        if isinstance(left, Name) and not isinstance(right, Name):
            return [(left.name, sign, right)]
        if isinstance(right, Name) and not isinstance(left, Name):
            return [(right.name, _TURNED[sign], left)]
    return []


def _value(operand: Any, lookup: Lookup) -> Any:
    return lookup(operand.name) if isinstance(operand, Name) else operand


def _same(a: Any, b: Any) -> bool:
    """True and 1 are different values; 1 and 1.0 are the same."""
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _tokens(text: str) -> Iterator[tuple[str, Any]]:
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _wrong(f"{text[at : at + 20].strip()!r} is not understood")
        at = found.end()
        kind = str(found.lastgroup)
        token = found[kind]
        if kind == "number":
            whole = token.lstrip("+-").isdecimal() and len(token) < 18
            yield "value", int(token) if whole else float(token)
        elif kind == "text":
            yield "value", re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)
        elif kind == "quoted":
            yield "name", token
        elif token in _VALUES:
            yield "value", _VALUES[token]
        elif kind == "name" and token not in _WORDS:
            yield "name", token
        else:
            yield "sign", token


class _Reader:
    """Takes tokens from the left: `or` binds least, then `and`, then `not`."""

    def __init__(self, tokens: list[tuple[str, Any]]) -> None:
        self.rest = deque(tokens)
        self.depth = 0

    def _next_is(self, *signs: str) -> bool:
        return bool(self.rest) and self.rest[0][0] == "sign" and self.rest[0][1] in signs

    def _take(self) -> tuple[str, Any]:
        if not self.rest:
            raise _wrong("it ends too early")
        return self.rest.popleft()

    def _expect(self, sign: str) -> None:
        if not self._next_is(sign):
            raise _wrong(f"a '{sign}' is missing")
        self._take()

    def either(self) -> Condition:
        return self._joined("or", self.both)

    def both(self) -> Condition:
        return self._joined("and", self.negation)

    def _joined(self, word: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self._next_is(word):
            self._take()
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def negation(self) -> Condition:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _wrong(f"it is nested deeper than {DEEPEST} levels")
        try:
            if self._next_is("not"):
                self._take()
                return Negated(self.negation())
            if self._next_is("("):
                self._take()
                found = self.either()
                self._expect(")")
                return found
            return self.comparison()
        finally:
            self.depth -= 1

    def comparison(self) -> Condition:
        left = self.operand()
        negated = self._next_is("not")
        if negated:
            self._take()
        if negated or self._next_is("in"):
            self._expect("in")
            return Among(left, self.values(), negated)
        parts: list[Condition] = []
        while self._next_is(*_COMPARE):
            sign = self._take()[1]
            right = self.operand()
            parts.append(Compared(left, sign, right))
            left = right
        if not parts:
            raise _wrong("a comparison such as == or < is missing")
        return parts[0] if len(parts) == 1 else Joined("and", tuple(parts))

    def operand(self) -> Any:
        kind, token = self._take()
        if kind == "sign":
            raise _wrong(f"there is {token!r} where a name or a value should be")
        return Name(token) if kind == "name" else token

    def values(self) -> tuple[Any, ...]:
        if not self._next_is("[", "("):
            raise _wrong("a list such as ['svm', 'tree'] must follow 'in'")
        end = "]" if self._take()[1] == "[" else ")"
        found: list[Any] = []
        while not self._next_is(end):
            operand = self.operand()
            if isinstance(operand, Name):
                raise _wrong(f"'{operand.name}' in a list must be a value; put texts in quotes")
            found.append(operand)
            if not self._next_is(end):
                self._expect(",")
        self._take()
        return tuple(found)


def _wrong(reason: str) -> AnalysisError:
    return AnalysisError(
        f"The condition of --where cannot be read: {reason}; write it like \"model == 'svm' and "
        'lr < 0.01".'
    )
