"""What the values of a table's columns give away or spoil: identifiers, codes for missing values, totals, long tails.

Sentences for the user, in the order of what is worse. Only columns that would be published are looked at, and no value
of a record is shown. `publish` says the same, and refuses identifiers.
"""

from __future__ import annotations

from collections.abc import Mapping

from lookalike.data.long_tails import note_tails
from lookalike.data.microdata import Table
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.data.suspect_codes import count_values, note_codes_of
from lookalike.data.total_rows import note_totals
from lookalike.files.identifiers.values import examine_column, is_shown

_NOTHING_HELD: Mapping[str, tuple[dict[str, int], int]] = {}
_PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.CARRIED)


def note_values(
    table: Table,
    roles: Mapping[str, Role | None],
    schema: Schema | None,
    held: Mapping[str, tuple[dict[str, int], int]] = _NOTHING_HELD,
) -> tuple[str, ...]:
    """Sentences about the values of columns in these roles; `schema`: what is declared of them.

    `held`: identifiers that were found in columns already.
    """
    declared = {} if schema is None else {attribute.name: attribute for attribute in schema.attributes}
    attributes: dict[str, Attribute] = {}
    for name, role in roles.items():
        if role in _PUBLISHED:
            attributes[name] = declared.get(name, Attribute(name=name, role=role))
    columns = [(table[name], attribute) for name, attribute in attributes.items()]
    identified = (
        examine_column(
            attribute,
            column.type,
            column.values,
            shown=is_shown(attribute, column.type),
            found=held.get(column.name),
        )
        for column, attribute in columns
    )
    # Whether texts that may be dates are a long tail is open until someone says what they are.
    settled = [(column, attribute) for column, attribute in columns if not column.question]
    return (
        *(found.sentence for found in identified if found is not None),
        *note_totals(table),
        *note_codes_of(table, attributes),
        *note_tails((column, count_values(column), attribute) for column, attribute in settled),
    )
