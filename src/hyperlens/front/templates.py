"""Jinja's templates beside this file. Every text that is put into them is shown literally."""

from collections.abc import Sequence
from functools import partial
from json import JSONEncoder
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from hyperlens.front import asset


def environment(**shared: Any) -> Environment:
    """All texts are escaped, and `tojson` writes what cannot close a script or an attribute in '';
    every template sees what is `shared`."""
    templates = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    encoder = JSONEncoder(allow_nan=False, separators=(",", ":"))  # in ASCII alone
    templates.policies |= {"json.dumps_function": encoder.encode, "json.dumps_kwargs": {}}
    templates.globals |= {"zip": partial(zip, strict=True), **shared}
    return templates


def live_html(groups: Sequence[tuple[str, Sequence[Any]]]) -> str:
    """The page that asks a server for the cards of its sections, which come in groups with a title."""
    page = environment().get_template("live.html")
    return page.render(title="Hyperlens", groups=groups)
