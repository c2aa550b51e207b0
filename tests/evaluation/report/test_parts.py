"""The report of a release made in parts: what one of the whole says, without its rows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from lookalike.algorithms import parse_algorithm
from lookalike.apps.samples import hospital, sample_schema
from lookalike.audit import JoinedAudit, audit_part, expose, join_audits
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Whole
from lookalike.data.release import Grouped, Withheld
from lookalike.data.schema import Schema
from lookalike.data.statement import Statement
from lookalike.evaluation.report import Basis, Report, to_html
from lookalike.evaluation.report.basis import MADE_IN_PARTS, size_lines
from lookalike.metrics import METRICS
from lookalike.metrics.shared.losses import PartLosses, ShownRanges, join_losses
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from lookalike.pipeline.recipe import Recipe, require
from lookalike.pipeline.run import MadeInParts, standard_measures
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.audit.making import mixed_table, mixing_matrix, moved, perturbed

N_PARTS = 3


class Made(NamedTuple):
    data: Microdata
    promises: tuple[Promise, ...]
    releases: list[Grouped]
    parts: list[Microdata]
    joined: JoinedAudit
    report: Report


def basis_of(data: Microdata, promises: tuple[Promise, ...], found: JoinedAudit, losses: list[PartLosses]) -> Basis:
    total, by_column = join_losses(losses, METRICS.values())
    columns = ((index, found.exposure(domain.name)) for index, domain in enumerate(data.domains.sensitive))
    return Basis.of(
        MadeInParts(
            recipe=Recipe(schema=data.schema, promises=tuple(promises)),
            promises=tuple(promises),
            algorithm=parse_algorithm("mondrian"),
            domains=data.domains,
            audit=found.audit,
            withheld=found.withheld,
            seen={index: exposure for index, exposure in columns if exposure is not None},
            crowds=found.sizes,
            losses=total,
            loss_by_column=by_column,
            ranges=ShownRanges.join([part.shown for part in losses]),
            notes=(),
            seconds={},
            parts=(),
            bare=None,  # type: ignore[arg-type]
            options=("--backend", "spark"),
        )
    )


def cut(data: Microdata, part_of_record: np.ndarray) -> list[Microdata]:
    whole = Whole(data.n_rows, tuple(data.prior(index) for index in range(len(data.domains.sensitive))))
    return [
        replace(data, quasi=data.quasi[own], sensitive=data.sensitive[own], carried=data.carried[own], whole=whole)
        for own in (part_of_record == number for number in range(int(part_of_record.max()) + 1))
    ]


@pytest.fixture(scope="module")
def made() -> Made:
    """Stays in three parts by age, each published by itself."""
    data = Microdata.encode(hospital(300, seed=3), Schema.load(sample_schema()))
    ages = data.quasi[:, 0]
    parts = cut(data, np.searchsorted(np.quantile(ages, [0.33, 0.66]), ages))
    promises = (Promise(KAnonymity(3)), Promise(LDiversity(3), data.domains.sensitive[0].name))
    releases, audits, losses = [], [], []
    for number, own in enumerate(parts):
        release, _ = parse_algorithm("mondrian").anonymize(own, require(promises, own), Randomness(number), silent)
        assert isinstance(release, Grouped)
        releases.append(release)
        audits.append(audit_part(own, release, promises, measures=standard_measures()))
        losses.append(PartLosses.of(own, release, METRICS.values()))
    found = join_audits(audits)
    report = Report.on(
        basis_of(data, promises, found, losses), Statement(title="Stays", recipient="Institute of Health")
    )
    return Made(data, promises, releases, parts, found, report)


def test_beliefs_and_crowds_are_those_of_all_parts(made: Made) -> None:
    assert made.joined.audit.passed
    (table,) = made.report.beliefs
    texts, prior = made.data.domains.sensitive[0].texts, made.data.prior(0)
    seen = [expose(own, release, 0) for release, own in zip(made.releases, made.parts, strict=True)]
    assert len(table.lines) == np.count_nonzero(prior)
    for line in table.lines:
        code = texts.index(line.value)
        highest = max(
            float((one.weights / one.sizes[one.unit_of_entry])[one.values == code].max(initial=0)) for one in seen
        )
        assert line.belief == highest
        assert line.share == prior[code] / 300
        assert line.ceiling == pytest.approx(1 / 3)
    sizes: dict[int, int] = {}
    for one in seen:
        for size, number in one.crowds.items():
            sizes[size] = sizes.get(size, 0) + number
    assert made.report.sizes == size_lines(sizes, "grouped")
    assert made.report.n_rows == 300


def test_what_was_left_out_and_how_to_do_it_is_said(made: Made) -> None:
    assert made.report.left_out == (MADE_IN_PARTS,)
    assert (made.report.attacks, made.report.answers, made.report.advice, made.report.tradeoff) == ((), (), (), None)
    assert "lookalike attack" in MADE_IN_PARTS
    assert "--backend spark --out FOLDER" in made.report.command


def test_page_and_plain_data(made: Made) -> None:
    page = to_html(made.report)
    for text in ("The audit passed.", "Institute of Health", "300 rows", "made in parts", "parts complete", "<svg"):
        assert text in page
    plain = json.loads(json.dumps(made.report.to_plain()))
    assert plain["audit"]["passed"] is True
    lost = [line["loss"] for line in plain["columns"] if line["loss"] is not None]
    assert plain["losses"]["gcp"] == pytest.approx(np.mean(lost))


def test_shares_do_not_tell_what_suppressed_records_had(made: Made) -> None:
    """A part leaves a record out: shares are those of published values, and ceilings by true shares are not told."""
    promises = (Promise(BetaLikeness(50), made.promises[1].column),)
    n_codes = made.data.domains.sensitive[0].n_codes
    gone = np.bincount(made.releases[0].sensitive[:1, 0], minlength=n_codes)
    short = replace(
        moved(made.releases[0], np.arange(1, made.releases[0].n_rows)),
        withheld=Withheld((gone,), (np.zeros(n_codes, dtype=np.int64),), 1, 0),
    )
    releases = [short, *made.releases[1:]]
    audits = [audit_part(own, release, promises) for release, own in zip(releases, made.parts, strict=True)]
    losses = [PartLosses.of(own, release, METRICS.values()) for release, own in zip(releases, made.parts, strict=True)]
    report = Report.on(basis_of(made.data, promises, join_audits(audits), losses).public(), Statement(title="Fewer"))
    published = np.bincount(np.concatenate([release.sensitive[:, 0] for release in releases]), minlength=n_codes)
    (table,) = report.beliefs
    texts = made.data.domains.sensitive[0].texts
    assert report.n_suppressed == 1
    for line in table.lines:
        assert line.share == published[texts.index(line.value)] / 299
        assert line.ceiling is None


@pytest.mark.parametrize("adversary", [READS_RELEASE, KNOWS_METHOD])
def test_true_shares_of_redrawn_values_are_not_published(adversary: str) -> None:
    rng = np.random.default_rng(4)
    data = mixed_table(rng, 200, carried=False)
    parts = cut(data, np.arange(200) % 2)
    promises = (Promise(BetaLikeness(9), "illness"),)
    releases = [perturbed(rng, own, [mixing_matrix(4, 4, 10)], rng.permutation(100)) for own in parts]
    pairs = list(zip(releases, parts, strict=True))
    found = join_audits([audit_part(own, release, promises, adversary=adversary) for release, own in pairs])
    assert found.audit.passed, str(found.audit)
    losses = [PartLosses.of(own, release, METRICS.values()) for release, own in pairs]
    report = Report.on(basis_of(data, promises, found, losses).public(), Statement(title="Redrawn"))
    assert report.adversary == adversary
    assert report.beliefs == ()
    assert "values_changed" not in report.losses
    assert not [check["detail"] for check in report.audit["checks"] if "kept their value" in check["detail"]]
    assert report.sizes == ()
    assert "made in parts" in to_html(report)
