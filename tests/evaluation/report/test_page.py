"""The page: one file, no script, no network, every text from a table as text."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import lookalike as la
from lookalike.data.microdata import Column, Table
from lookalike.data.schema import ValueType
from lookalike.data.statement import Statement
from lookalike.evaluation.report import Report, to_html
from lookalike.evaluation.report.basis import Basis
from lookalike.files.releases.private import private_folder
from tests.evaluation.report.conftest import Reported

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "{{ 7 * 7 }}", "a & b", "'; drop", "=cmd()"]


class Tags(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_it_stands_alone(reported: Reported) -> None:
    page = (reported.folder / "report.html").read_text(encoding="utf-8")
    found = Tags(page)
    assert not found.tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    targets = [value for name, value in found.attributes if name in ("src", "href", "xlink:href", "action", "data")]
    assert targets
    assert all((target or "").startswith("#") for target in targets)
    assert {(target or "")[1:] for target in targets} <= set(found.ids)
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert not re.findall(r"url\(|@import", page)
    assert "default-src 'none'" in page


PUBLIC = {"promise", "audit", "beliefs", "loss", "examples", "making", "signature"}
SCORED = {"attacks", "use", "advice"}


@pytest.mark.parametrize("owners", [False, True])
def test_every_section_is_there_and_every_picture_has_words(reported: Reported, owners: bool) -> None:
    folder = private_folder(reported.folder) if owners else reported.folder
    page = (folder / "report.html").read_text(encoding="utf-8")
    found = Tags(page)
    assert set(found.ids) >= PUBLIC
    assert set(found.ids) & SCORED == (SCORED if owners else set())
    assert page.count("<svg") == page.count("<figure") >= (5 if owners else 2)
    assert page.count('<figure role="img" aria-label=') == page.count("<figure")
    said = " ".join(found.words)
    for sentence in (
        "Institute of Health",
        "The audit passed",
        "cannot tell that person's row from",
        "Approved for release by",
    ):
        assert sentence in said
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_the_json_says_the_same(reported: Reported) -> None:
    plain = json.loads((reported.folder / "report.json").read_text(encoding="utf-8"))
    assert plain["title"] == "Stays"
    assert plain["recipient"] == "Institute of Health"
    assert plain["audit"]["passed"] is True
    # What rounding the ends of ranges cost is for the owner, and so are the original's shares.
    assert set(plain) == set(reported.report.to_plain()) - {
        "ends_sentence",
        "before_after",
        "attacks_not_run",
    }
    assert not plain["attacks"]
    owners = json.loads((private_folder(reported.folder) / "report.json").read_text(encoding="utf-8"))
    assert {line["attack"] for line in owners["attacks"]} == {line.attack for line in reported.report.attacks}


def test_texts_from_a_table_stay_texts() -> None:
    rng = np.random.default_rng(1)
    values = np.array(sorted(HOSTILE), dtype=object)
    names = ('<b onclick="x()">age</b>', "</style><script>x</script>", "{% raw %}")
    columns = tuple(
        Column(name, ValueType.STRING, rng.integers(0, len(values), 120).astype(np.int32), values) for name in names
    )
    made = la.publish(
        Table(columns), qi=names[:2], sensitive=names[2], model=["k-anonymity:2", "l-diversity:2"], title=HOSTILE[1]
    )
    page = to_html(
        Report.on(Basis.of(made.made), Statement(title=HOSTILE[0], recipient=HOSTILE[1]), evaluation=made.evaluate())
    )
    found = Tags(page)
    assert not found.tags & {"script", "img", "b"}
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    said = " ".join(found.words)
    assert all(text in said for text in (*HOSTILE, *names))


@pytest.mark.parametrize("model", ["k-anonymity:4", "l-diversity:2"])
def test_tables_without_a_sensitive_column_and_with_a_missing_value_have_a_report(model: str) -> None:
    codes = np.arange(80, dtype=np.int32) % 7
    columns = [Column(name, ValueType.INTEGER, codes, np.arange(6)) for name in ("age", "year")]
    sensitive: list[str] = []
    if model.startswith("l"):
        columns.append(Column("value", ValueType.INTEGER, (np.arange(80) % 5).astype(np.int32), np.arange(4)))
        sensitive = ["value"]
    made = la.publish(Table(tuple(columns)), qi=["age", "year"], sensitive=sensitive, model=model)
    page = to_html(Report.on(Basis.of(made.made), Statement(title="Plain"), evaluation=made.evaluate()))
    assert "The audit passed" in page


def test_what_attacks_mean_is_also_on_paper(reported: Reported) -> None:
    """Print leaves out what is folded away: sentences for the signer, and attacks that were not made, are not there."""
    page = (private_folder(reported.folder) / "report.html").read_text(encoding="utf-8")
    printed = html.unescape(re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL))
    report = reported.report
    assert report.attacks
    for line in report.attacks:
        assert f"<strong>What this means for signing:</strong> {line.means}" in printed
    not_run, not_applicable = printed.index("Attacks that were not run"), printed.index("Attacks that do not apply")
    assert not_run < printed.index(report.attacks_not_run["composition"]) < not_applicable
    assert not_applicable < printed.index(report.attacks_not_made["possible-worlds"])
