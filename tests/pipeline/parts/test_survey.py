"""A survey of different values gives the same domains, counts and codes as the table itself."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import lookalike as la
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema
from lookalike.errors import DataError, SchemaError
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.parts.survey import survey

CELLS = {
    "whole": st.integers(-5, 5) | st.none(),
    "real": st.sampled_from([0.0, -0.0, 0.5, float("nan"), 1e9]) | st.none(),
    "text": st.sampled_from(["", "a", "b c", "NA", "Ä"]) | st.none(),
    "day": st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 1, 5)) | st.none(),
    "yes": st.booleans() | st.none(),
}


def join_codes(data: Microdata) -> NDArray[np.int32]:
    """Records as one matrix of codes, in the order of `Survey.names`."""
    return np.column_stack([data.quasi, data.sensitive, data.carried])


@given(st.data())
def test_the_same_as_reading_the_table(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(1, 30))
    cells = {name: data.draw(st.lists(each, min_size=n_rows, max_size=n_rows)) for name, each in CELLS.items()}
    cells["ill"] = data.draw(st.lists(st.sampled_from("xyz"), min_size=n_rows, max_size=n_rows))
    types = {"whole": pl.Int64, "real": pl.Float64, "text": pl.String, "day": pl.Date, "yes": pl.Boolean}
    frame = pl.DataFrame(cells, schema_overrides=types)
    schema = Schema.of(qi=[*types], sensitive=["ill"])
    plain = Microdata.encode(la.read_table(frame), schema)
    backend = LocalBackend(frame)
    seen = survey(backend, schema)
    assert seen.n_rows == n_rows
    assert seen.data.prior(0).tolist() == plain.counts(0).tolist()
    for one, other in zip(seen.data.domains.all, plain.domains.all, strict=True):
        assert (one.attribute, one.texts, one.low, one.high, one.size) == (
            other.attribute,
            other.texts,
            other.low,
            other.high,
            other.size,
        )
    codes = pickle.loads(pickle.dumps(seen.coding))([frame[name] for name in seen.names])
    assert (codes == join_codes(plain)).all()
    assert codes.dtype == np.int32


def test_texts_of_a_file_are_typed_as_in_any_csv_file(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n,d,t\n1,2024-01-05,007\n?,2024-01-06,12\n 3,,12\n")
    schema = Schema.of(qi=["n", "d"], sensitive=["t"])
    plain = Microdata.encode(la.read_table(path), schema)
    frame = pl.read_csv(path, infer_schema=False)
    seen = survey(LocalBackend(frame, is_text=True, source="t.csv"), schema)
    assert [domain.type for domain in seen.data.domains.all] == [domain.type for domain in plain.domains.all]
    codes = seen.coding([frame[name] for name in seen.names])
    assert (codes == join_codes(plain)).all()


def test_a_value_that_was_not_there_before_is_noticed_and_not_shown() -> None:
    frame = pl.DataFrame({"age": [1, 2], "ill": ["x", "y"]})
    seen = survey(LocalBackend(frame), Schema.of(qi=["age"], sensitive=["ill"]))
    with pytest.raises(DataError, match="changed while it was read") as caught:
        seen.coding([pl.Series([1, 77]), pl.Series(["x", "y"])])
    assert "77" not in str(caught.value)


def test_what_cannot_be_published_is_refused_in_words() -> None:
    empty = LocalBackend(pl.DataFrame({"age": [], "ill": []}, schema={"age": pl.Int64, "ill": pl.String}))
    with pytest.raises(DataError, match="no rows"):
        survey(empty, Schema.of(qi=["age"], sensitive=["ill"]))
    some = LocalBackend(pl.DataFrame({"age": [1], "ill": ["x"]}))
    with pytest.raises(SchemaError, match="Did you mean"):
        survey(some, Schema.of(qi=["agee"], sensitive=["ill"]))
    schema = Schema.of(qi=["ill"], sensitive=["age"])
    from dataclasses import replace

    typed = Schema(tuple(replace(each, type="integer") if each.name == "ill" else each for each in schema.attributes))
    with pytest.raises(DataError, match="1 value does not fit"):
        survey(some, typed)
