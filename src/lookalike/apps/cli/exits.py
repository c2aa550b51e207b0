"""One door for errors: the exception tree becomes exit codes and plain messages.

A fault of the software itself gets its own code, so that nobody takes a crash of `audit` for a verdict.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from lookalike import memory
from lookalike.apps.cli.output import UNREAD, print_json
from lookalike.errors import AuditFailed, Infeasible, LookalikeError, MissingPart
from lookalike.files.databases.address import without_passwords

BROKEN, USAGE, INFEASIBLE, _MISSING_PART, FAULT, _INTERRUPTED = 1, 2, 3, 4, 70, 130
_HUNG_UP, _TERMINATED = 129, 143
EXIT_CODES = {
    0: "done; for `audit`: every promise holds",
    BROKEN: "the promise does not hold",
    USAGE: "bad usage or bad data",
    INFEASIBLE: "no release of this table can keep the promise; the message names the closest promise that can be kept",
    _MISSING_PART: "a required package is not installed; the message says how to install it",
    FAULT: "a bug in lookalike; nothing was written",
    _HUNG_UP: "the terminal was closed; no half-written release was left behind",
    _INTERRUPTED: "interrupted (Ctrl-C); no half-written release was left behind",
    UNREAD: "standard output was closed early",
    _TERMINATED: "terminated; no half-written release was left behind",
}
"""All exit codes, for the documents."""


def exit_code(error: LookalikeError) -> int:
    for kind, code in ((AuditFailed, BROKEN), (Infeasible, INFEASIBLE), (MissingPart, _MISSING_PART)):
        if isinstance(error, kind):
            return code
    return USAGE


class _Terminated(BaseException):
    """Someone else asked the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


@contextmanager
def _stop_on_signals() -> Iterator[None]:
    """SIGTERM and a lost terminal end a command as Ctrl-C does: what it has put aside for the time being is removed."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # One that is ignored (nohup) stays so; Python allows handlers on its main thread only.
    on_main = threading.current_thread() is threading.main_thread()
    taken = [number for number in numbers if on_main and signal.getsignal(number) is signal.SIG_DFL]

    def stop(number: int, frame: object) -> None:
        # A second one must not disturb the cleaning up.
        for one in taken:
            signal.signal(one, signal.SIG_IGN)
        raise _Terminated(number)

    for number in taken:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


class Commands(click.Group):
    """A group that lists commands in the order of use and turns errors into exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        memory.check_addresses(memory.TO_START)
        return super().invoke(ctx)

    def main(
        self, args: Sequence[str] | None = None, prog_name: str | None = None, *extra: Any, **more: Any
    ) -> NoReturn:
        words = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in words
        code = 0
        try:
            with _stop_on_signals():
                code = super().main(words, prog_name, standalone_mode=False) or 0
        except click.exceptions.Exit as done:
            code = done.exit_code
        except click.ClickException as error:
            explained = _with_hint(error, words)
            explained.show()
            _as_json(as_json, {"kind": "Usage", "message": explained.format_message()})
            code = USAGE
        except LookalikeError as error:
            nearest = {"nearest": error.nearest} if isinstance(error, Infeasible) else {}
            _explain(str(error), type(error).__name__, as_json, **nearest)
            code = exit_code(error)
        except (KeyboardInterrupt, click.Abort, _Terminated) as end:
            if isinstance(end.__cause__, EOFError):  # click takes it for the end of what someone types
                sys.exit(_report_fault(end.__cause__, as_json))
            _say("Interrupted. No release was left half done.")
            # Python ends itself by the signal if that came inside an exec, even where it was caught.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code if isinstance(end, _Terminated) else _INTERRUPTED)
        except MemoryError:
            code = _out_of_memory(as_json)
        except BrokenPipeError:
            # The reader of our output went away (lookalike models | head): not an error of ours.
            sys.stdout = None
        except SystemExit:
            raise
        except BaseException as error:  # panics of libraries in Rust are no plain exceptions
            if memory.is_scarce():
                sys.exit(_out_of_memory(as_json))
            code = _report_fault(error, as_json)
        sys.exit(code)


def _report_fault(error: BaseException, as_json: bool) -> int:
    """Where it happened, but not what it says: a message from below could quote the data."""
    traceback.print_tb(error.__traceback__)
    message = f"A fault of the software ({type(error).__name__}), with nothing written. Please report it."
    _explain(message, "Fault", as_json)
    return FAULT


def _out_of_memory(as_json: bool) -> int:
    message = (
        "The memory that the process may take is not enough for this table. Name fewer columns, allow more (ulimit "
        "-v), or publish in parts on Spark (--backend spark)."
    )
    _explain(message, "MemoryError", as_json)
    return USAGE


_OTHER_COMMANDS = {
    "publish": "anonymize anonymise anon protect release generalize generalise mask",
    "audit": "verify check validate",
    "inspect": "look profile describe show summary",
    "synthesize": "synthesise generate synth",
    "query": "count select",
}


def _find_meant(error: click.UsageError, words: Sequence[str]) -> str | None:
    """What to write instead, where a promise or a command was written in another way; None if that is not clear."""
    from lookalike.models import MODELS
    from lookalike.models.shared.spelling import find_meant

    given = [part for word in words for part in (word.split("=", 1) if word.startswith("-") else [word])]
    if isinstance(error, click.NoSuchOption):
        option = error.option_name
        value = next((after for word, after in zip(given, given[1:], strict=False) if word == option), "")
        meant = find_meant(f"{option.lstrip('-')}={value}", MODELS)
        names_model = bool(meant) and "=" not in meant[0].partition(":")[0]
        return f"A promise is given by --model: write --model {meant[0]}." if names_model else None
    if "No such command" in error.message:
        named = next((word.casefold() for word in given if not word.startswith("-")), "")
        command = next((name for name, others in _OTHER_COMMANDS.items() if named in others.split()), None)
        return None if command is None else f"Write lookalike {command}."
    for option, name, value in zip(given, given[1:], given[2:], strict=False):
        if option == "--model" and f"({value})" in error.message:
            meant = find_meant(f"{name} {value}", MODELS)
            return f"Write --model {meant[0]}." if meant else None
    return None


def _with_hint(error: click.ClickException, words: Sequence[str]) -> click.ClickException:
    """The same, with what to do where the message only says what is wrong; words that were typed hold no password."""
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name == "models":
        said = (
            "Say what is promised. If you do not know: --model k-anonymity:5 --model beta-likeness:3. All promises: "
            "lookalike models."
        )
        return click.UsageError(said, error.ctx)
    kinds = ("unexpected extra argument", "No such")
    if isinstance(error, click.UsageError) and any(kind in error.message for kind in kinds):
        meant = _find_meant(error, words)
        if meant is not None:
            return click.UsageError(f"{without_passwords(error.message).rstrip('.')}. {meant}", error.ctx)
    if isinstance(error, click.UsageError) and "unexpected extra argument" in error.message:
        said = 'Several names are joined by commas, and one with a space is in quotes: --qi age,sex,"zip code".'
        return click.UsageError(f"{without_passwords(error.message)}. {said}", error.ctx)
    shown = error.format_message()
    if without_passwords(shown) != shown:
        return click.UsageError(without_passwords(shown), getattr(error, "ctx", None))
    return error


def _explain(message: str, kind: str, as_json: bool, **more: Any) -> None:
    _say(message)
    _as_json(as_json, {"kind": kind, "message": message, **more})


def _say(message: str) -> None:
    click.echo(f"{click.style('Error', fg='red', bold=True)}: {without_passwords(message)}", err=True)


def _as_json(wanted: bool, error: dict[str, Any]) -> None:
    if wanted:
        print_json({"error": {name: text and without_passwords(text) for name, text in error.items()}})
