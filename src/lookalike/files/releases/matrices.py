"""The matrices of a perturbed release as they are published: in the descriptor, and as a file a column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lookalike.data.microdata import Domain
from lookalike.data.release import Perturbed, Randomizer, Release
from lookalike.files.releases.cells import MISSING, plain_escape


def value_keys(domain: Domain) -> list[str | None]:
    """The texts of a domain's codes; None for missing."""
    return [*domain.texts[: len(domain.values)], *([None] if domain.has_missing else [])]


def value_texts(keys: Sequence[str | None]) -> list[str]:
    """How values print in the file of a matrix."""
    return [MISSING if key is None else plain_escape(key) for key in keys]


def matrix_names(release: Release) -> list[str]:
    """A file name for the matrix of each perturbed column."""
    names: list[str] = []
    for domain in release.domains.sensitive if isinstance(release, Perturbed) else ():
        slug = re.sub(r"[^a-z0-9]+", "-", domain.name.casefold()).strip("-")[:60] or "column"
        taken = f"matrix-{slug}.csv"
        while taken in names:
            slug += "-2"
            taken = f"matrix-{slug}.csv"
        names.append(taken)
    return names


def matrices(release: Release) -> list[dict[str, Any]]:
    """The matrices as the descriptor has them."""
    if not isinstance(release, Perturbed):
        return []
    return [
        {
            "column": domain.name,
            "file": path,
            "values": value_keys(domain),
            "total": int(randomizer.total),
            "weights": [[int(weight) for weight in row] for row in randomizer.weights],
        }
        for domain, randomizer, path in zip(
            release.domains.sensitive, release.randomizers, matrix_names(release), strict=True
        )
    ]


def matrix_rows(domain: Domain, randomizer: Randomizer) -> tuple[list[str], list[str], list[int]]:
    """A matrix as rows: what a value became, what it was, and the weight of that."""
    texts = value_texts(value_keys(domain))
    n_codes = len(texts)
    became = [text for text in texts for _ in range(n_codes)]
    return became, texts * n_codes, [int(weight) for weight in randomizer.weights.ravel()]


def matrix_resource(path: str) -> dict[str, Any]:
    """A matrix as a Frictionless resource."""
    return {
        "profile": "tabular-data-resource",
        "name": path.removesuffix(".csv"),
        "path": path,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {
            "fields": [
                {"name": "became", "type": "string", "description": "The value in the release."},
                {"name": "was", "type": "string", "description": "The value of the person."},
                {"name": "weight", "type": "integer", "description": "Probability times the total in the manifest."},
            ],
            "missingValues": [],
        },
    }
