"""Signatures of commands: options take names, defaults and choices from the functions behind them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import pytest
import typer
from typer.core import TyperOption
from typer.testing import CliRunner

import hyperlens as hl
from hyperlens import cli
from hyperlens.commands.signatures import expanded, like

Choice = Literal["small", "large"]


@dataclass(frozen=True)
class Pair:
    """A group of options with types of their own."""

    first: Annotated[int, typer.Option(help="One.")] = 1
    second: Annotated[str | None, typer.Option(help="Two.")] = None


def measure(run: object, size: Choice | dict[str, int] = "large", *, times: int = 3) -> None:
    """What a command is made from."""


@expanded
def command(
    source: str,
    *,
    pair: Pair,
    options: Annotated[
        dict[str, Any],
        like(measure, size=typer.Option(help="How big."), times=typer.Option(min=1)),
    ],
) -> None:
    typer.echo(f"{source} {pair} {options}")


def run(*words: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(command)
    done = CliRunner().invoke(app, words)
    return done.exit_code, done.output


def test_options_are_those_of_the_function() -> None:
    size, times = like(measure, size=typer.Option(), times=typer.Option())
    assert (size.name, size.default, times.default) == ("size", "large", 3)
    assert get_args(size.annotation)[0] == Choice  # a dictionary cannot be typed
    with pytest.raises(KeyError, match="weight"):
        like(measure, weight=typer.Option())


def test_groups_are_spread_out_and_put_together_again() -> None:
    assert list(inspect.signature(command).parameters) == [
        *("source", "first", "second", "size", "times")
    ]
    assert run("x") == (0, f"x {Pair()} {{'size': 'large', 'times': 3}}\n")
    words = ("x", "--first", "5", "--second", "b", "--size", "small", "--times", "1")
    assert run(*words) == (0, f"x {Pair(5, 'b')} {{'size': 'small', 'times': 1}}\n")
    assert run("x", "--size", "middle")[0] == 2


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_explains_itself_and_its_options(name: str) -> None:
    loaded = cli.load(name)
    assert loaded.help.startswith(cli.COMMANDS[name][1])
    for option in loaded.params:
        assert option.help, option.name
        assert option.help.endswith((".", '"', ")")), option.help
        if isinstance(option, TyperOption):
            assert all(word.startswith("--") for word in option.opts)


@pytest.mark.parametrize("name", ["effect", "regions", "bias", "ablation", "local-importance"])
def test_a_default_is_that_of_the_function(name: str) -> None:
    arguments = inspect.signature(getattr(hl, name.replace("-", "_"))).parameters
    same = [o for o in cli.load(name).params if o.name in arguments and not o.required]
    assert {"seed"} <= {option.name for option in same}
    for option in same:
        if option.name not in ("budget", "objective"):  # they say how the run is read
            assert option.default == arguments[option.name].default, option.name


def test_showing_a_record_loads_no_other() -> None:
    code = (
        "import sys, hyperlens as hl; from hyperlens import terminal; terminal.show(hl.schedule(9))\n"
        "print([m for m in sys.modules if m.startswith('hyperlens.') and m.split('.')[1] in "
        "('explain', 'cash', 'comparison', 'reports', 'plots')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
