"""Codes of drawn tables have one length."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

import lookalike as la
from lookalike.analysis.levels import CutCodes
from lookalike.data.schema import Kind, Schema


def test_codes_are_cut_alike() -> None:
    rows = [f"{region}{town:02d}{street}" for region in "0179" for town in range(4) for street in (1, 2, 5)]
    frame = pl.DataFrame({"zip": rows * 4, "ill": ["flu", "cold", "cough", "cold"] * len(rows)})
    schema = Schema.of(qi=["zip"], sensitive=["ill"])
    codes = replace(schema.attributes[0], kind=Kind.CATEGORICAL, taxonomy={"prefixes": [3, 1]})
    schema = Schema((codes, *schema.attributes[1:]))
    made = la.publish(frame, schema=schema, model="k-anonymity:9", seed=1)
    assert {cell.count("*") for cell in made.frame()["zip"]} & {1, 3}
    for world in la.sample(made, worlds=3, seed=1):
        cells = world["zip"].drop_nulls()
        assert cells.str.count_matches(r"\*").n_unique() == 1
        assert len(cells) > 0.9 * len(frame)
        assert set(cells.str.head(1)) == set("0179")


def test_a_cut() -> None:
    cut = CutCodes("zip", 3)
    values = pl.Series("zip", ["02139", "021**", "0****", None])
    assert cut.apply(values).to_list() == ["021**", "021**", None, None]
