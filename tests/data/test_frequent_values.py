from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.data.frequent_values import describe_frequent, name_frequent, set_cells, wants_frequent
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Attribute, Kind, Role, Schema
from lookalike.errors import RecipeError, SchemaError, Unsupported

LEAST = 4


def towns(n_rows: int = 200) -> pl.DataFrame:
    """Few frequent towns and many rare ones, which are named by a secret word."""
    frequent = ["Bern", "Thun", "Worb"]
    return pl.DataFrame(
        {
            "age": [20 + row % 7 for row in range(n_rows)],
            "town": [frequent[row % 3] if row % 4 else f"hamlet-{row}" for row in range(n_rows)],
            "ill": ["abcd"[row % 4] for row in range(n_rows)],
        }
    )


def publish(table: Any, **asked: Any) -> Any:
    usual: dict[str, Any] = {"qi": ["age", "town"], "sensitive": "ill", "model": "k-anonymity:3", "seed": 1}
    return la.publish(table, **{**usual, "algorithm": "mondrian", "frequent": {"town": LEAST}, **asked})


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=60), st.integers(2, 9))
def test_exactly_the_values_of_enough_rows_keep_their_names(values: list[str], least: int) -> None:
    read = la.read_table(pl.DataFrame({"town": values}))
    schema = Schema((Attribute(name="town", role=Role.QUASI, taxonomy={"frequent": least}),))
    data = Microdata.encode(read, schema)
    times = Counter(values)
    (domain,) = data.domains.quasi
    assert domain.attribute.values == tuple(sorted(value for value, count in times.items() if count >= least))
    assert domain.n_outside == sum(count < least for count in times.values())
    shown = [domain.texts[code] for code in data.quasi[:, 0]]
    assert shown == [value if times[value] >= least else "(other)" for value in values]


def test_persons_are_counted_and_not_their_rows() -> None:
    rows = {"who": [1] * 6 + [2, 3, 4], "town": ["one person's"] * 6 + ["Bern"] * 3}
    read = la.read_table(pl.DataFrame(rows))
    person = Attribute(name="who", role=Role.PERSON)
    data = Microdata.encode(read, Schema((person, Attribute(name="town", role=Role.QUASI, taxonomy={"frequent": 3}))))
    assert data.domains.quasi[0].attribute.values == ("Bern",)


def test_rare_values_are_in_no_file(tmp_path: Path) -> None:
    made = publish(towns())
    made.write(tmp_path / "release")
    for path in (tmp_path / "release").rglob("*"):
        assert path.is_dir() or b"hamlet" not in path.read_bytes(), path.name
    assert la.verify(towns(), tmp_path / "release").passed
    assert any(
        '"town": 3 values of at least 4 rows keep their names; 50 other values became (other).' in note
        for note in made.notes
    )
    published = Schema.load(tmp_path / "release" / "schema.yaml")["town"]
    assert (published.values, published.others, published.taxonomy) == (("Bern", "Thun", "Worb"), True, None)


def test_other_loses_as_many_values_as_it_stands_for() -> None:
    # One group: a cell with everything loses all, as any value of the 53 may be behind it.
    whole = publish(towns(), model="k-anonymity:200")
    assert whole.made.loss_by_column["town"] == 1.0
    apart = publish(
        pl.DataFrame({"age": [1] * 8, "town": ["Bern"] * 4 + list("abcd"), "ill": ["x"] * 8}), model="k-anonymity:4"
    )
    # Four rows lose nothing; four show (other), which is one of four values in a domain of five.
    assert apart.made.loss_by_column["town"] == pytest.approx(0.5 * (4 - 1) / (5 - 1))


def test_parts_and_the_whole_name_the_same_values(tmp_path: Path) -> None:
    table = towns(4000)
    parts = publish(table, part_rows=1000, out=tmp_path / "parts", frequent={"town": 600})
    whole = publish(table, frequent={"town": 600})
    ours, theirs = (made.made.domains.quasi[1] for made in (whole, parts))
    assert (ours.texts, ours.n_outside, ours.size) == (theirs.texts, theirs.n_outside, theirs.size)
    assert la.verify(table, tmp_path / "parts").passed
    assert b"hamlet" not in b"".join(path.read_bytes() for path in (tmp_path / "parts").rglob("*") if path.is_file())


def test_what_contradicts_is_refused() -> None:
    spec: dict[str, Any] = {"name": "town", "role": Role.QUASI, "taxonomy": {"frequent": 5}}
    nobody = np.array([5])
    for change, said in [
        ({"taxonomy": {"frequent": 1}}, "whole number from 2"),
        ({"taxonomy": {"frequent": "many"}}, "whole number from 2"),
        ({"taxonomy": {"frequent": 5, "origin": 1}}, "stands alone"),
        ({"role": Role.SENSITIVE}, "quasi-identifiers"),
        ({"kind": Kind.NUMERIC}, "makes categories"),
        ({"values": ("a",)}, "declared"),
    ]:
        with pytest.raises(SchemaError, match=said):
            name_frequent(Attribute(**{**spec, **change}), ["a"], nobody)
    with pytest.raises(SchemaError, match="Publish in one piece"):
        name_frequent(Attribute(**spec), ["a"], None)
    with pytest.raises(Unsupported, match="without noise"):
        la.synthesize(towns(), epsilon=1, schema=Schema((Attribute(**spec),)))


def test_no_scheme_is_made_of_values_that_became_other(tmp_path: Path) -> None:
    listed = Schema((Attribute(name="town", role=Role.QUASI, values=("Bern",), others=True),))
    for asked in ({"qi": ["town"]}, {"schema": listed, "qi": (), "frequent": {}}):
        with pytest.raises(Unsupported, match='No scheme can be made of "town"'):
            publish(towns(), algorithm="mondrian-strict", scheme_out=tmp_path / "scheme.yaml", **asked)


def test_settings_of_cells_are_checked() -> None:
    schema = Schema.of(qi=["town"])
    assert wants_frequent(set_cells(schema, {"town": 3})["town"])
    assert describe_frequent(schema, (), "row") == ()
    assert set_cells(schema, longest_set=7)["town"].longest_set == 7
    assert set_cells(schema, keep_identifiers="town")["town"].keep_identifiers
    for wrong in ({"frequent": {"town": 2.5}}, {"longest_set": -1}):
        with pytest.raises(RecipeError):
            set_cells(schema, **wrong)  # type: ignore[arg-type]
