"""What a report says: probabilities as the audit finds them, rounded scores, nothing that is private."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms import parse_algorithm
from lookalike.apps.samples import hospital, sample_schema
from lookalike.attacks import ATTACKS
from lookalike.audit import expose, verify
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.statement import Statement
from lookalike.errors import RecipeError
from lookalike.evaluation.report import Report, to_html
from lookalike.evaluation.report.basis import MOST_SIZES, Basis, belief_table, size_lines
from tests.audit.making import grouped, number_table
from tests.evaluation.report.conftest import SEED, Reported
from tests.secrets.traces import traces


def test_beliefs_are_those_of_the_groups_and_ceilings_those_of_the_promise(reported: Reported) -> None:
    outcome = reported.publication.made
    (table,) = reported.report.beliefs
    values = outcome.release.sensitive[:, 0]
    domain = outcome.data.domains.sensitive[0]
    for line in table.lines:
        code = domain.texts.index(line.value)
        highest = max(
            Fraction(int((values[outcome.release.group_of_row == group] == code).sum()), int(size))
            for group, size in enumerate(np.bincount(outcome.release.group_of_row))
        )
        assert line.belief == pytest.approx(float(highest))
        assert line.share == pytest.approx(float((values == code).mean()))
        assert line.ceiling == pytest.approx(1 / 3)
        assert line.belief <= line.ceiling
    shares = [line.share for line in table.lines]
    assert shares == sorted(shares, reverse=True)
    assert f'"{table.lines[0].value}" may rise from {100 * shares[0]:.3g} %' in table.sentence


def test_every_attack_is_made_or_its_reason_given(reported: Reported) -> None:
    made = {line.attack.partition(":")[0] for line in reported.report.attacks}
    others = {*reported.report.attacks_not_made, *reported.report.attacks_not_run}
    assert made | {name.partition(":")[0] for name in others} == set(ATTACKS)
    assert "possible-worlds" in reported.report.attacks_not_made
    assert "composition" in reported.report.attacks_not_run
    assert made >= {"linkage", "naive-bayes", "learner"}
    lines = {line.attack: line for line in reported.report.attacks}
    found = {one.finding.attack: one for one in reported.publication.evaluate().attacks.made}
    beliefs = {name: all(kept for _, kept in one.kept.values()) for name, one in found.items() if one.kept}
    assert beliefs
    assert {name: lines[name].within for name in beliefs} == beliefs


def test_what_was_scored_on_the_original_is_rounded(reported: Reported) -> None:
    report = reported.report
    scores = [number for line in report.attacks for number in (line.right, line.honest) if number is not None]
    scores += [number for line in report.answers for number in (line.median, line.coverage, *line.shares)]
    scores += [number for line in report.uses for number in (line.original, line.release)]
    assert report.tradeoff is not None
    scores += [number for one in report.tradeoff.settings for number in (one.belief, one.loss)]
    scores += [float(number) for line in report.uses for number in re.findall(r"\d+\.\d+", line.what)]
    assert len(scores) > 30
    assert all(round(number, 2) == number for number in scores)


def test_few_guesses_are_not_scored() -> None:
    made = la.publish(hospital(60, seed=1), schema=sample_schema(), model="k-anonymity:3")
    report = Report.on(Basis.of(made.made), Statement(title="Few"), evaluation=made.evaluate())
    guessed = [line for line in report.attacks if line.column is not None]
    assert guessed
    assert all(line.right is None and line.honest is None and line.succeeds is None for line in guessed)


def test_a_brief_report_says_nothing_scored_on_the_original(reported: Reported, tmp_path: Path) -> None:
    files = reported.publication.write(tmp_path / "brief", report="brief")
    assert {"report.html", "report.json"} < set(files)
    plain = json.loads((tmp_path / "brief" / "report.json").read_text())
    assert [plain[name] for name in ("attacks", "answers", "uses", "tradeoff", "examples")] == [[], [], [], None, None]
    assert plain["beliefs"]
    page = (tmp_path / "brief" / "report.html").read_text()
    assert "known attacks" not in page
    with pytest.raises(RecipeError, match="full, brief"):
        reported.publication.write(tmp_path / "other", report="long")
    assert not (tmp_path / "other").exists()


def test_the_summary_says_what_each_part_of_a_report_took(reported: Reported) -> None:
    seconds = reported.publication.summary()["seconds"]
    parts = {"compile for the report", "attacks", "queries", "fidelity", "trade-off", "tables", "examples", "report"}
    assert {"read", "compile", "anonymize", "audit", "measure"} | parts == set(seconds) - {"encode", "carried"}
    assert all(took >= 0 for took in seconds.values())


def test_nothing_private_is_in_any_text(reported: Reported) -> None:
    assert traces(reported.folder.iterdir(), seed=SEED, words=[reported.folder.parent]) == []
    for path in reported.folder.iterdir():
        if path.suffix != ".parquet":
            text = path.read_text(encoding="utf-8")
            assert "seconds" not in text or path.name in ("README.txt", "datapackage.json")


def test_the_command_makes_such_a_release_from_the_schema_in_the_folder(reported: Reported) -> None:
    command = reported.report.command.split()
    assert command[:5] == ["lookalike", "publish", "YOUR-TABLE", "--schema", "schema.yaml"]
    assert [command[place + 1] for place, part in enumerate(command) if part == "--model"] == [
        "k-anonymity:3",
        "diagnosis=l-diversity:3",
    ]
    again = la.publish(
        hospital(300, seed=3),
        schema=reported.folder / "schema.yaml",
        model=["k-anonymity:3", "diagnosis=l-diversity:3"],
        algorithm=command[command.index("--algorithm") + 1],
    )
    assert again.audit.passed


def test_sizes_are_shares_of_people() -> None:
    data = number_table([[place] for place in range(200)], [0, 1] * 100)
    groups = np.repeat(np.arange(19), np.arange(1, 20))[:190]
    groups = np.concatenate((groups, np.full(10, 18)))
    release = grouped(data, groups, np.arange(200))
    lines = size_lines(expose(data, release, None).crowds, release.form)
    assert len(lines) <= MOST_SIZES
    assert sum(line.share for line in lines) == pytest.approx(1)
    assert lines[0].rows.startswith("1")
    assert lines[-1].rows.endswith("29")
    basis = Basis(
        promises=(),
        algorithm=parse_algorithm("groups"),
        asked_adversary=READS_RELEASE,
        domains=data.domains,
        audit=verify(data, release, []),
        withheld=release.withheld,
        seen={0: expose(data, release, 0)},
        crowds={},
        losses={},
        loss_by_column={},
        ranges={},
    )
    table = belief_table(basis, 0)
    assert {line.ceiling for line in table.lines} == {None}
    assert max(line.belief for line in table.lines) == 1


def test_shares_do_not_tell_what_suppressed_records_had() -> None:
    """Next to the published counts, those of the original would be the suppressed records' values."""
    for model in ("l-diversity:3", "beta-likeness:4"):
        made = la.publish(
            hospital(200, seed=4),
            qi=["age"],
            sensitive="diagnosis",
            model=model,
            algorithm="greedy-grouping:tail=suppress",
            seed=3,
        )
        assert made.release.withheld.n_suppressed > 0
        (table,) = Report.on(Basis.of(made.made).public(), Statement(title="Fewer")).beliefs
        published = np.bincount(made.release.sensitive[:, 0])
        texts = made.made.data.domains.sensitive[0].texts
        for line in table.lines:
            assert line.share == published[texts.index(line.value)] / made.release.n_rows
            assert line.ceiling is None


def test_the_published_report_does_not_say_how_often_redrawn_values_truly_occur() -> None:
    for adversary in ("reads-release", "knows-method"):
        made = la.publish(
            hospital(300, seed=4),
            qi=["age"],
            sensitive="sex",
            model="beta-likeness:3",
            algorithm="perturbation",
            adversary=adversary,
        )
        basis = Basis.of(made.made)
        for owners, report in (
            (True, Report.on(basis, Statement(title="Redrawn"))),
            (False, Report.on(basis.public(), Statement(title="Redrawn"))),
        ):
            assert bool(report.beliefs) == owners
            assert ("values_changed" in report.losses) == owners
            assert any("more than the release shows" in sentence for sentence in report.left_out) != owners
            assert ("What the release reveals about a person" in to_html(report)) == owners
            assert ("For internal use only" in to_html(report)) == owners


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("k-anonymity:3", "It does not limit what can be learned about a person's sensitive values."),
        ("l-diversity:2", 'It limits what can be learned about a person\'s "s".'),
    ],
)
def test_what_can_be_learned_is_said_to_be_limited_only_where_it_is(model: str, said: str) -> None:
    table = pl.DataFrame({"age": [20, 21, 22, 50, 51, 52], "s": ["hiv", "flu"] * 3})
    made = la.publish(table, qi=["age"], sensitive="s", model=model)
    assert any(caution.startswith(said) for caution in Report.on(Basis.of(made.made), Statement(title="t")).cautions)
