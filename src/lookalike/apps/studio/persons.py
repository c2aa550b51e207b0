"""Whose rows a table has: persons beside rows, what to decide where persons repeat unsaid, and how their rows are
published. The words and the numbers are those of the library; the page shows them side by side."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.apps.studio.workspace import Project
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.person_columns import explain_repeated
from lookalike.data.person_settings import PersonSettings, StatedPersons
from lookalike.data.persons import number_pairs, renumber, total_of
from lookalike.errors import DataError, RecipeError, quoted

_SETTINGS = ("rows", "keep", "contribution", "number_known", "rows_are_persons")
_MOST_COLUMNS = 5
_LONGEST_VALUE = 40


def settings_of(project: Project) -> dict[str, Any]:
    """How the rows of one person are published, as `publish` takes it."""
    plain = asdict(project.persons)
    return {name: plain[name] for name in _SETTINGS}


def set_persons(project: Project, given: dict[str, Any]) -> None:
    """Other settings; raises `RecipeError` for those that mean nothing for this table."""
    if given["contribution"] is None and given["rows"] != "one":
        # Which rows are kept is no question where all are.
        given = {**given, "keep": PersonSettings().keep}
    settings = PersonSettings(**given)
    settings.check(person=project.schema.unit is not None)
    project.persons = settings


def refuse_repeated_rows(project: Project) -> None:
    """Raise `RecipeError` with the two ways out where rows would count as persons although persons repeat."""
    found = project.repeated()
    if found is not None and not project.persons.rows_are_persons:
        raise RecipeError(explain_repeated(found))


def name_unit(project: Project) -> dict[str, Any]:
    """Whose rows are counted, in short: for every page."""
    schema = project.schema
    return {
        "person": None if schema.person is None else schema.person.name,
        "household": None if schema.household is None else schema.household.name,
        "persons": settings_of(project),
        "n_persons": _count_units(project),
        "undecided": project.repeated() is not None and not project.persons.rows_are_persons,
    }


def _count_units(project: Project) -> int | None:
    """How many persons (households) there are; None where rows are counted."""
    unit = project.schema.unit
    if unit is None:
        return None
    return next(found.n_persons for found in project.inspection().persons if found.column == unit.name)


def describe_persons(project: Project) -> dict[str, Any]:
    """Persons and rows side by side; what is to be decided, if persons repeat unsaid; the settings in words."""
    schema, found = project.schema, project.repeated()
    unit = None if schema.unit is None else str(schema.unit.role)
    described: dict[str, Any] = {
        "unit": unit,
        "column": schema.unit and schema.unit.name,
        "settings": settings_of(project),
        "repeated": None
        if found is None
        else {
            "column": found.name,
            "rows": found.n_rows,
            "values": found.n_values,
            "most": found.most,
            "constant": list(found.constant),
            "reason": found.reason,
        },
        "problem": None,
        "figures": [],
        "left_out": None,
        "says": [],
        "advice": [],
    }
    if unit is not None and schema.quasi:
        described |= _measure(project)
        names = [None if each is None else each.name for each in (schema.person, schema.household)]
        if described["several"]:
            stated = StatedPersons(person=names[0], household=names[1], settings=project.persons)
            described["says"] = stated.sentences()
    described["advice"] = _advise(project)
    return described


def _advise(project: Project) -> list[str]:
    """What to look at again before persons are counted by these columns."""
    schema = project.schema
    said = [found.doubt for found in project.inspection().persons if found.declared and found.doubt]
    if schema.person is not None and schema.household is not None:
        said.append(
            f"Promises count households: a group of k households has at least k persons, but limits on values are "
            f"about households, not their members. To count persons, mark {quoted(schema.household.name)} as not "
            "published."
        )
    return said


def _measure(project: Project) -> dict[str, Any]:
    """What is different if persons are counted instead of rows."""
    unit = project.schema.unit
    assert unit is not None
    try:
        data = project.microdata()
    except DataError as refused:
        return {"several": False, "problem": str(refused)}
    if data.persons is None:
        return {"several": False}
    n_rows, n_persons = data.n_rows, data.n_persons
    rows_of_person = np.bincount(data.persons)
    rows, persons = _count_classes(data)
    figures: list[dict[str, Any]] = [
        {"what": "In the table", "rows": f"{n_rows:,}", "persons": f"{n_persons:,}"},
        {
            "what": f"Rows per {unit.role}",
            "rows": "",
            "persons": f"{n_rows / n_persons:.3g} on average, {int(rows_of_person.max()):,} at most",
        },
        {
            "what": "Alone with what others may know",
            "rows": _share(int((rows == 1).sum()), n_rows),
            "persons": _share(_count_alone(data, persons), n_persons),
        },
        {"what": "In the smallest group", "rows": f"{int(rows.min()):,}", "persons": f"{int(persons.min()):,}"},
    ]
    for index, domain in enumerate(data.domains.sensitive[:_MOST_COLUMNS]):
        figures.append(_compare_commonest(data, index, domain))
    return {"several": True, "figures": figures, "left_out": _count_left_out(rows_of_person, project.persons)}


def _classes(data: Microdata) -> NDArray[np.int64]:
    """Rows with the same quasi-identifiers have the same number."""
    classes = np.zeros(data.n_rows, dtype=np.int64)
    for codes in data.quasi.T:
        classes = renumber(number_pairs(classes, codes)).astype(np.int64)
    return classes


def _count_classes(data: Microdata) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows and the persons of each combination of quasi-identifiers."""
    assert data.persons is not None
    classes = _classes(data)
    firsts = np.unique(number_pairs(classes, data.persons), return_index=True)[1]
    return np.bincount(classes), np.bincount(classes[firsts])


def _count_alone(data: Microdata, persons: NDArray[np.int64]) -> int:
    """Persons with a row whose combination no other person has."""
    assert data.persons is not None
    return len(np.unique(data.persons[persons[_classes(data)] == 1]))


def _compare_commonest(data: Microdata, index: int, domain: Domain) -> dict[str, Any]:
    """How many rows, and how many persons, have the most frequent value."""
    by_rows, by_persons = data.counts(index), data.prior(index)
    code = int(by_persons.argmax())
    text = domain.texts[code]
    shown = text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}\N{HORIZONTAL ELLIPSIS}"
    return {
        "what": f"With {shown} in {domain.name}",
        "rows": _share(int(by_rows[code]), data.n_rows),
        "persons": _share(int(by_persons[code]), total_of(by_persons)),
    }


def _share(number: int, total: int) -> str:
    return f"{number:,} ({100 * number / total:.3g} %)"


def _count_left_out(rows_of_person: NDArray[np.int64], settings: PersonSettings) -> dict[str, int] | None:
    """How many rows, of how many persons, are left out by the settings."""
    if settings.most_rows is None:
        return None
    over = np.maximum(rows_of_person - settings.most_rows, 0)
    return {"rows": int(over.sum()), "persons": int((over > 0).sum())}
