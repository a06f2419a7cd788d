"""The command line: commands read, ask for records and show them; they compute nothing themselves."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any, NoReturn

import typer

from hyperlens import __version__
from hyperlens.commands.cash import cash
from hyperlens.commands.compare import compare
from hyperlens.commands.effects import bias, effect, interactions, regions
from hyperlens.commands.explain import explain, importance
from hyperlens.commands.proposals import ablation, local, path, why
from hyperlens.commands.serve import serve
from hyperlens.commands.sources import convert, validate
from hyperlens.commands.tune import tune
from hyperlens.errors import HyperlensError

app = typer.Typer(
    name="hyperlens",
    help="Explain a hyperparameter tuning run: what mattered, how, and how surely.",
    add_completion=False,
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


explaining = (explain, importance, effect, regions, interactions, bias, why, path, ablation, local)
for command in (tune, cash, *explaining, serve, compare, validate, convert):
    app.command()(command)


def main() -> NoReturn:
    """Run the command line; an error is one sentence on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Unicode shows what it can
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(app(standalone_mode=False))
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
    return f"{problem.format_message().rstrip('.')}; see '{command} --help'."


def _complain(sentence: str) -> None:
    from hyperlens.terminal import printable

    typer.echo(f"hyperlens: {printable(sentence)}", err=True)
