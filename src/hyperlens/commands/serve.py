"""`hyperlens serve`: a page that shows a run while it goes on."""

from dataclasses import asdict
from typing import Annotated

import typer

from hyperlens.commands.options import Reading
from hyperlens.commands.signatures import expanded


@expanded
def serve(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE", help="Runs, storages or folders of runs.", show_default=False
        ),
    ],
    reading: Reading,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on; any but this machine's own asks for a token."),
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
    root_path: Annotated[
        str,
        typer.Option(help="Path below which a proxy shows the page, as in /hyperlens."),
    ] = "",
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Name by which browsers reach a proxy before the page, with a port unless it is the "
            "usual one; repeatable.",
        ),
    ] = None,
) -> None:
    from hyperlens.dashboard.access import server
    from hyperlens.dashboard.access.root_path import clean
    from hyperlens.dashboard.catalogue import Source

    path, proxies = clean(root_path), tuple(allowed_host or ())
    secret = server.token_for(host, token, proxies)
    runs = server.each_run(Source(where, **asdict(reading)) for where in sources)
    server.check(runs)
    with server.bind(host, port) as listening:
        address = server.address(host, listening, secret, path)
        typer.echo(f"Open {address} (stop with Ctrl+C)")
        for name in proxies:
            typer.echo(f"or, through the proxy, https://{name}{path}/{_query(secret)}")
        if browser:
            typer.launch(address)
        server.server(runs, host, secret, proxies, path).run(sockets=[listening])


def _query(secret: str | None) -> str:
    return f"?token={secret}" if secret else ""
