"""Trials that a run goes on with to settle a question, once its search has ended: `tune --confirm`."""

from dataclasses import dataclass, replace
from typing import Annotated

import typer

import hyperlens as hl
from hyperlens.explain.confirm.confirmed import before_confirmation
from hyperlens.optimize.optimizers.queue import Queue
from hyperlens.optimize.running.loop import Setting


@dataclass(frozen=True)
class Settled:
    """What is to be settled after a search, and by how many trials."""

    confirm: Annotated[
        list[str] | None,
        typer.Option(
            help="After the search, run trials that settle this: a parameter, 'importance', 'best' or "
            "a condition (see hyperlens confirm)."
        ),
    ] = None
    more: Annotated[
        int, typer.Option(min=1, help="How many trials --confirm runs after the search.")
    ] = 20

    def after(self, history: hl.History, setting: Setting) -> Setting:
        """These trials as a run that goes on with this one.

        They are chosen from the trials of the search alone, so the same command goes on with them.
        """
        searched = before_confirmation(history)
        record = hl.confirm(searched, self.confirm or "importance", self.more)
        ended = (hl.State.COMPLETE, hl.State.FAILED)
        tried = [t.values for t in searched.trials if t.state in ended]
        queue = Queue(setting.space, record.configurations, tried, ", ".join(record.about))
        total = len(searched.trials) + len(record.configurations)
        return replace(setting, optimizer=queue, trials=total)
