"""`hyperlens mcp`: runs for assistants, over standard input and output."""

from dataclasses import asdict
from typing import Annotated

import typer

from hyperlens.commands.options import Reading
from hyperlens.commands.signatures import expanded


@expanded
def mcp(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE", help="Runs, storages or folders of runs.", show_default=False
        ),
    ],
    reading: Reading,
) -> None:
    """Only these runs can be asked about, by their keys; nothing is written."""
    from hyperlens.agents.protocol_server import server
    from hyperlens.dashboard.access.server import check, each_run
    from hyperlens.dashboard.catalogue import Source

    runs = tuple(each_run(Source(where, **asdict(reading)) for where in sources))
    made = server(runs)
    check(runs)
    made.run("stdio")
