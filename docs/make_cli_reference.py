"""Writes docs/cli.md from the commands themselves: `python docs/make_cli_reference.py`.

`tests/docs` compares the page with `reference()`, so it cannot fall behind. Only names, help texts and
settings of click's objects are used, not its layout, which changes from version to version.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from lookalike.apps.cli import main

PAGE = Path(__file__).parent / "cli.md"

_OPENING = """# Command line

This page is made from the commands by `docs/make_cli_reference.py`; do not edit it by hand.

[Exit codes and errors](errors.md) says what each exit code means and what to do about each message.
"""


def reference() -> str:
    """The whole page."""
    return "\n".join((_OPENING, *(line for name in main.commands for line in _command(name, main.commands[name]))))


def _command(name: str, command: click.Command) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    yield f"## lookalike {name}"
    yield ""
    yield from _paragraphs(command.help or "")
    yield "```text"
    yield " ".join(["lookalike", name, *((argument.name or "").upper() for argument in arguments), "[OPTIONS]"])
    yield "```"
    yield ""
    yield "| option | meaning |"
    yield "|---|---|"
    for option in options:
        yield f"| {_flags(option)} | {_meaning(option)} |"
    yield ""


def _paragraphs(text: str) -> Iterator[str]:
    """Help texts as prose; a paragraph that click leaves as it is (after a backspace) as a block."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = paragraph.split("\n")
        if lines[0] == "\b":
            yield from ("```text", *lines[1:], "```")
        else:
            yield " ".join(lines)
        yield ""


def _flags(option: click.Option) -> str:
    flags = ", ".join(option.opts)
    if option.secondary_opts:
        return f"`{flags}` / `{', '.join(option.secondary_opts)}`"
    return f"`{flags}`" if option.is_flag else f"`{flags} {_placeholder(option)}`"


def _placeholder(option: click.Option) -> str:
    return option.metavar or option.type.name.split()[0].upper()


def _meaning(option: click.Option) -> str:
    said = [(option.help or "").strip()]
    if isinstance(option.type, click.Choice):
        said.append(f"One of {', '.join(f'`{choice}`' for choice in option.type.choices)}.")
    if option.show_default:
        said.append(f"Default: `{option.default}`.")
    if option.required:
        said.append("Required.")
    return " ".join(said).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
