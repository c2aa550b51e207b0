"""`warm-up`: compile in advance what the first run would compile."""

from __future__ import annotations

import time

import click

from lookalike.apps.cli.options import JSON
from lookalike.apps.cli.output import TerminalProgress, print_json


@click.command("warm-up")
@JSON
def warm_up(as_json: bool) -> None:
    """Compile the inner loops now, on all cores, so that no later command has to.

    \b
    In a Dockerfile:   RUN pip install /src && lookalike warm-up

    Compiled loops are kept in the user's cache folder (XDG_CACHE_HOME, or NUMBA_CACHE_DIR if it is set). They work
    only with this installation of lookalike and this kind of processor; others compile their own.
    """
    from lookalike.kernels import cache_folder, list_kernels
    from lookalike.pipeline.warm_up import find_missing
    from lookalike.pipeline.warm_up import warm_up as compile_all

    begin = time.perf_counter()
    with TerminalProgress() as progress:
        compiled = compile_all(progress=progress)
    n_kernels, missing, seconds = len(list_kernels()), find_missing(), round(time.perf_counter() - begin, 1)
    if as_json:
        cache = str(cache_folder())
        print_json({"kernels": n_kernels, "compiled": compiled, "seconds": seconds, "cache": cache, "missing": missing})
    elif missing:
        click.echo(f"{len(missing)} of {n_kernels} inner loops could not be compiled: {', '.join(missing)}.", err=True)
    elif compiled:
        click.echo(f"{compiled} of {n_kernels} inner loops compiled in {seconds} s, into {cache_folder()}.")
    else:
        click.echo(f"All {n_kernels} inner loops were compiled already, in {cache_folder()}.")
