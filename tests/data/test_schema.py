"""Schemas: the YAML people edit, roles by name, and messages that say what to mend."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import SchemaError

ODD_NAMES = [
    *("yes", "no", "null", "1.10", "007", "2020-01-01", "a: b", "# x", "- x", "'", '"', " lead", "trail ", "tab\tname"),
    *("line\nbreak", "\u00e9t\u00e9", "\u6771\u4eac", "{x}", "[x]", "*", "&a", "!tag", "%", "@", "`", "a,b", "="),
    *("\x85", "a\u2028b", "\u2029", "\U0001f600", "x" * 300, "many words " * 20),
]

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(ODD_NAMES)
finite = st.floats(allow_nan=False, allow_infinity=False)
bounds = st.none() | st.integers() | finite | texts | st.dates().map(str) | st.datetimes().map(str)


@st.composite
def taxonomies(draw: st.DrawFn) -> dict[str, Any]:
    trees: st.SearchStrategy[Any] = st.recursive(
        st.lists(texts, min_size=1, max_size=3), lambda inner: st.dictionaries(texts, inner, min_size=1, max_size=3)
    )
    forms = {
        "tree": st.dictionaries(texts, trees, min_size=1, max_size=1),
        "file": texts,
        "intervals": st.lists(st.integers(1, 100), min_size=1, max_size=3),
        "prefixes": st.lists(st.integers(1, 9), min_size=1, max_size=3),
        "dates": st.lists(st.sampled_from(["month", "year"]), min_size=1, max_size=2),
    }
    form = draw(st.sampled_from(sorted(forms)))
    return {form: draw(forms[form])}


@st.composite
def attributes(draw: st.DrawFn, name: str, roles: Sequence[Role]) -> Attribute:
    kind = draw(st.none() | st.sampled_from(Kind))
    listed = st.none() | st.lists(texts, unique=True, max_size=4).map(tuple)
    return Attribute(
        name=name,
        role=draw(st.sampled_from(roles)),
        kind=kind,
        type=draw(st.none() | st.sampled_from(ValueType)),
        weight=draw(st.floats(0, 1e9)),
        taxonomy=draw(st.none() | taxonomies()) if kind is not Kind.ORDERED else None,
        order=draw(listed) if kind in (None, Kind.ORDERED) else None,
        low=draw(bounds),
        high=draw(bounds),
        values=draw(listed),
        size=draw(st.none() | st.integers(1, 1000)),
    )


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(texts, unique=True, max_size=4))
    several = [role for role in Role if role not in (Role.PERSON, Role.HOUSEHOLD)]
    # One column at most says whose row it is, and one which household's.
    roles = [several + [role] for role in (Role.PERSON, Role.HOUSEHOLD)] + [several] * len(names)
    return Schema(tuple(draw(attributes(name, own)) for name, own in zip(names, roles, strict=False)))


@given(schemas())
def test_a_schema_survives_its_yaml(schema: Schema) -> None:
    assert Schema.from_yaml(schema.to_yaml()) == schema


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_survive_a_file(name: str, tmp_path: Path) -> None:
    schema = Schema((Attribute(name=name, role=Role.QUASI, values=(name,)),))
    (tmp_path / "schema.yaml").write_text(schema.to_yaml(), encoding="utf-8")
    assert Schema.load(tmp_path / "schema.yaml") == schema


def test_the_example_in_the_module_is_a_schema() -> None:
    from lookalike.data import schema as module

    example = (module.__doc__ or "").split("studio:\n")[1].split("\nA taxonomy")[0]
    schema = Schema.from_yaml("\n".join(line[4:] for line in example.splitlines()))
    assert [attribute.name for attribute in schema.attributes] == ["age", "zip code", "diagnosis"]
    assert (schema["age"].low, schema["age"].high) == (0, 110)
    assert schema["zip code"].taxonomy == {"prefixes": [3, 2]}
    assert schema["diagnosis"].role is Role.SENSITIVE


def from_columns(*lines: str) -> Schema:
    return Schema.from_yaml("columns:\n" + "".join(f"- {line}\n" for line in lines))


def test_dates_become_their_iso_text() -> None:
    day = from_columns("{name: born, role: quasi-identifier, domain: {low: 1900-01-01, high: 2024-12-31}}")["born"]
    assert (day.low, day.high) == ("1900-01-01", "2024-12-31")
    moment = from_columns("{name: seen, domain: {low: 2020-01-01 10:30:00}}")["seen"]
    assert moment.low == "2020-01-01 10:30:00"


def test_a_date_that_the_calendar_lacks_is_a_schema_error() -> None:
    with pytest.raises(
        SchemaError, match=r"not valid YAML: day is out of range for month\. Write text that is no date"
    ):
        from_columns("{name: born, domain: {low: 2020-02-30}}")


def test_values_and_orders_are_texts_as_the_table_shows_them() -> None:
    schema = from_columns(
        "{name: flag, domain: {values: [true, false]}}", "{name: grade, kind: ordered, order: [1, 2]}"
    )
    assert schema["flag"].values == ("true", "false")
    assert schema["grade"].order == ("1", "2")


def test_a_column_without_a_role_is_not_published() -> None:
    schema = from_columns("{name: note}", "{name: age, role: quasi-identifier}")
    assert schema["note"].role is Role.IDENTIFIER
    assert [attribute.name for attribute in schema.published] == ["age"]


@pytest.mark.parametrize("written", ["", "yes", "1.10", "~", "off"])
def test_names_that_yaml_does_not_read_as_text_are_refused(written: str) -> None:
    with pytest.raises(SchemaError, match="Write it in quotes"):
        from_columns(f"name: {written}")


def test_whole_numbers_are_names() -> None:
    assert from_columns("name: 2020").attributes[0].name == "2020"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{name: age, rolle: sensitive}", 'column "age": There is no setting "rolle". Did you mean "role"?'),
        ("{name: age, role: sensitiv}", 'There is no role "sensitiv". Did you mean "sensitive"?'),
        ("{name: age, kind: number}", 'There is no kind "number".'),
        ("{name: age, type: int}", 'There is no type "int".'),
        ("{name: age, domain: {hihg: 3}}", 'There is no domain setting "hihg". Did you mean "high"?'),
        ("{name: age, domain: [0, 99]}", "domain must be a mapping such as {low: 0, high: 110}"),
        ("{name: age, taxonomy: [3, 2]}", "taxonomy must be a mapping such as {prefixes: [3, 2]}"),
        ("{name: age, weight: heavy}", "weight and size must be numbers"),
        ("{name: age, domain: {size: many}}", "weight and size must be numbers"),
        ("{name: age, order: low}", "order must be a list"),
        ("{name: age, domain: {values: low}}", "values must be a list"),
        ("{name: age, domain: {values: [a, b, a]}}", "values names a value twice"),
        ("{name: age, order: [a, a]}", "order names a value twice"),
        ("{name: age, weight: -1}", "weight must be 0 or more, not -1.0"),
        ("{name: age, weight: .nan}", "weight must be 0 or more, not nan"),
        ("{name: age, weight: .inf}", "weight must be 0 or more, not inf"),
        ("{name: age, domain: {size: 0}}", "domain size must be 1 or more, not 0"),
        ("{name: age, kind: numeric, order: [a, b]}", "has an order but is numeric"),
        ("{name: age, kind: ordered, taxonomy: {prefixes: [1]}}", "is ordered and has a taxonomy"),
        ("{name: ''}", "A column has an empty name"),
        ("{role: sensitive}", "every entry of columns needs a name"),
        ("age", "every entry of columns needs a name"),
    ],
)
def test_what_is_wrong_with_a_column_is_said(line: str, said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        from_columns(line)
    assert said in str(caught.value)


def test_a_column_named_twice_is_refused() -> None:
    with pytest.raises(SchemaError, match='Column "age" is named twice'):
        from_columns("name: age", "name: age")


def test_invalid_yaml_is_said_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text("lookalike: 1\ncolumns:\n  - name: age\n    role: [\n")
    with pytest.raises(SchemaError, match=r"schema\.yaml is not valid YAML at line 5: "):
        Schema.load(path)


@pytest.mark.parametrize("text", ["", "3", "[a]", "columns: 3", "colums: []"])
def test_other_yaml_is_not_a_schema(text: str) -> None:
    with pytest.raises(SchemaError, match="must be a mapping with a list called columns"):
        Schema.from_yaml(text)


def test_other_formats_are_refused() -> None:
    with pytest.raises(SchemaError, match="has format 2; this version of lookalike reads 1. A newer one"):
        Schema.from_yaml("lookalike: 2\ncolumns: []")


def test_unreadable_files_are_said(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"Cannot read the schema .*none\.yaml: No such file"):
        Schema.load(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes("columns: [{name: \u00e9}]".encode("latin-1"))
    with pytest.raises(SchemaError, match="it is not UTF-8 text"):
        Schema.load(tmp_path / "latin.yaml")


def test_taxonomy_files_are_looked_for_beside_the_schema(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "tree.csv"
    columns = [
        {"name": "near", "taxonomy": {"file": "trees/near.csv"}},
        {"name": "far", "taxonomy": {"file": str(elsewhere)}},
        {"name": "none", "taxonomy": {"prefixes": [2]}},
    ]
    (tmp_path / "schema.yaml").write_text(yaml.safe_dump({"columns": columns}))
    schema = Schema.load(tmp_path / "schema.yaml")
    assert schema["near"].taxonomy == {"file": str(tmp_path / "trees" / "near.csv")}
    assert schema["far"].taxonomy == {"file": str(elsewhere)}
    assert schema["none"].taxonomy == {"prefixes": [2]}


def test_roles_from_lists_of_names() -> None:
    schema = Schema.of(qi=["age", "sex"], sensitive=["ill"], carry=["stay"], numeric=["age"], categorical=["stay"])
    assert [attribute.name for attribute in schema.attributes] == ["age", "sex", "ill", "stay"]
    assert [attribute.name for attribute in schema.quasi] == ["age", "sex"]
    assert [attribute.name for attribute in schema.sensitive] == ["ill"]
    assert [attribute.name for attribute in schema.carried] == ["stay"]
    assert [attribute.kind for attribute in schema.attributes] == [Kind.NUMERIC, None, None, Kind.CATEGORICAL]


def test_overriding_keeps_the_rest_of_a_column_and_its_place() -> None:
    given = from_columns("{name: zip, taxonomy: {prefixes: [3]}, weight: 2}", "{name: ill, role: sensitive}")
    schema = Schema.of(given, qi=["zip", "age"], numeric=["age"])
    assert [attribute.name for attribute in schema.attributes] == ["zip", "ill", "age"]
    assert schema["zip"] == Attribute(name="zip", role=Role.QUASI, weight=2.0, taxonomy={"prefixes": [3]})
    assert schema["ill"] == given["ill"]
    assert schema["age"] == Attribute(name="age", role=Role.QUASI, kind=Kind.NUMERIC)
    assert given["zip"].role is Role.IDENTIFIER
    assert Schema.of(given) == given


def test_a_column_gets_one_role_and_one_kind() -> None:
    with pytest.raises(SchemaError, match='"age" is named twice. Give it one role'):
        Schema.of(qi=["age"], sensitive=["age"])
    with pytest.raises(SchemaError, match='"age" is named twice. Give it one role'):
        Schema.of(qi=["age", "age"])
    with pytest.raises(SchemaError, match='"age" is named numeric and categorical. Give it one kind'):
        Schema.of(qi=["age"], numeric=["age"], categorical=["age"])


def test_a_kind_for_an_unknown_column_is_refused() -> None:
    with pytest.raises(SchemaError, match='"agee" is named numeric but has no role.*Did you mean "age"'):
        Schema.of(qi=["age"], numeric=["agee"])


def test_only_known_columns_can_be_looked_up_or_replaced() -> None:
    schema = Schema.of(qi=["age"])
    with pytest.raises(SchemaError, match='There is no column "Age". Did you mean "age"'):
        schema["Age"]
    with pytest.raises(SchemaError, match='There is no column "sex"'):
        schema.replace_attribute(Attribute(name="sex", role=Role.QUASI))


def test_settings_left_open_are_not_written() -> None:
    plain = yaml.safe_load(Schema.of(qi=["age"]).to_yaml())
    assert plain == {"lookalike": 1, "columns": [{"name": "age", "role": "quasi-identifier"}]}


def test_the_words_of_the_format() -> None:
    """Schemas on disk use these; a renamed one breaks every file."""
    roles = ["identifier", "quasi-identifier", "sensitive", "carried", "person", "household"]
    assert [str(role) for role in Role] == roles
    assert [str(kind) for kind in Kind] == ["numeric", "ordered", "categorical"]
    assert [str(type) for type in ValueType] == ["integer", "number", "date", "datetime", "boolean", "string"]
