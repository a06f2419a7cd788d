"""The summary of a whole explanation in a terminal."""

import re
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hyperlens.explain.effects.regions import Regions
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.next.winner import Winner
from hyperlens.explain.objectives.pareto import ParetoFront
from hyperlens.explain.objectives.tradeoff import Tradeoff
from hyperlens.sections.advice import on_what_mattered, what_next, without_reason
from hyperlens.sections.analysis import Analysis
from hyperlens.sections.explanation import Unavailable
from hyperlens.sections.next.winner import LUCK, caution
from hyperlens.sections.parameters.importance import both, leading
from hyperlens.sections.parameters.regions import REGIONS
from hyperlens.sections.parameters.tradeoff import TRADEOFF
from hyperlens.sections.run.failures import FAILURES
from hyperlens.sections.run.models import MODELS, WINNER
from hyperlens.sections.run.objectives import PARETO
from hyperlens.sections.run.overview import OVERVIEW
from hyperlens.sections.run.search import BIAS
from hyperlens.sections.summary import aside, warnings
from hyperlens.sections.surrogates import SURROGATES
from hyperlens.terminal import COLOURS, MOST_UNKNOWN, listed, tell
from hyperlens.terminal.tables import GAP, drawn, facts
from hyperlens.terminal.text import paragraph, printable
from hyperlens.words import FIXED, number

MOST_ROWS = 15  # of importance
ENDED = re.compile(r"\d+ of \d+ trials (failed|(?:was|were) pruned)")
MOST_VALUES = 20  # of the best configuration


def show_analysis(analysis: Analysis) -> None:
    """Print what an analysis says in short."""
    console = Console()
    overview, importance = analysis[OVERVIEW], both(analysis)
    surrogates = analysis[SURROGATES]
    console.print(_facts(analysis))
    console.print()
    first = aside(analysis)
    for sentence in first:
        tell(console, sentence, style="bold")
    _show_models(console, analysis)
    if isinstance(importance, Unavailable):
        tell(console, importance.why)
    else:
        shown = importance.verdict.known or len(importance.tables[0].rows) <= MOST_UNKNOWN
        if shown:
            console.print(drawn(importance.tables[0], MOST_ROWS))
        for sentence in importance.lead if shown else ():  # why it is not known stands above
            tell(console, sentence)
    for record in analysis[TRADEOFF]:
        if isinstance(record, Tradeoff) and record.verdict.known:
            tell(console, record.sentence)
    regions = [r.sentence for r in analysis[REGIONS][:1] if isinstance(r, Regions) and r.gain > 0]
    remarks = [warning for warning in warnings(analysis) if warning != importance.sentence]
    leads = [surrogates.sentence] if surrogates.qualities else []
    failed = [record.sentence for record in (analysis[FAILURES],) if record is not None]
    best = [analysis[LUCK].sentence] if isinstance(analysis[LUCK], Winner) else []
    told = (*best, *failed, analysis[BIAS].sentence, *overview.notes, *importance.notes)
    said = (*leads, *regions, *told, *remarks)
    listed(console, _once(first, said))
    console.print()
    console.print(Text("What to do next", style="bold"))
    listed(console, (without_reason(analysis, advice) for advice in what_next(analysis)))


def _once(before: Iterable[str], sentences: Iterable[str]) -> Iterator[str]:
    """Those of the sentences that tell something new: what became of so many trials is said once."""
    told: set[str] = set()
    for sentence in (*before, *sentences):
        ended = ENDED.match(sentence)
        words = ended[0] if ended else sentence
        if words not in told and sentence not in before:
            yield sentence
        told.add(words)


def _show_models(console: Console, analysis: Analysis) -> None:
    """Of a search over models: which got what and why, and what mattered within the best."""
    search, winner = analysis[MODELS], analysis[WINNER]
    if search is None:
        return
    console.print(drawn(search.tables[0]))
    within = f"Within {search.models[0]}: " if isinstance(winner, Importance) else ""
    for sentence in (*search.lead, *([within + winner.sentence] if winner else ())):
        tell(console, sentence)
    console.print()


def _beside(text: str) -> str:
    """What stands beside the name of a fact."""
    return paragraph(text, Console().width - len("objective  ") - GAP)


def _facts(analysis: Analysis) -> Table:
    overview = analysis[OVERVIEW]
    states = ", ".join(f"{n} {state}" for state, n in overview.states.items())
    rows = facts()
    rows.add_row("source", Text(printable(overview.source)))
    rows.add_row("trials", f"{overview.trials} ({states})")
    direction = "maximised" if overview.maximize else "minimised"
    objective = f"{printable(overview.objective)} ({direction})"
    if analysis[PARETO] is not None:
        objective += ", one of several: see 'hyperlens pareto', or choose another with --objective"
    rows.add_row("objective", Text(objective))
    least = f", which exceeds {printable(overview.bounds)} least" if overview.useless else ""
    front = analysis[PARETO]
    beside = ""
    if isinstance(front, ParetoFront):
        beside = printable(front.besides(overview.best_trial, overview.objective))
    where = f"in trial {overview.best_trial}{beside and f' ({beside})'}{least}"
    rows.add_row("best", Text(f"{overview.shown(overview.best)} {where}"))
    values = [f"{k}{FIXED}={FIXED}{number(v)}" for k, v in overview.best_values.items()]
    if len(values) > MOST_VALUES:
        values[MOST_VALUES:] = [f"and {len(values) - MOST_VALUES} more"]
    rows.add_row("", Text(_beside(", ".join(values))))
    if doubt := caution(analysis):
        rows.add_row("", Text(_beside(doubt)))
    if isinstance(front, ParetoFront):
        rows.add_row("front", Text(_beside(front.sentence)))
    if isinstance(importance := leading(analysis), Importance):
        verdict = importance.verdict
        said = on_what_mattered(verdict)
        rows.add_row("verdict", Text(_beside(said), style=COLOURS[verdict.word]))
    return rows
