"""What is done to one part, wherever it lies: the local method, files, an audit of what was written, losses.

The records come in any order, so they are sorted by their codes first; randomness comes from the secret of the release
and the number of the part. So a part that is done again, elsewhere or later, comes out the same to the byte. The sorted
order depends on sensitive values: `Method.anonymize` numbers the records at random before the method sees them.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.audit import PartAudit, audit_part
from lookalike.data.contracts import Algorithm, Metric, PrivacyModel, Promise
from lookalike.data.microdata import Codes, Microdata
from lookalike.data.release import Bucketized, Perturbed, Randomizer, RecordMap, Release
from lookalike.data.requirement import Requirement
from lookalike.errors import AuditFailed, DataError, LookalikeError, Unsupported
from lookalike.files.releases.parts import WrittenPart, write_part
from lookalike.metrics import METRICS, PartLosses
from lookalike.pipeline.backends import Fragments
from lookalike.pipeline.parts.boxes import BoxTree
from lookalike.pipeline.parts.slices import SlicedBoxes
from lookalike.pipeline.parts.survey import Survey
from lookalike.pipeline.run import standard_measures
from lookalike.progress import silent
from lookalike.randomness import Randomness


@dataclass(frozen=True, eq=False)
class Done:
    """What is told of a part that was published: no rows, and nothing that grows with them."""

    number: int
    n_rows: int
    written: WrittenPart
    audit: PartAudit
    losses: PartLosses
    randomizers: tuple[Randomizer, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Failed:
    """Why a part could not be published."""

    number: int
    error: LookalikeError


@dataclass(frozen=True, eq=False, kw_only=True)
class PartWork:
    """The work on a part, ready to be sent."""

    survey: Survey
    promises: Sequence[Promise]
    requirements: Sequence[Requirement]
    algorithm: Algorithm
    adversary: str
    fragments: Fragments
    secret: Randomness
    folder: Path
    measures: Sequence[PrivacyModel] = field(default_factory=standard_measures)
    metrics: Sequence[type[Metric]] = field(default_factory=lambda: tuple(METRICS.values()))
    """Taken along: where the work is done, only what was imported is registered."""

    def __call__(self, number: int, codes: Codes) -> bytes:
        outcome: Done | Failed
        try:
            outcome = self.publish(number, codes)
        except LookalikeError as error:
            outcome = Failed(number, error)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            outcome = Failed(number, DataError(f"A part could not be written: {reason}. Nothing is published."))
        return pickle.dumps(outcome)

    def publish(self, number: int, codes: Codes) -> Done:
        if not self.folder.parent.is_dir():
            raise DataError(
                f"The machines that do the work cannot see the folder beside {self.folder.parent.parent}. Publish to a "
                "folder that all of them share under one name."
            )
        data = self.survey.records(codes[np.lexsort(codes.T[::-1])])
        release, linkage = self._anonymize(number, data)
        written, read = write_part(self.folder, number, release)
        audit = audit_part(
            read, data, self.promises, measures=self.measures, graph=linkage.graph, adversary=self.adversary
        )
        self._check_inside(number, codes, read)
        return Done(
            number=number,
            n_rows=data.n_rows,
            written=written,
            audit=audit,
            losses=PartLosses.of(read, data, self.metrics),
            randomizers=release.randomizers if isinstance(release, Perturbed) else (),
            remarks=linkage.remarks,
        )

    def _anonymize(self, number: int, data: Microdata) -> tuple[Release, RecordMap]:
        release, linkage = self.algorithm.anonymize(data, self.requirements, self.secret.child("part", number), silent)
        if isinstance(release, Bucketized):
            release = replace(
                release,
                bucket_of_quasi=self._set_apart(number, release.bucket_of_quasi),
                bucket_of_sensitive=self._set_apart(number, release.bucket_of_sensitive),
            )
        return release, linkage

    def _set_apart(self, number: int, buckets: NDArray[np.int32]) -> NDArray[np.int32]:
        """Bucket numbers that no other part has."""
        numbers = buckets.astype(np.int64) * self.fragments.n_parts + number
        if int(numbers.max(initial=0)) > np.iinfo(np.int32).max:
            raise Unsupported("There would be more than 2 billion bucket numbers. Make parts larger (--part-rows).")
        return numbers.astype(np.int32)

    def _check_inside(self, number: int, codes: Codes, read: Release) -> None:
        """Cells do not overlap, neither their records nor what is published of them: the audit in parts rests on it."""
        if not isinstance(self.fragments, BoxTree | SlicedBoxes):
            return
        strays = self.fragments.strays(number, codes, read)
        if strays:
            raise AuditFailed(
                f"Part {number} has {strays:,} records or groups that belong to another part. Nothing is written. This "
                "is a fault of the software, please report it."
            )
