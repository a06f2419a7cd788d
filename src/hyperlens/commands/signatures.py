"""Signatures of commands, made out of those of the functions behind them: each option stands once.

`like` gives options the names and defaults of a function's arguments, and the choices of their
Literals. A command marked `@expanded` takes groups of options as one argument each: a dataclass
whose fields are options, or `Annotated[kind, like(...)]`, which is handed over as `kind(**values)`.
"""

import inspect
import sys
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from typer.models import ParameterInfo

TYPED = (str, int, float, bool, NoneType)
UNIONS = (Union, UnionType)


def like(function: Callable[..., Any], /, **options: Any) -> tuple[inspect.Parameter, ...]:
    """Options for some arguments of a function; `Annotated` where its own type cannot be typed."""
    arguments = inspect.signature(function).parameters
    parameters = []
    for name, option in options.items():
        if isinstance(option, ParameterInfo):
            option = Annotated[_typed(_type(function, arguments[name])), option]
        parameters.append(
            arguments[name].replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=option)
        )
    return tuple(parameters)


def _type(function: Callable[..., Any], argument: inspect.Parameter) -> Any:
    """Of one argument: those of others may be imported for type checkers alone."""
    one = SimpleNamespace(__annotations__={argument.name: argument.annotation})
    return get_type_hints(one, vars(sys.modules[function.__module__]))[argument.name]


def _typed(annotation: Any) -> Any:
    """What of a type can be typed: not the objects that Python users may give as well."""
    members = get_args(annotation) if get_origin(annotation) in UNIONS else (annotation,)
    return Union[tuple(m for m in members if m in TYPED or get_origin(m) is Literal)]  # noqa: UP007


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose groups of options are spread out, as Typer reads them."""
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind, options = _group(parameter.annotation)
        if options:
            groups[parameter.name] = kind, [option.name for option in options]
        parameters += options or [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)]

    @wraps(command)
    def run(**values: Any) -> None:
        for group, (kind, names) in groups.items():
            values[group] = kind(**{name: values.pop(name) for name in names})
        command(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _group(annotation: Any) -> tuple[Any, tuple[inspect.Parameter, ...]]:
    """A group's type and its options; no options for what is no group."""
    if isinstance(annotation, type) and is_dataclass(annotation):
        return annotation, like(annotation, **get_type_hints(annotation, include_extras=True))
    if get_origin(annotation) is Annotated and isinstance(annotation.__metadata__[0], tuple):
        return annotation.__origin__, annotation.__metadata__[0]
    return None, ()
