"""`lookalike inspect`: roles, how identifying the table is, and the schema that it writes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.apps.cli.running import lookalike


def test_inspect_shows_roles_and_how_identifying_the_table_is(patients: Path, tmp_path: Path) -> None:
    schema = tmp_path / "schema.yaml"
    result = lookalike("inspect", patients, "--json", "--write-schema", schema)
    found = json.loads(result.stdout)
    roles = {column["name"]: column["suggested_role"] for column in found["columns"]}
    assert roles["patient_id"] == "identifier"
    assert roles["age"] == "quasi-identifier"
    assert roles["diagnosis"] == "sensitive"
    assert found["n_unique"] > 100
    text = lookalike("inspect", patients)
    assert "stand alone" in text.stdout
    assert text.returncode == 0
    again = lookalike("publish", patients, "--schema", schema, "--model", "k-anonymity:5", "--out", tmp_path / "out")
    assert again.returncode == 0, again.stderr
    assert "exists already" in lookalike("inspect", patients, "--write-schema", schema).stderr
