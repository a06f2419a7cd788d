"""`hyperlens serve`: a page that shows a run while it goes on."""

from dataclasses import asdict
from typing import Annotated

import typer

from hyperlens.commands.options import Reading
from hyperlens.commands.signatures import expanded
from hyperlens.errors import SourceError


@expanded
def serve(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="Runs, or storages of runs.", show_default=False),
    ],
    reading: Reading,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on; another than this machine's asks for a token."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8450,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = False,
    token: Annotated[
        bool | None,
        typer.Option(
            "--token/--no-token",
            help="Ask for a token; by default where others can reach the page or have accounts here.",
        ),
    ] = None,
) -> None:
    from hyperlens.dashboard import server
    from hyperlens.dashboard.catalogue import Source

    if token is False and server.reachable(host):
        raise SourceError(
            f"Others can reach a page on {host}; leave out --no-token, or listen on 127.0.0.1."
        )
    wanted = server.reachable(host) or server.shared() if token is None else token
    secret = server.new_token() if wanted else None
    runs = [Source(where, **asdict(reading)) for where in sources]
    server.check(runs)
    with server.bind(host, port) as listening:
        address = server.address(host, listening, secret)
        typer.echo(f"Open {address} (stop with Ctrl+C)")
        if browser:
            typer.launch(address)
        server.serve(runs, host, listening, secret)
