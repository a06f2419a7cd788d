"""What came out of a run, in a terminal."""

from rich.console import Console
from rich.text import Text

from hyperlens.explain.objectives.pareto import pareto
from hyperlens.runs.history import History, State
from hyperlens.terminal.text import printable
from hyperlens.words import counted, number

MOST_REASONS = 3


def show_run(history: History) -> None:
    """The best configuration, or the front of several objectives, and how many trials failed and why."""
    console = Console()
    objective = history.objective()
    failed = [t for t in history.trials if t.state is State.FAILED]
    reasons = dict.fromkeys(t.reason for t in failed if t.reason)
    counts = counted(len(history.trials), "trial")
    if failed:
        shown = "; ".join(list(reasons)[:MOST_REASONS])
        more = "; ..." if len(reasons) > MOST_REASONS else ""
        counts += f", {len(failed)} failed ({shown}{more})"
    console.print(Text(printable(counts)), soft_wrap=True)
    for note in history.notes:
        console.print(Text(printable(note)), soft_wrap=True)
    if len(history.objectives) > 1:
        console.print(Text(printable(pareto(history).sentence)), soft_wrap=True)
        return
    best = history.best()
    if limited := history.limited():
        console.print(Text(printable(limited)), soft_wrap=True)
    console.print(
        Text(
            f"Best {printable(objective.name)} {number(best.costs[0])} in trial {best.number}: "
            + printable(", ".join(f"{k} = {number(v)}" for k, v in best.values.items()))
        ),
        soft_wrap=True,
    )
