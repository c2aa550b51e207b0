"""The command line: commands, progress, exit codes. Terminal output happens here and nowhere else.

`exits.EXIT_CODES` lists the exit codes.
"""

from __future__ import annotations

import click

from lookalike.apps.cli.algorithms import algorithms
from lookalike.apps.cli.apply import apply
from lookalike.apps.cli.attack import attack
from lookalike.apps.cli.attacks import attacks
from lookalike.apps.cli.audit import audit
from lookalike.apps.cli.compare import compare
from lookalike.apps.cli.demo import demo
from lookalike.apps.cli.exits import Commands
from lookalike.apps.cli.export import export
from lookalike.apps.cli.fidelity import fidelity
from lookalike.apps.cli.inspect import inspect
from lookalike.apps.cli.measure import measure
from lookalike.apps.cli.models import models
from lookalike.apps.cli.publish import publish
from lookalike.apps.cli.query import query
from lookalike.apps.cli.reproduce import reproduce
from lookalike.apps.cli.sample import sample
from lookalike.apps.cli.studio import studio
from lookalike.apps.cli.synthesize import synthesize
from lookalike.apps.cli.warm_up import warm_up
from lookalike.data.families import load_guests
from lookalike.version import __version__


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="lookalike")
def main() -> None:
    """Publish tables about people so that nobody can be singled out, and prove it.

    \b
    A first look:    lookalike demo
    In a browser:    lookalike studio
    Your own table:  lookalike inspect patients.csv
                     lookalike publish patients.csv --qi age,sex,zip --sensitive diagnosis \\
                               --model beta-likeness:2 --out release
    """
    load_guests()


for command in (
    demo, studio, inspect, publish, apply, compare, audit, measure, fidelity, query, sample, export, attack, synthesize,
    reproduce, models, algorithms, attacks, warm_up,
):  # fmt: skip
    main.add_command(command)
