"""Conditions on trials as text: `model == 'svm' and (lr < 0.01 or budget in [9, 27])`.

Comparisons (==, !=, <, <=, >, >=, also in chains), `in` and `not in` a list, `and`, `or`, `not` and
parentheses; names as they are, or in backquotes where they hold other characters; numbers, texts in
quotes, True, False and None. Names and values are taken out first, so that Python's grammar sees
nothing but words and signs; of its tree four kinds of nodes are allowed, and nothing is ever run. What
a trial does not have is equal to nothing and in no list: every comparison with it is false.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
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
_WORDS = {"and", "or", "not", "in"}
_VALUES = {"True": True, "False": False, "None": None}
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

MISSING = object()
Lookup = Callable[[str], Any]  # the value of a name in one trial, or MISSING


class Name(str):
    """Something that a trial may have; any other text is a value."""

    __slots__ = ()


@dataclass(frozen=True)
class Condition:
    """A tree of Python's grammar whose names stand for the operands.

    An operand is a Name or a value: a number, text, truth value or None; a tuple of these behind `in`.
    """

    tree: ast.expr
    operands: Mapping[str, Any]

    @property
    def names(self) -> set[str]:
        """Everything that it asks for."""
        return {str(operand) for operand in self.operands.values() if isinstance(operand, Name)}

    def part(self, tree: ast.expr) -> Condition:
        """A part of it as a condition of its own."""
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return Condition(tree, {key: x for key, x in self.operands.items() if key in used})

    @property
    def demands(self) -> list[tuple[str, str, Any]]:
        """What must hold in every case: (name, sign, value)."""
        return list(self._demands(self.tree))

    def holds(self, lookup: Lookup) -> bool:
        return self._holds(self.tree, lookup)

    def check(self) -> None:
        """Refuse what is no condition."""
        self._check(self.tree, 1)

    def _holds(self, node: ast.expr, lookup: Lookup) -> bool:
        match node:
            case ast.BoolOp(op, parts):
                test = all if isinstance(op, ast.And) else any
                return test(self._holds(part, lookup) for part in parts)
            case ast.UnaryOp(_, part):
                return not self._holds(part, lookup)

        def value(side: Any) -> Any:
            return lookup(side) if isinstance(side, Name) else side

        return all(compare(value(a), sign, value(b)) for a, sign, b in self._comparisons(node))

    def _demands(self, node: ast.expr) -> Iterator[tuple[str, str, Any]]:
        match node:
            case ast.BoolOp(ast.And(), parts):
                for part in parts:
                    yield from self._demands(part)
            case ast.Compare():
                for left, sign, right in self._comparisons(node):
                    named = (isinstance(left, Name), isinstance(right, Name))
                    if named == (True, False) and sign != "not in":
                        yield str(left), sign, right
                    elif named == (False, True):
                        yield str(right), _TURNED[sign], left

    def _check(self, node: ast.expr, depth: int) -> None:
        if depth > DEEPEST:
            raise _too_deep()
        match node:
            case ast.BoolOp(_, parts):
                for part in parts:
                    self._check(part, depth + 1)
            case ast.UnaryOp(ast.Not(), part):
                self._check(part, depth + 1)
            case _:
                list(self._comparisons(node))

    def _comparisons(self, node: ast.expr) -> Iterator[tuple[Any, str, Any]]:
        """The comparisons of a chain, such as the two of `1 < lr <= 10`."""
        if not isinstance(node, ast.Compare):
            raise _wrong("a comparison such as == or < is missing")
        sides = pairwise([node.left, *node.comparators])
        for op, (left, right) in zip(node.ops, sides, strict=True):
            sign = _SIGNS[type(op)]
            read = self._listed if sign in ("in", "not in") else self._operand
            yield self._operand(left), sign, read(right)

    def _operand(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Name):
            raise _wrong("a name or a value must stand on each side of a comparison")
        return self.operands[node.id]

    def _listed(self, node: ast.expr) -> tuple[Any, ...]:
        if not isinstance(node, ast.List):
            raise _wrong("a list such as ['svm', 'tree'] must follow 'in'")
        items = tuple(map(self._operand, node.elts))
        for item in items:
            if isinstance(item, Name):
                raise _wrong(f"'{item}' in a list must be a value; put texts in quotes")
        return items


def parse(text: str) -> Condition:
    """A condition out of its text.

    >>> parse("1 < lr <= 10").holds({"lr": 3.0}.get)
    True
    """
    if len(text) > MOST_CHARACTERS:
        raise AnalysisError(
            f"The condition of --where is longer than {MOST_CHARACTERS} characters; shorten it."
        )
    tokens = list(_tokens(text))
    words = [word or f"x{start}" for start, word, _ in tokens]
    operands = {f"x{start}": operand for start, word, operand in tokens if not word}
    if max(accumulate((w == "(") - (w == ")") for w in words), default=0) > DEEPEST:
        raise _too_deep()
    source = re.sub(r"\bin \(([^()]*)\)", r"in [\1]", " ".join(words))  # ('svm') is a list as well
    try:
        condition = Condition(ast.parse(source, mode="eval").body, operands)
    except (RecursionError, MemoryError):
        raise _too_deep() from None
    except SyntaxError as problem:
        for opening, closing in ("()", "[]"):
            if source.count(opening) > source.count(closing):
                raise _wrong(f"a '{closing}' is missing") from None
        at = problem.offset or 0
        if not 0 < at <= len(source):
            raise _wrong("it ends too early") from None
        raise _not_understood(text[tokens[source[: at - 1].count(" ")][0] :]) from None
    condition.check()
    return condition


def compare(left: Any, sign: str, right: Any) -> bool:
    """Whether a comparison holds; never for what is missing."""
    if left is MISSING or right is MISSING:
        return False
    if sign in ("==", "!="):
        return _same(left, right) == (sign == "==")
    if sign in ("in", "not in"):
        return any(_same(left, value) for value in right) == (sign == "in")
    try:
        return bool(_ORDER[sign](left, right))
    except TypeError:
        raise AnalysisError(
            f"{left!r} {sign} {right!r} cannot be compared; compare numbers with numbers "
            "and texts with texts in --where."
        ) from None


def _same(a: Any, b: Any) -> bool:
    """True and 1 are different values; 1 and 1.0 are the same."""
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _tokens(text: str) -> Iterator[tuple[int, str, Any]]:
    """Where each token starts, and a word or sign of the grammar, or "" and an operand."""
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _not_understood(text[at:])
        at = match.end()
        kind = str(match.lastgroup)
        start, token = match.start(kind), match[kind]
        if kind == "number":
            whole = token.lstrip("+-").isdecimal() and len(token) < 18
            yield start, "", int(token) if whole else float(token)
        elif kind == "text":
            yield start, "", re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)
        elif kind == "sign" or (kind == "name" and token in _WORDS):
            yield start, token, None
        else:
            yield start, "", _VALUES.get(token, Name(token)) if kind == "name" else Name(token)


def _not_understood(text: str) -> AnalysisError:
    return _wrong(f"{text[:20].strip()!r} is not understood")


def _too_deep() -> AnalysisError:
    return _wrong(f"it is nested deeper than {DEEPEST} levels")


def _wrong(reason: str) -> AnalysisError:
    return AnalysisError(
        f"The condition of --where cannot be read: {reason}; write it like \"model == 'svm' and "
        'lr < 0.01".'
    )
