"""One door for errors: the exception tree becomes exit codes and plain messages; nothing else is caught."""

from __future__ import annotations

import sys
from typing import Any

import click

from lookalike.cli.output import print_json
from lookalike.errors import AuditFailed, Infeasible, LookalikeError, MissingPart

BROKEN, USAGE, INFEASIBLE, MISSING_PART, INTERRUPTED = 1, 2, 3, 4, 130


def exit_code(error: LookalikeError) -> int:
    for kind, code in ((AuditFailed, BROKEN), (Infeasible, INFEASIBLE), (MissingPart, MISSING_PART)):
        if isinstance(error, kind):
            return code
    return USAGE


class Commands(click.Group):
    """A group that lists commands in the order of use and turns errors into exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LookalikeError as error:
            _say(str(error), type(error).__name__)
            ctx.exit(exit_code(error))
        except KeyboardInterrupt:
            _say("Interrupted. Nothing was written.", "Interrupted")
            ctx.exit(INTERRUPTED)
        except MemoryError:
            _say("The machine's memory is not enough for this table. Name fewer columns, or fewer rows.", "MemoryError")
            ctx.exit(USAGE)
        except BrokenPipeError:
            # The reader of our output went away (lookalike models | head): not an error of ours.
            sys.stderr.close()
            ctx.exit(0)


def _say(message: str, kind: str) -> None:
    click.echo(f"{click.style('Error', fg='red', bold=True)}: {message}", err=True)
    if "--json" in sys.argv:
        print_json({"error": {"kind": kind, "message": message}})
