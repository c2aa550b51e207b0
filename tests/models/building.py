"""Small sensitive columns, exposures and models for the tests of models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from lookalike.data.adversary import READS_RELEASE
from lookalike.data.exposure import Exposure, counted_exposure
from lookalike.data.microdata import Domain
from lookalike.data.schema import Attribute, Kind, Role, ValueType
from lookalike.data.taxonomy import Taxonomy


def categories(n_values: int, *, kind: Kind = Kind.CATEGORICAL, missing: bool = False) -> Domain:
    """A column of values a, b, c ... (or v0, v1 ... if there are many)."""
    texts = [chr(97 + code) if n_values <= 26 else f"v{code}" for code in range(n_values)]
    attribute = Attribute(name="diagnosis", role=Role.SENSITIVE, kind=kind)
    values = np.array(texts, dtype=object)
    return Domain(attribute, ValueType.STRING, values, missing, 0.0, n_values - 1.0, n_values + missing, False)


def numbers(values: Sequence[int], *, missing: bool = False) -> Domain:
    attribute = Attribute(name="salary", role=Role.SENSITIVE, kind=Kind.NUMERIC)
    array = np.array(values, dtype=np.int64)
    return Domain(attribute, ValueType.INTEGER, array, missing, float(min(values)), float(max(values)), 1, False)


def with_tree(paths: Sequence[tuple[str, ...]]) -> Domain:
    tree = Taxonomy.from_paths(paths)
    attribute = Attribute(name="diagnosis", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
    leaves = np.array(tree.leaves, dtype=object)
    return Domain(attribute, ValueType.STRING, leaves, False, 0.0, 0.0, tree.n_leaves, True, tree)


def exposure_of(
    groups: Sequence[Sequence[int]], column: Domain | None = None, prior: Sequence[int] | None = None
) -> Exposure:
    """Groups given by their counts of each value; the table is what they add up to, unless said."""
    counts = np.array(groups, dtype=np.int64)
    n_groups, n_codes = counts.shape
    column = column or categories(n_codes)
    unit_of_row = np.repeat(np.arange(n_groups), counts.sum(axis=1))
    codes = np.concatenate([np.repeat(np.arange(n_codes), group) for group in counts]).astype(np.int32)
    return counted_exposure(
        unit_of_row,
        codes,
        n_groups,
        adversary=READS_RELEASE,
        form="grouped",
        column=column,
        prior=counts.sum(axis=0) if prior is None else np.array(prior, dtype=np.int64),
    )


def weighed(weights: Sequence[Sequence[int]], prior: Sequence[int], *, form: str = "perturbed") -> Exposure:
    """An exposure by weights of any size: row r of `weights` is the unit of published value r."""
    units = [[(code, weight) for code, weight in enumerate(row) if weight] for row in weights]
    return Exposure(
        adversary=READS_RELEASE,
        form=form,
        column=categories(len(prior)),
        prior=np.array(prior, dtype=np.int64),
        starts=np.cumsum([0, *(len(unit) for unit in units)]),
        values=np.array([code for unit in units for code, _ in unit], dtype=np.int32),
        weights=np.array([weight for unit in units for _, weight in unit], dtype=np.int64),
        sizes=np.array([sum(row) for row in weights], dtype=np.int64),
    )


@st.composite
def partitions(draw: st.DrawFn, max_groups: int = 4, max_count: int = 5) -> list[list[int]]:
    """The counts of some groups, none empty, over two to five values that all occur."""
    n_codes = draw(st.integers(2, 5))
    group = st.lists(st.integers(0, max_count), min_size=n_codes, max_size=n_codes).filter(any)
    groups = draw(st.lists(group, min_size=1, max_size=max_groups))
    for code in range(n_codes):
        if not any(counts[code] for counts in groups):
            groups[draw(st.integers(0, len(groups) - 1))][code] = 1
    return groups


def identities(sizes: list[int], concealed: list[int] | None = None) -> Exposure:
    return counted_exposure(
        np.repeat(np.arange(len(sizes)), sizes),
        None,
        len(sizes),
        adversary=READS_RELEASE,
        form="matched" if concealed else "grouped",
        column=None,
        prior=np.array([sum(sizes)]),
        concealed=None if concealed is None else np.array(concealed),
    )
