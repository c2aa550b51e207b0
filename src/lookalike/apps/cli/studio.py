"""`studio`: the whole way in a browser."""

from __future__ import annotations

import click


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Which port; any that is free if not given.")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in your browser.")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=2048,
    show_default=True,
    metavar="MB",
    help="Largest file that may be dropped on the page; files opened by their path may have any size.",
)
def studio(port: int, browser: bool, most: int) -> None:
    """Load, promise, publish, judge and export in a browser, on this machine alone.

    The page is served to this machine only, and the link holds a secret: do not pass it on. Ctrl-C ends it, and removes
    what it kept for the time being.
    """
    from lookalike.apps.studio.serving import serve

    def ready(link: str) -> None:
        click.echo(f"lookalike studio: {link}\nCtrl-C ends it.")
        if browser:
            click.launch(link)

    serve(port=port, most_bytes=most << 20, ready=ready)
