"""Groups as runs of an order: what they are made of."""

from __future__ import annotations

from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized, Grouped, RecordMap, Release
from lookalike.data.requirement import Requirement
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require as required_by
from lookalike.pipeline.recipe import settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.worlds import tiny_table

BINARY = "l-diversity:{},kind=binary,subset=p"


def required(data: Microdata, *models: str) -> tuple[Requirement, ...]:
    return required_by(settle([Promise(parse_model(text)) for text in models], data), data)


def groups_of(world: str, algorithm: Algorithm, *models: str) -> list[str]:
    """The values of each group along the line; what is left out is not there."""
    data = tiny_table(world, [*range(len(world))])
    release, linkage = algorithm.anonymize(data, required(data, *models), Randomness(3), silent)
    return ["".join(world[record] for record in members) for members in members_of(release, linkage)]


def members_of(release: Release, linkage: RecordMap) -> list[list[int]]:
    assert isinstance(release, Grouped | Bucketized)
    units = release.group_of_row if isinstance(release, Grouped) else release.bucket_of_sensitive
    found: dict[int, list[int]] = {}
    for unit, record in zip(units.tolist(), linkage.record_of_row.tolist(), strict=True):
        found.setdefault(unit, []).append(record)
    return sorted(sorted(members) for members in found.values())
