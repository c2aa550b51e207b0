"""The report in a folder is written again from the release: what else it says is refused, or named as not checked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.apps.samples import sample_table
from lookalike.evaluation.report.check import OWN_REPORT

QUASI = ["age", "sex", "zip code"]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With made-up examples, charts and a recipient."""
    out = tmp_path_factory.mktemp("full") / "out"
    made = la.publish(
        sample_table(), qi=QUASI, sensitive="diagnosis", model="beta-likeness:4", title="Stays", recipient="Institute"
    )
    made.write(out, report="full")
    return out


def about_report(folder: Path, **asked: Any) -> tuple[bool, str, str, str]:
    """Whether the audit passed, what its check of the report says, what is stated and what is not checked."""
    audit = la.verify(sample_table(), folder, **asked)
    assert audit.grounds is not None
    details = [check.detail for check in audit.checks if check.name == OWN_REPORT]
    return audit.passed, "".join(details), "; ".join(audit.grounds.stated), "; ".join(audit.grounds.not_checked)


def test_an_honest_report_is_written_again_byte_for_byte(full: Path) -> None:
    assert json.loads((full / "report.json").read_text())["examples"] is not None
    assert "<svg" in (full / "report.html").read_text()
    passed, detail, stated, not_checked = about_report(full)
    assert passed
    assert "byte for byte" in detail
    assert 'that it is made for "Institute"' in stated
    assert "that its report is of " in stated
    assert "report" not in not_checked


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [
        ("two-size", "beta-likeness:4"),
        ("perturbation", "beta-likeness:4"),
        ("mondrian", "k-anonymity:5"),
        ("burel", "beta-likeness:4"),
    ],
)
def test_reports_of_other_forms_are_written_again(algorithm: str, model: str, tmp_path: Path) -> None:
    made = la.publish(sample_table(), qi=QUASI, sensitive="diagnosis", model=model, algorithm=algorithm)
    made.write(tmp_path / "out", report="full")
    passed, detail, _, not_checked = about_report(tmp_path / "out")
    assert passed, (detail, not_checked)
    assert "byte for byte" in detail


def test_the_audit_of_a_full_report_loads_no_compiler(full: Path) -> None:
    code = (
        "import sys, lookalike as la; assert la.verify(*sys.argv[1:]).passed\n"
        "print(*sorted({'numba', 'sklearn', 'lookalike.algorithms.groups.free'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, str(sample_table()), str(full)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == ""


def plain(change: Callable[[dict[str, Any]], object], **style: Any) -> Callable[[Path], None]:
    def plant(folder: Path) -> None:
        path = folder / "report.json"
        report = json.loads(path.read_text(encoding="utf-8"))
        change(report)
        text = json.dumps(report, ensure_ascii=False, **{"indent": 2, **style}) + "\n"
        path.write_text(text, encoding="utf-8")

    return plant


def page(old: str, new: str) -> Callable[[Path], None]:
    def plant(folder: Path) -> None:
        path = folder / "report.html"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return plant


PLANTS: dict[str, Callable[[Path], None]] = {
    "the original in the page": lambda folder: (folder / "report.html").write_text("<!-- Anna has flu -->") and None,
    "the original as data": lambda folder: (folder / "report.json").write_text("Anna has flu") and None,
    "a comment in the page": page("<body>", "<body><!-- Anna -->"),
    "a comment in a chart": page("</svg>", "<!-- Anna --></svg>"),
    "a number in a chart": page(' width="', ' width="1'),
    "a digit of a place in a chart": page('.5" ', '.51" '),
    "a tooltip in a chart": page("</title></rect>", " Anna</title></rect>"),
    "white space in the page": page("\n", " \n"),
    "white space in the data": plain(lambda report: None, indent=3),
    "a key that nobody reads": plain(lambda report: report.update(hint=1)),
    "other examples": plain(lambda report: report["examples"]["before"][0].__setitem__(0, "31")),
    "a figure": plain(lambda report: report["losses"].update(gcp=report["losses"]["gcp"] + 1e-9)),
    "a recipient that holds a table": plain(lambda report: report.update(recipient="Anna has flu; " * 40)),
    "a digest of a file": plain(lambda report: report["certificate"]["digests"].update({"README.txt": "0" * 64})),
    "a removed column that is none": plain(
        lambda report: report["certificate"]["columns"][0]["names"].append("Anna has flu")
    ),
    "a purpose that holds a table": plain(lambda report: report.update(stated={"purpose": "Anna has flu; " * 40})),
    "a date that is none": plain(lambda report: report.update(date="20240506")),
    "a version that is none": plain(lambda report: report["versions"].update(numpy="Anna has flu")),
}


@pytest.mark.parametrize("kind", PLANTS)
def test_whatever_else_a_report_says_is_refused(kind: str, full: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(full, tmp_path / "out")
    PLANTS[kind](copy)
    audit = la.verify(sample_table(), copy)
    assert [check.name for check in audit.checks if not check.passed] == [OWN_REPORT]


def test_a_report_that_cannot_be_written_again_is_named(full: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(full, tmp_path / "other")
    plain(lambda report: (report["versions"].update(numpy="9.9.9"), report["losses"].update(gcp=0.5)))(copy)
    passed, detail, _, not_checked = about_report(copy)
    assert (passed, detail) == (True, "")
    assert "report.html, report.json (made with numpy 9.9.9" in not_checked
    scored = shutil.copytree(full, tmp_path / "scored")
    plain(lambda report: report.update(bound_sentence="The loss is near the least."))(scored)
    passed, detail, _, not_checked = about_report(scored)
    assert (passed, detail) == (True, "")
    assert "report.html, report.json (with figures that are scored on the original" in not_checked
    passed, detail, _, not_checked = about_report(full, model="k-anonymity:2")
    assert (passed, detail) == (True, "")
    assert "report.json (about the promises of the release itself)" in not_checked
    (scored / "report.html").unlink()
    assert not about_report(scored)[0]
