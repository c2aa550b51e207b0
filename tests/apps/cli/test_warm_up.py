"""The command that compiles inner loops beforehand."""

from __future__ import annotations

import json

from lookalike.kernels import list_kernels
from tests.apps.cli.running import lookalike


def test_it_says_what_it_did_and_has_nothing_to_do_the_second_time() -> None:
    first = json.loads(lookalike("warm-up", "--json").stdout)
    assert first["kernels"] == len(list_kernels())
    assert first["missing"] == []
    told = lookalike("warm-up")
    assert told.returncode == 0
    assert told.stdout.startswith(f"All {first['kernels']} inner loops were compiled already, in ")
