"""Tables as codes: every kind and type of column, declared and observed domains, missing values, and the way back."""

from __future__ import annotations

import datetime
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import (
    Column,
    Domain,
    Microdata,
    Table,
    Whole,
    guess_kind,
    parse_number,
    rank_within,
    texts_of,
)
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.data.taxonomy import MISSING
from lookalike.errors import DataError, SchemaError
from tests.strategies import column_of

TREE = {"tree": {"any": {"left": ["b", "a"], "right": ["c"]}}}


def encoded(cells: list[Any], type: ValueType, **settings: Any) -> tuple[Domain, list[int]]:
    """One column as a quasi-identifier."""
    attribute = Attribute(name="c", role=Role.QUASI, **settings)
    data = Microdata.encode(Table((column_of("c", cells, type),)), Schema((attribute,)))
    assert not data.quasi.flags.writeable
    assert data.quasi.dtype == np.int32
    return data.domains.quasi[0], data.quasi[:, 0].tolist()


def decoded(domain: Domain, codes: list[int]) -> list[str]:
    return [domain.texts[code] for code in codes]


def test_numbers_are_coded_by_size() -> None:
    domain, codes = encoded([30, 7, 100, 7], ValueType.INTEGER)
    assert (domain.kind, domain.type, domain.attribute.type) == (Kind.NUMERIC, ValueType.INTEGER, ValueType.INTEGER)
    assert codes == [1, 0, 2, 0]
    assert domain.texts == ("7", "30", "100")
    assert domain.points.tolist() == [7.0, 30.0, 100.0]
    assert (domain.low, domain.high, domain.size, domain.declared) == (7.0, 100.0, 3, False)
    assert (domain.has_missing, domain.n_codes, domain.in_ranges) == (False, 3, True)


def test_texts_are_coded_by_name() -> None:
    domain, codes = encoded(["pear", "apple", "pear"], ValueType.STRING)
    assert (domain.kind, domain.texts, codes) == (Kind.CATEGORICAL, ("apple", "pear"), [1, 0, 1])
    assert (domain.size, domain.declared, domain.in_ranges) == (2, False, False)


def test_orders_are_coded_as_declared() -> None:
    domain, codes = encoded(["high", "low"], ValueType.STRING, order=("low", "middle", "high"))
    assert (domain.kind, domain.texts, codes) == (Kind.ORDERED, ("low", "middle", "high"), [2, 0])
    assert domain.points.tolist() == [0.0, 1.0, 2.0]
    assert (domain.low, domain.high, domain.size, domain.declared, domain.in_ranges) == (0.0, 2.0, 3, True, True)


def test_an_ordered_column_without_an_order_follows_its_values() -> None:
    domain, codes = encoded([30, 4], ValueType.INTEGER, kind=Kind.ORDERED)
    assert (domain.kind, domain.type, codes) == (Kind.ORDERED, ValueType.INTEGER, [1, 0])
    assert domain.points.tolist() == [0.0, 1.0]


def test_an_order_may_list_numbers() -> None:
    domain, codes = encoded([1, 3, 2], ValueType.INTEGER, order=("3", "1", "2"))
    assert (domain.texts, domain.type, codes) == (("3", "1", "2"), ValueType.STRING, [1, 0, 2])


def test_declared_values_may_be_more_than_observed() -> None:
    domain, codes = encoded(["b", None], ValueType.STRING, values=("c", "b", "a"))
    assert (domain.kind, domain.texts, codes) == (Kind.CATEGORICAL, ("c", "b", "a", MISSING), [1, 3])
    assert (domain.size, domain.declared) == (4, True)


def test_booleans_are_categories() -> None:
    domain, codes = encoded([1, 0, 1], ValueType.BOOLEAN)
    assert (domain.kind, domain.texts, codes) == (Kind.CATEGORICAL, ("false", "true"), [1, 0, 1])
    assert encoded([1, 0], ValueType.BOOLEAN, values=("true", "false"))[1] == [0, 1]


def test_digits_may_be_declared_categories() -> None:
    domain, codes = encoded([30, 4, 30], ValueType.INTEGER, kind=Kind.CATEGORICAL)
    assert (domain.kind, domain.in_ranges, codes) == (Kind.CATEGORICAL, False, [1, 0, 1])


def test_a_declared_size_is_what_loss_is_measured_against() -> None:
    domain, _ = encoded(["a", "b"], ValueType.STRING, size=50)
    assert (domain.size, domain.n_codes, domain.declared) == (50, 2, True)
    with pytest.raises(SchemaError, match="domain size 2 is declared, but the table has 3 values. Raise it"):
        encoded(["a", "b", None], ValueType.STRING, size=2)


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(0, 110, (0.0, 110.0, True)), ("0", "110.5", (0.0, 110.5, True)), (0, None, (0.0, 9.0, False))],
)
def test_declared_bounds_of_numbers(low: Any, high: Any, wanted: tuple[float, float, bool]) -> None:
    domain, _ = encoded([5, 9], ValueType.INTEGER, low=low, high=high)
    assert (domain.low, domain.high, domain.declared) == wanted


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(18, 99, (18.0, 99.0)), (18, None, (18.0, 18.0)), (None, -5, (-5.0, -5.0)), (None, None, (0.0, 0.0))],
)
def test_a_column_without_values_lies_where_it_is_declared(low: Any, high: Any, wanted: tuple[float, float]) -> None:
    domain, _ = encoded([None, None], ValueType.INTEGER, low=low, high=high)
    assert (domain.low, domain.high) == wanted


@pytest.mark.parametrize(("low", "high"), [(6, 10), (0, 8), (9, 5), ("6", None)])
def test_declared_bounds_that_leave_values_out_are_refused(low: Any, high: Any) -> None:
    with pytest.raises(DataError, match="the declared domain does not hold all values of the table") as caught:
        encoded([5, 9], ValueType.INTEGER, low=low, high=high)
    assert "5" not in str(caught.value)


@pytest.mark.parametrize("bound", [float("nan"), float("inf"), "-inf"])
def test_declared_bounds_must_be_finite(bound: Any) -> None:
    with pytest.raises(SchemaError, match="must be a finite number"):
        encoded([5, 9], ValueType.INTEGER, low=bound if bound == "-inf" else None, high=bound)


@pytest.mark.parametrize(
    ("type", "bound"), [(ValueType.INTEGER, "young"), (ValueType.DATE, "2020-13-01"), (ValueType.DATE, 3)]
)
def test_bounds_of_another_type_are_refused(type: ValueType, bound: Any) -> None:
    with pytest.raises(SchemaError, match=f"low {bound!r} is not a value of this column"):
        encoded([5, 9], type, low=bound)


def test_declared_bounds_of_dates() -> None:
    domain, codes = encoded([366, 0], ValueType.DATE, low="1969-12-31", high="1971-01-02")
    assert (domain.low, domain.high, domain.kind, codes) == (-1.0, 366.0, Kind.NUMERIC, [1, 0])
    assert domain.texts == ("1970-01-01", "1971-01-02")
    hour = 3600 * 10**6
    moments, _ = encoded([hour], ValueType.DATETIME, low="1970-01-01", high="1970-01-01T04:00:00+02:00")
    assert (moments.low, moments.high, moments.texts) == (0.0, 2.0 * hour, ("1970-01-01T01:00:00",))


@pytest.mark.parametrize("settings", [{"order": ("a",)}, {"values": ("a",)}])
def test_values_that_a_declaration_lacks_are_counted_and_not_shown(settings: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="has 1 value that its declared (order|values) lack") as caught:
        encoded(["a", "secret"], ValueType.STRING, **settings)
    assert "secret" not in str(caught.value)


def test_text_declared_numeric_is_refused() -> None:
    with pytest.raises(SchemaError, match='Column "c" is declared numeric but holds text') as caught:
        encoded(["1", "secret"], ValueType.STRING, kind=Kind.NUMERIC)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "type", "settings"),
    [
        ([5, None, 3], ValueType.INTEGER, {}),
        ([0.5, None, 0.25], ValueType.NUMBER, {}),
        (["x", None, "w"], ValueType.STRING, {}),
        (["low", None, "high"], ValueType.STRING, {"order": ("low", "middle", "high")}),
        (["c", None, "a"], ValueType.STRING, {"taxonomy": TREE}),
        ([11, None, 3], ValueType.INTEGER, {"taxonomy": {"intervals": [10]}}),
    ],
)
def test_missing_is_the_last_code(cells: list[Any], type: ValueType, settings: dict[str, Any]) -> None:
    domain, codes = encoded(cells, type, **settings)
    assert domain.has_missing
    assert codes[1] == domain.missing_code == domain.n_codes - 1 == len(domain.values)
    assert domain.texts[-1] == MISSING
    assert decoded(domain, codes) == [MISSING if cell is None else str(cell) for cell in cells]
    if domain.kind is Kind.CATEGORICAL:
        assert domain.size == domain.n_codes


@pytest.mark.parametrize(
    "settings", [{}, {"kind": Kind.NUMERIC}, {"order": ("a", "b")}, {"taxonomy": {"prefixes": [2]}}, {"values": ()}]
)
def test_a_column_of_nothing_but_missing_values(settings: dict[str, Any]) -> None:
    domain, codes = encoded([None, None], ValueType.STRING, **settings)
    assert decoded(domain, codes) == [MISSING, MISSING]
    assert codes == [domain.missing_code] * 2
    assert math.isfinite(domain.low)
    assert math.isfinite(domain.high)


@pytest.mark.parametrize(("cell", "type"), [(4, ValueType.INTEGER), ("x", ValueType.STRING)])
def test_a_column_of_one_value(cell: Any, type: ValueType) -> None:
    domain, codes = encoded([cell, cell], type)
    assert (codes, domain.n_codes, domain.size, domain.low == domain.high) == ([0, 0], 1, 1, True)


def test_leaves_of_a_tree_stand_in_its_order() -> None:
    domain, codes = encoded(["a", "c", "a"], ValueType.STRING, taxonomy=TREE)
    assert (domain.kind, domain.in_ranges, domain.declared, domain.size) == (Kind.CATEGORICAL, True, True, 3)
    assert domain.taxonomy is not None
    assert domain.taxonomy.leaves == domain.texts == ("b", "a", "c")
    assert codes == [1, 2, 1]


def test_numbers_under_a_taxonomy_keep_their_type() -> None:
    domain, codes = encoded([25, 3, 14], ValueType.INTEGER, taxonomy={"intervals": [10]})
    assert (domain.type, domain.kind, domain.declared) == (ValueType.INTEGER, Kind.CATEGORICAL, False)
    assert domain.values.tolist() == [3, 14, 25]
    assert codes == [2, 0, 1]
    scrambled = {"tree": {"any": {"x": ["25", "3"], "y": ["14"]}}}
    domain, codes = encoded([25, 3, 14], ValueType.INTEGER, taxonomy=scrambled)
    assert (domain.type, domain.values.tolist(), codes) == (ValueType.INTEGER, [25, 3, 14], [0, 1, 2])
    wider = {"tree": {"any": ["25", "3", "14", "99"]}}
    domain, codes = encoded([25, 3, 14], ValueType.INTEGER, taxonomy=wider)
    assert (domain.type, domain.texts, codes) == (ValueType.STRING, ("25", "3", "14", "99"), [0, 1, 2])


def test_dates_and_moments_under_a_taxonomy() -> None:
    domain, codes = encoded([400, 3], ValueType.DATE, taxonomy={"dates": ["month", "year"]})
    assert domain.taxonomy is not None
    assert (domain.taxonomy.labels[1:3], domain.texts, codes) == (
        ("1970", "1970-M01"),
        ("1970-01-04", "1971-02-05"),
        [1, 0],
    )
    moments, _ = encoded([3_600_000_000, 0], ValueType.DATETIME, taxonomy={"dates": ["day"]})
    assert moments.taxonomy is not None
    assert moments.taxonomy.labels[1] == "1970-01-01"


def test_texts_under_a_taxonomy_of_dates_are_refused() -> None:
    with pytest.raises(SchemaError, match="needs a column of dates"):
        encoded(["2020"], ValueType.STRING, taxonomy={"dates": ["year"]})


def test_an_order_and_a_taxonomy_are_too_much() -> None:
    with pytest.raises(SchemaError, match="is ordered and has a taxonomy"):
        encoded(["a"], ValueType.STRING, order=("a",), taxonomy=TREE)


def small_table() -> Table:
    return Table(
        (
            column_of("id", ["u", "v", "w"], ValueType.STRING),
            column_of("note", ["x", "x", "y"], ValueType.STRING),
            column_of("ill", ["flu", "hiv", "flu"], ValueType.STRING),
            column_of("age", [9, 3, 9], ValueType.INTEGER),
            column_of("pay", [1.5, 2.5, None], ValueType.NUMBER),
        ),
        source="people.csv",
    )


def test_columns_are_sorted_by_role_and_identifiers_are_gone() -> None:
    attributes = [Attribute(name="id", role=Role.IDENTIFIER), Attribute(name="gone", role=Role.IDENTIFIER)]
    schema = Schema.of(Schema(tuple(attributes)), qi=["age", "pay"], sensitive=["ill"], carry=["note"])
    data = Microdata.encode(small_table(), schema)
    assert [domain.name for domain in data.domains.all] == ["age", "pay", "ill", "note"]
    assert data.quasi.tolist() == [[1, 0], [0, 1], [1, 2]]
    assert data.sensitive.tolist() == [[0], [1], [0]]
    assert data.carried.tolist() == [[0], [0], [1]]
    assert data.n_rows == 3
    assert [attribute.name for attribute in data.schema.attributes] == ["id", "gone", "age", "pay", "ill", "note"]
    assert (data.schema["age"].kind, data.schema["age"].type) == (Kind.NUMERIC, ValueType.INTEGER)
    assert data.counts(0).tolist() == [2, 1]
    assert data.domains.sensitive_index("ill") == 0
    with pytest.raises(SchemaError, match='There is no sensitive column "age"'):
        data.domains.sensitive_index("age")


def test_codes_are_read_only_and_in_rows_whatever_they_were_taken_from() -> None:
    table = Table((column_of("a", [1, 2, 3], ValueType.INTEGER), column_of("b", [3, 2, 1], ValueType.INTEGER)))
    data = Microdata.encode(table, Schema.of(qi=["a", "b"]))
    some = replace(data, quasi=data.quasi[[2, 0]], carried=data.carried[:2])
    across = replace(data, quasi=np.asfortranarray(data.quasi))
    for codes in (data.quasi, data.sensitive, data.carried, some.quasi, some.carried, across.quasi):
        assert codes.flags.c_contiguous
        assert not codes.flags.writeable
    mine = data.quasi[[2, 0]]
    assert not replace(data, quasi=mine).quasi.flags.writeable
    mine[0] = 0


def test_counts_reach_values_that_do_not_occur() -> None:
    ill = Attribute(name="ill", role=Role.SENSITIVE, values=("flu", "tb", "hiv"))
    data = Microdata.encode(small_table(), Schema((Attribute(name="age", role=Role.QUASI), ill)))
    assert data.counts(0).tolist() == [2, 0, 1]


def test_without_sensitive_columns_there_are_still_rows() -> None:
    data = Microdata.encode(small_table(), Schema.of(qi=["age"]))
    assert data.sensitive.shape == data.carried.shape == (3, 0)


def test_what_cannot_be_encoded_is_said() -> None:
    with pytest.raises(SchemaError, match=r'There is no column "agee". Did you mean "age".*read from people\.csv'):
        Microdata.encode(small_table(), Schema.of(qi=["agee"]))
    with pytest.raises(SchemaError, match="No quasi-identifier is named"):
        Microdata.encode(small_table(), Schema.of(sensitive=["ill"]))
    empty = Table((column_of("age", [], ValueType.INTEGER),), source="people.csv")
    with pytest.raises(DataError, match=r"people\.csv has columns but no rows"):
        Microdata.encode(empty, Schema.of(qi=["age"]))


def test_tables_are_looked_up_by_name() -> None:
    table = small_table()
    assert (table.n_rows, table["pay"].n_missing, table["age"].n_missing) == (3, 1, 0)
    with pytest.raises(SchemaError, match='There is no column "Age". Did you mean "age"'):
        table["Age"]
    assert Table(()).n_rows == 0


@pytest.mark.parametrize("type", list(ValueType))
def test_kinds_are_guessed_from_types_with_a_reason(type: ValueType) -> None:
    kind, reason = guess_kind(Column("c", type, np.zeros(1, np.int32), np.zeros(1)))
    numeric = type not in (ValueType.STRING, ValueType.BOOLEAN)
    assert kind is (Kind.NUMERIC if numeric else Kind.CATEGORICAL)
    assert reason.startswith("its values are ")


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e22, "1" + "0" * 22), (1e-7, "0.0000001"), (0.1, "0.1"), (-5.0, "-5"), (123456789.125, "123456789.125")],
)
def test_numbers_print_without_exponents(value: float, text: str) -> None:
    assert texts_of(np.array([value]), ValueType.NUMBER) == [text]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_come_back_from_their_texts(values: list[float]) -> None:
    texts = texts_of(np.array(values), ValueType.NUMBER)
    assert not any("e" in text for text in texts)
    assert [parse_number(text, ValueType.NUMBER) for text in texts] == values


@given(st.lists(st.dates()))
def test_dates_come_back_from_their_texts(days: list[datetime.date]) -> None:
    numbers = np.array([(day - datetime.date(1970, 1, 1)).days for day in days], dtype=np.int64)
    texts = texts_of(numbers, ValueType.DATE)
    assert texts == [day.isoformat() for day in days]
    assert [parse_number(text, ValueType.DATE) for text in texts] == numbers.tolist()


@given(st.lists(st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2250, 1, 1))))
def test_moments_come_back_from_their_texts(moments: list[datetime.datetime]) -> None:
    micros = [(moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1) for moment in moments]
    texts = texts_of(np.array(micros, dtype=np.int64), ValueType.DATETIME)
    assert [datetime.datetime.fromisoformat(text) for text in texts] == moments
    assert [parse_number(text, ValueType.DATETIME) for text in texts] == micros


CELLS: dict[ValueType, st.SearchStrategy[Any]] = {
    ValueType.INTEGER: st.integers(-(2**63), 2**63 - 1),
    # Adding zero makes -0.0 the same text as 0.0.
    ValueType.NUMBER: st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
    ValueType.DATE: st.dates().map(lambda day: (day - datetime.date(1970, 1, 1)).days),
    ValueType.BOOLEAN: st.integers(0, 1),
    ValueType.STRING: st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5),
}


@given(st.data())
def test_codes_lead_back_to_the_cells(data: st.DataObject) -> None:
    type = data.draw(st.sampled_from(sorted(CELLS)))
    cells = data.draw(st.lists(CELLS[type] | st.none(), min_size=1, max_size=20))
    # As objects: an array of text drops NUL characters at the end.
    dtype = object if type is ValueType.STRING else None
    texts = [MISSING if cell is None else texts_of(np.array([cell], dtype=dtype), type)[0] for cell in cells]
    present = sorted({text for text, cell in zip(texts, cells, strict=True) if cell is not None})
    ways: list[dict[str, Any]] = [
        {},
        {"kind": Kind.CATEGORICAL},
        {"order": tuple(data.draw(st.permutations(present)))},
        {"values": (*data.draw(st.permutations(present)), "one more value")},
        {"taxonomy": {"tree": {"the root": [*data.draw(st.permutations(present)), "one more value"]}}},
    ]
    domain, codes = encoded(cells, type, **data.draw(st.sampled_from(ways)))
    assert decoded(domain, codes) == texts
    assert domain.has_missing == (None in cells)
    assert max(codes) < domain.n_codes == len(domain.texts)


def test_a_part_of_a_table_measures_promises_against_the_whole() -> None:
    schema = Schema.of(qi=["age"], sensitive=["ill"])
    columns = (column_of("age", [1, 2, 3, 4], ValueType.INTEGER), column_of("ill", [0, 1, 1, 1], ValueType.INTEGER))
    data = Microdata.encode(Table(columns), schema)
    assert (data.prior(0).tolist(), data.prior(None).tolist()) == ([1, 3], [4])
    part = replace(
        data,
        quasi=data.quasi[:2],
        sensitive=data.sensitive[:2],
        carried=data.carried[:2],
        whole=Whole(4, (data.counts(0),)),
    )
    assert part.counts(0).tolist() == [1, 1]
    assert (part.prior(0).tolist(), part.prior(None).tolist()) == ([1, 3], [4])


def test_records_are_ranked_within_their_value() -> None:
    assert rank_within(np.array([3, 1, 3, 3, 1], dtype=np.int32)).tolist() == [0, 0, 1, 2, 1]
