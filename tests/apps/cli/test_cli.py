"""The command line as a whole: every command is in its help, and every option is explained."""

from __future__ import annotations

import click

from lookalike.apps.cli import main
from tests.apps.cli.running import as_process


def test_help_names_every_command_and_every_option_has_help() -> None:
    text = as_process("--help").stdout
    for name, command in main.commands.items():
        assert name in text
        assert command.help
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, f"{name} {option.opts}"
