"""A process that makes runs, one after the other: `python -m lookalike.evaluation.compare.worker`.

It reads the table once and then tasks from standard input, and answers each on standard output, as pickles between a
parent and its own child. It ends when its input does. It writes no file.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import BinaryIO

from lookalike.data.guests import load_guests
from lookalike.evaluation.compare.running import execute


def _serve(given: BinaryIO, answers: BinaryIO) -> None:
    try:
        table, schema = pickle.load(given)
        while True:
            run = execute(pickle.load(given), table, schema)
            pickle.dump(run, answers)
            answers.flush()
    except (EOFError, BrokenPipeError):
        return


def _main() -> None:
    # Ctrl-C at the terminal reaches every process; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not come between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    load_guests()
    _serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    _main()
