"""Schemes: cells cover everything once, outer cells included, and publish the same for every table."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Microdata
from lookalike.data.release import ExtentCells
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.data.scheme import Cell, Cut, Scheme
from lookalike.errors import SchemaError
from lookalike.files.releases.cells import lay_out, print_cells
from lookalike.files.tables import read_columns

QUASI = Role.QUASI
AGE = Attribute(name="age", role=QUASI, kind=Kind.NUMERIC, type=ValueType.INTEGER, low=18, high=90, others=True)
SEX = Attribute(name="sex", role=QUASI, kind=Kind.CATEGORICAL, values=("F", "M"), others=True)
TREE = {"tree": {"any": {"12*": ["121", "122"], "13*": ["131"]}}}
ZIP = Attribute(
    name="zip", role=QUASI, kind=Kind.CATEGORICAL, type=ValueType.STRING, taxonomy=TREE, others=True, missing=True
)
STAGE = Attribute(name="stage", role=QUASI, kind=Kind.ORDERED, order=("I", "II", "III"), others=True)
WEIGHT = Attribute(
    name="weight", role=QUASI, kind=Kind.NUMERIC, type=ValueType.NUMBER, low=40.0, high=120.0, others=True
)
DAY = Attribute(
    name="day", role=QUASI, kind=Kind.NUMERIC, type=ValueType.DATE, low="2024-01-01", high="2024-01-31", missing=True
)
SCHEMA = Schema((AGE, SEX, ZIP, Attribute(name="diagnosis", role=Role.SENSITIVE)))
KD = Scheme(
    schema=SCHEMA,
    parts=(
        Cut("age", 40),
        Cell(),
        Cut("sex", "M"),
        Cut("zip", "13*"),
        Cell(),
        Cut("zip", "(missing)"),
        Cell(),
        Cell(),
        Cell(),
    ),
)


def encode(scheme: Scheme, **columns: list[Any]) -> Microdata:
    n_rows = len(next(iter(columns.values())))
    frame = pl.DataFrame({**columns, "diagnosis": ["flu"] * n_rows}, strict=False)
    return Microdata.encode(read_columns(frame, scheme.schema), scheme.schema)


def show(scheme: Scheme, data: Microdata) -> list[tuple[str | None, ...]]:
    """What each record's cell publishes, as text."""
    located = scheme.locate(data)
    texts = []
    for domain, extents in zip(data.domains.quasi, scheme.extents(data.domains.quasi, located), strict=True):
        field, entries, _ = lay_out(ExtentCells(domain, extents, np.arange(located.n_cells, dtype=np.int32)))
        texts.append(print_cells(field, entries).to_list())
    return [tuple(column[cell] for column in texts) for cell in located.cell_of_record.tolist()]


def test_cells_and_outer_cells_of_a_tree() -> None:
    data = encode(
        KD,
        age=[20, 40, 90, 41, 60, 44, 45, 10, 95],
        sex=["F", "M", "F", "F", "F", None, "X", "F", "M"],
        zip=["131", "121", "122", "131", None, "999", "122", "131", "121"],
    )
    assert KD.n_cells == 5
    assert show(KD, data) == [
        ("18..39", "*", "any"),
        ("40..90", "M", "any"),
        ("40..90", "F", "12*"),
        ("40..90", "F", "131"),
        ("40..90", "F", None),
        ("40..90", None, "(other)"),
        ("40..90", "(other)", "12*"),
        ("<=17", "*", "any"),
        (">=91", "M", "any"),
    ]
    located = KD.locate(data)
    assert located.n_cells == 9
    assert located.n_outside == {("age", 1): 1, ("age", 2): 1, ("sex", 3): 1, ("sex", 4): 1, ("zip", 3): 1}
    assert '1 record outside the scheme: "age" below 18.' in KD.describe_outside(located)


def test_full_domain_cells_are_products() -> None:
    scheme = Scheme(schema=SCHEMA, starts={"age": (30, 50), "zip": ("13*",)})
    data = encode(scheme, age=[18, 29, 30, 49, 50, 90], sex=["F"] * 6, zip=["121", "122", "131", None, "121", "131"])
    assert scheme.n_cells == 6
    assert [cells[0] for cells in show(scheme, data)] == ["18..29", "18..29", "30..49", "30..49", "50..90", "50..90"]
    assert scheme.locate(data).cell_of_record.tolist()[0] == scheme.locate(data).cell_of_record.tolist()[1]


def test_decimals_share_ends_and_days_do_not() -> None:
    schema = Schema((WEIGHT, DAY, STAGE, Attribute(name="diagnosis", role=Role.SENSITIVE)))
    scheme = Scheme(schema=schema, starts={"weight": (60.5,), "day": ("2024-01-16", "(missing)"), "stage": ("II",)})
    data = encode(
        scheme,
        weight=[60.4, 60.5, 300.0],
        day=["2024-01-15", "2024-01-16", None],
        stage=["I", "III", "IV"],
    )
    assert show(scheme, data) == [
        ("40..60.5", "2024-01-01..2024-01-15", "I"),
        ("60.5..120", "2024-01-16..2024-01-31", "II to III"),
        (">=120", None, "(other)"),
    ]


@given(st.data())
def test_every_record_lies_in_one_cell_that_does_not_depend_on_the_others(data: st.DataObject) -> None:
    ages = st.integers(0, 120)
    sexes, zips = st.sampled_from(["F", "M", "X", None]), st.sampled_from(["121", "122", "131", "999", None])
    rows = data.draw(st.lists(st.tuples(ages, sexes, zips), min_size=2, max_size=12))
    columns: dict[str, list[Any]] = {
        name: list(column) for name, column in zip(("age", "sex", "zip"), zip(*rows, strict=True), strict=True)
    }
    scheme = data.draw(st.sampled_from([KD, Scheme(schema=SCHEMA, starts={"age": (30, 60), "sex": ("M",)})]))
    together = encode(scheme, **columns)
    located, shown = scheme.locate(together), show(scheme, together)
    for row, values in enumerate(rows):
        alone = encode(scheme, age=[values[0]], sex=[values[1]], zip=[values[2]])
        # Neither the name of a cell nor what it publishes depends on which other records a table has.
        assert scheme.locate(alone).names == (located.names[located.cell_of_record[row]],)
        assert show(scheme, alone) == [shown[row]]
    # Different cells publish something different, and equal cells the same.
    names = [located.names[cell] for cell in located.cell_of_record.tolist()]
    assert len(set(names)) == len(set(zip(names, shown, strict=True))) == len(set(shown))


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        ((), "lacks 1 part"),
        ((Cut("age", 40), Cell()), "lacks 1 part"),
        ((Cell(), Cell()), "go on after"),
        ((Cut("age", 18), Cell(), Cell()), "outside its domain"),
        ((Cut("age", 91), Cell(), Cell()), "outside its domain"),
        ((Cut("age", 40), Cut("age", 40), Cell(), Cell(), Cell()), "where that part does not reach"),
        ((Cut("age", "old"), Cell(), Cell()), "no value of type integer"),
        ((Cut("age", 40.5), Cell(), Cell()), "no value of type integer"),
        ((Cut("sex", "F"), Cell(), Cell()), "where that part does not reach"),
        ((Cut("sex", "X"), Cell(), Cell()), "does not list"),
        ((Cut("sex", "(missing)"), Cell(), Cell()), "does not list"),
        ((Cut("zip", "14*"), Cell(), Cell()), "does not list"),
        ((Cut("agee", 40), Cell(), Cell()), 'Did you mean "age"'),
    ],
)
def test_parts_that_are_no_partition_are_refused(parts: tuple[Cut | Cell, ...], word: str) -> None:
    with pytest.raises(SchemaError, match=word):
        Scheme(schema=SCHEMA, parts=parts)


@pytest.mark.parametrize(
    ("attribute", "word"),
    [
        (Attribute(name="age", role=QUASI), "no kind"),
        (Attribute(name="age", role=QUASI, kind=Kind.NUMERIC), "Write its type"),
        (Attribute(name="age", role=QUASI, kind=Kind.NUMERIC, type=ValueType.INTEGER), "no declared domain"),
        (Attribute(name="sex", role=QUASI, kind=Kind.CATEGORICAL), "no declared values"),
    ],
)
def test_columns_need_a_declared_domain(attribute: Attribute, word: str) -> None:
    with pytest.raises(SchemaError, match=word):
        Scheme(schema=Schema((attribute,)), parts=(Cell(),))
