"""`lookalike attacks`: all attacks with their parameters."""

from __future__ import annotations

import json

from tests.apps.cli.running import check_listing, lookalike


def test_attacks_are_listed() -> None:
    names = [row["name"] for row in json.loads(lookalike("attacks", "--json").stdout)["attacks"]]
    assert {"linkage", "naive-bayes", "minimality", "definetti", "corruption", "possible-worlds"} <= set(names)


def test_listing() -> None:
    check_listing("attacks")
