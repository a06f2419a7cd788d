"""The command line: commands read, ask for records and show them; they compute nothing themselves."""

import io
import os
import re
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from hyperlens import __version__
from hyperlens.commands.wording.help_page import SortedCommand
from hyperlens.errors import HyperlensError

# by topic, each command: its file in hyperlens.commands, and what it does
TOPICS = {
    "Explain a run": {
        "explain": ("explain", "Explain a whole run: a summary here, and a report with --html."),
        "serve": ("serve", "Show runs as a page in the browser that follows them as they go on."),
        "report": (
            "explain",
            "Show a saved explanation again, without the run and without computing.",
        ),
        "mcp": (
            "questions.mcp",
            "Offer runs to assistants over the Model Context Protocol, read-only.",
        ),
    },
    "Search": {
        "tune": (
            "tune",
            "Tune a function; if it is stopped or killed, the same command resumes it.",
        ),
        "cash": (
            "cash",
            "Find the best model for a table and train it; the same command resumes it.",
        ),
        "predict": ("cash", "Predict a new table with a model that cash found."),
    },
    "What mattered, and how it acts": {
        "importance": (
            "analyses",
            "Which parameters and pairs the variance of the objective comes from (functional ANOVA).",
        ),
        "top-importance": (
            "questions.top_importance",
            "Which parameters tell the best trials from the rest (PED-ANOVA), beyond chance or not.",
        ),
        "tunability": (
            "questions.tunability",
            "What there is to gain by tuning each parameter, alone and together (Shapley values).",
        ),
        "effect": (
            "analyses",
            "How the objective depends on one or two parameters, with a confidence band.",
        ),
        "formula": (
            "questions.formula",
            "The effect of a parameter as a short formula, where one fits.",
        ),
        "regions": (
            "analyses",
            "Where the effect of a parameter is well known: regions of the space, as rules.",
        ),
        "interactions": (
            "analyses",
            "How strongly each pair of parameters acts together (Friedman's H).",
        ),
        "local-importance": ("analyses", "Which parameters matter around one configuration."),
        "ablation": ("analyses", "Which changes made the difference between two configurations."),
    },
    "What can be trusted": {
        "winner": (
            "analyses",
            "Whether the best is truly the best: how likely, how much is luck, what repeats would tell.",
        ),
        "bias": (
            "analyses",
            "Where the search looked and where it did not, compared with an even search.",
        ),
        "failures": (
            "analyses",
            "Where trials fail or diverge: how often for which values, and a rule.",
        ),
        "feasibility": (
            "analyses",
            "Which trials keep the limits: how often for which values, where, at what cost.",
        ),
        "curves": (
            "analyses",
            "Learning curves: how early the end is known, what pruning lost, what mattered when.",
        ),
    },
    "What to do next": {
        "forecast": ("analyses", "What more trials would bring, and whether to stop."),
        "advise": (
            "analyses",
            "The space to search next, with the evidence for each change.",
        ),
        "confirm": (
            "next.confirm",
            "Which trials would settle a question: an effect, what mattered, a region, the best.",
        ),
        "confirmed": (
            "next.confirm",
            "What trials run to settle a question have settled, and what was expected of them.",
        ),
        "reach": (
            "questions.reach",
            "The smallest change of a trial that would reach a cost, and how probable it is.",
        ),
    },
    "Why it was proposed": {
        "why": (
            "proposals",
            "Why a trial was proposed: to exploit or to explore, by each parameter (Shapley values).",
        ),
        "path": ("proposals", "How the reasons changed over the run: every proposal explained."),
    },
    "Several objectives": {
        "pareto": ("analyses", "The Pareto front of several objectives, and how it grew."),
        "true-front": (
            "analyses",
            "How likely each trial is to be on the true Pareto front, given the noise.",
        ),
        "choose": (
            "analyses",
            "The best trial within limits on objectives, and what the limits cost.",
        ),
        "effects-of": (
            "analyses",
            "How one parameter acts on all objectives, and where they agree.",
        ),
        "tradeoff": (
            "analyses",
            "What matters for weighted sums of two objectives, for every weight.",
        ),
    },
    "Several runs, several methods": {
        "across": (
            "questions.across",
            "What runs of one space have in common, where they differ, and what does well in all.",
        ),
        "compare": (
            "compare",
            "Compare methods over data sets: average ranks, Friedman, Wilcoxon for each pair, groups.",
        ),
    },
    "Files": {
        "validate": (
            "convert",
            "Say what was read from a run, what was left out and why, and what it cannot answer.",
        ),
        "convert": ("convert", "Write a run in a neutral form that keeps every value."),
    },
}
COMMANDS = {name: about for topic in TOPICS.values() for name, about in topic.items()}
WIDEST = max(map(len, COMMANDS))
# Pydantic's words for a wrong option, which Typer hands on, in ours
PLAINER = {
    ": Value error, ": ": ",
    ": Input should be ": ": it should be ",
    "a valid integer, unable to parse string as an integer": "a whole number",
    "a valid number, unable to parse string as a number": "a number",
}


class Commands(TyperGroup):
    """Lists commands by name and sentence; the file of one is loaded when it is called, since its
    options are those of the functions behind it."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, known, rest = super().resolve_command(ctx, args)
        return name, known and load(str(name)), rest  # unknown only where a shell completes

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for topic, commands in TOPICS.items():
            with formatter.section(topic):
                formatter.write_dl(
                    [(name.ljust(WIDEST), what) for name, (_, what) in commands.items()]
                )


def load(name: str) -> Any:
    """A command as Typer runs it."""
    file, sentence = COMMANDS[name]
    function = getattr(import_module(f"hyperlens.commands.{file}"), name.replace("-", "_"))
    more = f"\n\n{function.__doc__}" if function.__doc__ else ""
    command = typer.Typer(add_completion=False, rich_markup_mode=None)
    command.command(name, cls=SortedCommand, help=sentence + more)(function)
    return get_command(command)


app = typer.Typer(
    name="hyperlens",
    cls=Commands,
    help="Explain a hyperparameter tuning run: what mattered, how, and how certain that is.",
    epilog="Begin with: hyperlens explain study.db --html report.html",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def version_or_help(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def main() -> NoReturn:
    """Run the command line; an error is one sentence on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Unicode shows what it can
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(app(prog_name="hyperlens", standalone_mode=False))
    except HyperlensError as problem:
        _complain(str(problem))
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except (KeyboardInterrupt, typer.Abort):
        _complain("Stopped.")
        sys.exit(130)
    except Exception as problem:
        if hasattr(problem, "format_message"):  # Typer's, or in its older versions Click's
            _complain(_usage(problem))
            sys.exit(2)
        if os.environ.get("HYPERLENS_DEBUG"):
            raise
        _complain(
            f"Something went wrong inside hyperlens ({type(problem).__name__}: {problem}); "
            "set HYPERLENS_DEBUG=1 to see where, and please report it."
        )
        sys.exit(1)


def _usage(problem: Any) -> str:
    """A wrong call in one sentence."""
    command = problem.ctx.command_path if getattr(problem, "ctx", None) else "hyperlens"
    said = problem.format_message().rstrip(".")
    for words, plain in PLAINER.items():
        said = said.replace(words, plain)
    unknown = re.fullmatch(r"No such command '(.*)'", said)
    near = get_close_matches(unknown[1], COMMANDS, 1) if unknown else []
    return f"{said}; {f'try {near[0]!r}, or ' if near else ''}see '{command} --help'."


def _complain(sentence: str) -> None:
    from hyperlens.terminal import printable

    typer.echo(f"hyperlens: {printable(sentence)}", err=True)
