"""Schema files, and a table encoded under what they say."""

from __future__ import annotations

from fuzz.clinic import file_of, people
from fuzz.judging import tried
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema

SEEDS = (
    b"lookalike: 1\ncolumns:\n- {name: age, role: quasi-identifier, kind: numeric, domain: {low: 0, high: 110}}\n"
    b"- name: zip\n  role: quasi-identifier\n  taxonomy: {prefixes: [3, 2]}\n- {name: disease, role: sensitive}\n",
    b"columns:\n- {name: age, role: quasi-identifier, taxonomy: {intervals: [10, 50], origin: 5}, weight: 2.5}\n"
    b"- {name: disease, role: sensitive, kind: ordered, order: [a, b]}\n- {name: weight, role: carried}\n",
    b"columns:\n- name: zip\n  role: quasi-identifier\n  type: string\n"
    b"  taxonomy: {tree: {Any: {A: [x, y], B: [z]}}}\n",
    b"columns:\n- {name: weight, role: quasi-identifier, domain: {low: 2020-01-01, size: 5, values: [a, b]}}\n"
    b"- {name: age, role: quasi-identifier, taxonomy: {dates: [month, year]}}\n",
    b"columns:\n- {name: weight, role: quasi-identifier, taxonomy: {intervals: [0.1, 1]}}\n",
    b"a: &a [x, x]\nb: &b [*a, *a]\ncolumns: [{name: *b, role: sensitive}]\n",
)
WORDS = (b"columns", b"name", b"role", b"kind", b"type", b"weight", b"order", b"domain", b"low", b"high", b"size",
         b"values", b"taxonomy", b"tree", b"file", b"intervals", b"origin", b"prefixes", b"dates", b"month", b"age",
         b"zip", b"disease", b"quasi-identifier", b"sensitive", b"carried", b"numeric", b"ordered", b"categorical",
         b"integer", b"number", b"date", b"string", b"&a ", b"*a", b"<<: ", b"!!binary ", b"!!set ", b"!!python/x ",
         b".inf", b".nan", b"1e999", b"0x_1", b"1:2:3", b"2020-99-99", b"[", b"{", b"? ", b"- ", b"|\n",
         b"/dev/zero", b"~")  # fmt: skip


def run(data: bytes) -> None:
    path = file_of("schema.yaml", data)
    schemas: list[Schema] = []
    if tried(lambda: schemas.append(Schema.load(path)), named=data):
        tried(lambda: Schema.from_yaml(schemas[0].to_yaml()), named=data)
        tried(lambda: Microdata.encode(people(), schemas[0]), named=data)
