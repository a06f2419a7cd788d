"""What is to be settled: effects of parameters, their ranking, a region, or whether the best is best."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hyperlens.errors import AnalysisError, listed
from hyperlens.runs.history import History
from hyperlens.runs.where import Condition, parse

Kind = Literal["effect", "importance", "region", "best"]
WORDS: tuple[Kind, ...] = ("importance", "best")
_COMPARES = ("<", ">", "=", " in ")


@dataclass(frozen=True)
class About:
    """The question: its kind, the parameters that it names, and the condition of a region."""

    kind: Kind
    parameters: tuple[str, ...] = ()
    condition: Condition | None = None
    text: str = ""

    @property
    def asked(self) -> tuple[str, ...]:
        """As a user would write it again."""
        if self.kind == "effect":
            return self.parameters
        return (self.text or self.kind,)


def about_of(history: History, about: str | Sequence[str]) -> About:
    """The question that is meant by a text, or by the names of several parameters."""
    names = history.space.names
    if not isinstance(about, str):
        chosen = tuple(dict.fromkeys(about))
        if len(chosen) == 1:
            return about_of(history, chosen[0])
        if not chosen:
            raise AnalysisError("Nothing was named to settle; name a parameter, or 'importance'.")
        for name in chosen:
            _known(name, names)
        return About("effect", chosen)
    text = about.strip()
    if text in names:
        return About("effect", (text,))
    if text == "importance":
        return About("importance", names)
    if text == "best":
        return About("best")
    if any(sign in text for sign in _COMPARES):
        condition = _parsed(text)
        for name in sorted(condition.names):
            _known(name, names)
        if not condition.names:
            raise AnalysisError(
                f"The condition '{text}' names no parameter; compare one of {listed(names)}."
            )
        return About("region", tuple(sorted(condition.names)), condition, text)
    _known(text, names, WORDS)
    raise AssertionError  # what is known was found above


def _parsed(text: str) -> Condition:
    try:
        return parse(text)
    except AnalysisError as problem:
        raise AnalysisError(str(problem).replace("--where", "about")) from problem


def _known(name: str, names: Sequence[str], words: Sequence[str] = ()) -> None:
    """Refuse what is neither a parameter nor one of the words, with what may have been meant."""
    if name in names:
        return
    near = difflib.get_close_matches(name, [*names, *words], 1)
    meant = f"did you mean '{near[0]}'?" if near else f"choose one of {listed(names)}"
    if words:
        meant += (" Or" if near else ", or") + " ask about 'importance', 'best' or \"lr < 0.01\"."
    raise AnalysisError(
        f"There is no parameter '{name}' to ask about; {meant}{'' if meant[-1] in '.?' else '.'}"
    )
