"""The whole way in a real browser, and what people do on it: mistakes, reloads, second tabs, hostile files.

Chromium without a window, driven by Playwright; skipped, with the reason, where there is no Chromium.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike.apps.cli import main
from lookalike.apps.samples import hospital, sample_table, to_csv
from lookalike.evaluation.report import find_browser
from tests.apps.studio.running import Studio, a_studio

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(find_browser() is None, reason="no browser of the Chromium family is installed")

Page = Any
SECONDS = 1000.0
HOSTILE = '<img src=x onerror="window.broken=1">'


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with a_studio(tmp_path_factory.mktemp("studio")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        launched = playwright.chromium.launch(executable_path=str(find_browser()), args=options)
        yield launched
        launched.close()


@contextmanager
def a_page(studio: Studio, browser: Any) -> Iterator[Page]:
    """A page that let itself in by the link; faults of its scripts, and whatever it asks of others, fail the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    context.set_default_timeout(60 * SECONDS)
    opened = context.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "console", lambda said: faults.append(said.text) if said.type == "error" and "422" not in said.text else None
    )
    opened.on("request", lambda asked: None if asked.url.startswith(studio.base) else faults.append(asked.url))
    opened.goto(studio.link)
    assert "token" not in opened.url
    yield opened
    context.close()
    assert faults == []


@pytest.fixture
def page(studio: Studio, browser: Any) -> Iterator[Page]:
    with a_page(studio, browser) as opened:
        yield opened


def open_sample(page: Page) -> None:
    page.goto(page.url.partition("/projects")[0])
    page.click("#open-sample")
    page.wait_for_url("**/columns")


def to_promises(page: Page) -> None:
    """Only a page that is there as a whole has its scripts at work."""
    page.click("#next")
    page.wait_for_url("**/promise")


def promise(page: Page, model: str, number: str) -> None:
    page.fill(f"#number-{model}", number)
    page.click(f"fieldset[data-model={model}] button[name=add]")
    page.wait_for_selector(f"#chosen li >> text={model}:{number}")


def choose_mondrian(page: Page) -> None:
    """A method that takes no time."""
    page.click("#next")
    page.wait_for_url("**/method")
    page.check("#method-mondrian")
    page.click("#save-method")
    page.wait_for_url("**/run")


def test_whose_rows_these_are_is_asked_and_chosen(page: Page, tmp_path: Path) -> None:
    """The refusal is a choice with two ways out; then the rows of one person, and what it means for the release."""
    lines = [
        f"p{person},{20 + person % 30},{'abcdefgh'[(person + visit) % 8]}" for person in range(60) for visit in (1, 2)
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["patient_id,age,disease", *lines]) + "\n")
    page.fill("#path", str(tmp_path / "visits.csv"))
    page.press("#path", "Enter")
    page.wait_for_url("**/columns")
    # It was proposed; someone thinks otherwise.
    page.wait_for_selector("#persons-form")
    page.select_option("tr[data-column=patient_id] select[name=role]", "identifier")
    page.wait_for_selector("#repeated")
    page.click("#rows-are-persons")
    page.wait_for_selector("#stated")
    page.click("#take-back")
    page.wait_for_selector("#repeated")
    page.click("#declare-person")
    page.wait_for_selector("#persons-form")
    assert page.input_value("tr[data-column=patient_id] select[name=role]") == "person"
    page.fill("#contribution", "0")
    page.press("#contribution", "Tab")
    page.fill("#contribution", "1")
    page.press("#contribution", "Tab")
    page.wait_for_selector("#left-out >> text=60 rows of 60 persons")
    page.fill("#contribution", "")
    page.press("#contribution", "Tab")
    page.wait_for_selector("#left-out", state="detached")
    page.check("#rows-one")
    page.wait_for_selector("#left-out")
    assert not page.is_visible("#known-line")
    page.check("#rows-apart")
    page.wait_for_selector("#left-out", state="detached")
    page.uncheck("#number-known")
    page.wait_for_selector("#persons-say >> text=does not know how many rows")
    page.reload()
    assert not page.is_checked("#number-known")
    page.select_option("tr[data-column=age] select[name=role]", "quasi-identifier")
    page.select_option("tr[data-column=disease] select[name=role]", "sensitive")
    to_promises(page)
    promise(page, "k-anonymity", "4")
    choose_mondrian(page)
    assert "60 persons, by patient_id; rows apart; others do not know" in page.inner_text("#run-form")
    page.click("#start")
    page.wait_for_url("**/results**")
    assert "120 rows of 60 persons" in page.inner_text("dl.facts")


def test_the_whole_way_on_the_sample(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_studio(tmp_path, report="full") as studio, a_page(studio, browser) as page:
        go_the_whole_way(page, tmp_path, monkeypatch)


def go_the_whole_way(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_sample(page)
    assert page.locator("tr[data-column]").count() == 8
    assert "stand" in page.inner_text("main") or "only ones" in page.inner_text("main").replace("\n", " ")
    to_promises(page)
    promise(page, "k-anonymity", "5")
    page.fill("#number-beta-likeness", "3")
    page.wait_for_selector("fieldset[data-model=beta-likeness] >> text=hepatitis C")
    allowed = page.inner_text("fieldset[data-model=beta-likeness] .allows")
    assert "0.6 %" in allowed
    assert "2.4 %" in allowed
    promise(page, "beta-likeness", "3")
    choose_mondrian(page)
    page.fill("#title", "Stays, for the institute")
    page.click("#start")
    page.wait_for_url("**/results**")
    assert "passed" in page.inner_text("#verdict")
    assert page.locator("main svg").count() >= 5
    said = page.inner_text("main")
    for part in ("beta-likeness:3", "naive-bayes", "occupation"):
        assert part in said
    page.click("#to-export")
    page.wait_for_url("**/export**")
    with page.expect_download() as coming:
        page.click("#download-zip")
    coming.value.save_as(tmp_path / "release.zip")
    with zipfile.ZipFile(tmp_path / "release.zip") as zipped:
        zipped.extractall(tmp_path)
    page.fill("#folder", str(tmp_path / "saved"))
    page.click("#save-folder")
    page.wait_for_selector("#said:not([hidden])")
    with page.expect_download() as coming:
        page.click("#download-schema")
    coming.value.save_as(tmp_path / "schema.yaml")
    for folder in ("release", "saved"):
        assert la.verify(sample_table(), tmp_path / folder).passed
        assert "Stays, for the institute" in (tmp_path / folder / "report.html").read_text(encoding="utf-8")
    name, *words = shlex.split(page.inner_text("#command"))
    assert name == "lookalike"
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(tmp_path / "release")
    again = CliRunner().invoke(main, words)
    assert again.exit_code == 0, again.output
    assert la.verify(sample_table(), tmp_path / "release").passed


def test_a_promise_that_cannot_be_kept_names_the_nearest(page: Page) -> None:
    open_sample(page)
    to_promises(page)
    page.fill("#number-l-diversity", "40")
    refused = page.locator("fieldset[data-model=l-diversity]")
    refused.locator("button[name=nearest]").wait_for()
    assert "l-diversity:9" in refused.inner_text()
    assert refused.locator("button[name=add]").is_disabled()
    refused.locator("button[name=nearest]").click()
    page.wait_for_function("document.querySelector('#number-l-diversity').value === '9'")
    refused.locator("button[name=add]:not([disabled])").click()
    page.wait_for_selector("#chosen li >> text=l-diversity:9")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("broken.parquet", b"PAR1 this is none", "Parquet"),
        ("ragged.csv", b"a,b\n1,2\n3,4,5\n", "line 3"),
        ("empty.csv", b"", "empty"),
        ("picture.png", b"\x89PNG", ".png"),
    ],
)
def test_a_broken_file_is_explained_and_nothing_is_lost(page: Page, name: str, content: bytes, said: str) -> None:
    before = page.locator("[data-open]").count()
    page.set_input_files("#file", files=[{"name": name, "mimeType": "text/csv", "buffer": content}])
    page.wait_for_selector("#said.bad:not([hidden])")
    assert said in page.inner_text("#said")
    page.reload()
    assert page.locator("[data-open]").count() == before


def test_a_file_can_be_dropped(page: Page) -> None:
    text = "age,illness\\n" + "".join(f"{age},{'flu' if age % 3 else 'cold'}\\n" for age in range(20, 50))
    transfer = page.evaluate_handle(
        f"""() => {{
            const transfer = new DataTransfer();
            transfer.items.add(new File(["{text}"], "dropped.csv", {{ type: "text/csv" }}));
            return transfer;
        }}"""
    )
    page.dispatch_event("#upload", "drop", {"dataTransfer": transfer})
    page.wait_for_url("**/columns")
    assert "dropped.csv, 30 rows" in page.inner_text("header")


def test_cancel_and_run_again(page: Page, studio: Studio) -> None:
    open_sample(page)
    to_promises(page)
    promise(page, "l-diversity", "4")
    page.click("#next")
    page.wait_for_url("**/method")
    page.check("#method-groups")
    page.locator("details[data-method=groups] summary").click()
    page.fill("#setting-groups-effort", "60")
    page.click("#save-method")
    page.wait_for_url("**/run")
    page.click("#start")
    page.wait_for_selector("#falling:not([hidden])")
    page.click("#cancel")
    page.wait_for_selector("#start:visible")
    assert "Cancelled" in page.inner_text("#said")
    page.goto(page.url.replace("/run", "/method"))
    page.check("#method-mondrian")
    page.click("#save-method")
    page.wait_for_url("**/run")
    page.click("#start")
    page.wait_for_url("**/results**")
    assert "passed" in page.inner_text("#verdict")


def test_a_reload_and_a_second_tab_find_the_run(page: Page) -> None:
    open_sample(page)
    to_promises(page)
    promise(page, "l-diversity", "3")
    page.click("#next")
    page.wait_for_url("**/method")
    page.locator("details[data-method=groups] summary").click()
    page.fill("#setting-groups-effort", "90")
    page.click("#save-method")
    page.wait_for_url("**/run")
    page.click("#start")
    page.wait_for_selector("#falling:not([hidden])")
    page.reload()
    page.wait_for_selector("#falling:not([hidden])")
    second = page.context.new_page()
    second.goto(page.url)
    second.wait_for_selector("#take-best:not([hidden])")
    other = page.context.new_page()
    other.goto(page.url.partition("/projects")[0])
    other.click("#open-sample")
    other.wait_for_url("**/columns")
    assert other.url.partition("/projects/")[2] != page.url.partition("/projects/")[2]
    second.click("#take-best")
    for tab in (page, second):
        tab.wait_for_url("**/results**")
        assert "passed" in tab.inner_text("#verdict")


def test_hostile_names_and_cells_do_nothing(page: Page, tmp_path: Path) -> None:
    names = [HOSTILE, "</script><script>window.broken=2</script>", "=HYPERLINK(1)", "{{ 7*7 }}", "value"]
    path = tmp_path / f"{HOSTILE.replace('/', '')}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(names)
        for row in range(60):
            table.writerow(
                [f"{HOSTILE}{row % 4}", "<b>bold</b>" if row % 2 else "=1+1", f"@{row % 5}", row, f"v{row % 6}"]
            )
    page.set_input_files("#file", path)
    page.wait_for_url("**/columns")
    for column, role in ((names[0], "quasi-identifier"), (names[1], "quasi-identifier"), ("value", "sensitive")):
        row = page.locator("tr[data-column]").nth(names.index(column))
        row.locator("select[name=role]").select_option(role)
    for column in names[2:4]:
        page.locator("tr[data-column]").nth(names.index(column)).locator("select[name=role]").select_option(
            "identifier"
        )
    page.wait_for_load_state("networkidle")
    to_promises(page)
    promise(page, "l-diversity", "2")
    choose_mondrian(page)
    page.click("#start")
    page.wait_for_url("**/results**")
    for step in ("columns", "promise", "method", "run", "results", "compare", "export"):
        page.goto(re.sub(r"/(results|\w+)(\?.*)?$", f"/{step}", page.url))
        assert page.evaluate("window.broken") is None
        assert page.locator("main img, main b").count() == 0
    assert HOSTILE in page.content().replace("&lt;", "<").replace("&gt;", ">").replace("&#34;", '"').replace(
        "&quot;", '"'
    )


def test_by_keyboard_alone(page: Page) -> None:
    """Tab and Enter, as someone without a mouse: the sample, a promise, the method, a run."""
    page.locator("#open-sample").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/columns")
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/promise")
    page.locator("#slider-l-diversity").focus()
    page.keyboard.press("ArrowRight")
    assert page.input_value("#number-l-diversity") == "5"
    page.locator("fieldset[data-model=l-diversity] button[name=add]").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#chosen li >> text=l-diversity:5")
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/method")
    page.locator("#method-mondrian").focus()
    page.keyboard.press("Space")
    page.locator("#save-method").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/run")
    page.locator("#start").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/results**")


NAMELESS = """() => [...document.querySelectorAll("input,select,textarea,button,svg[role=img],a")].filter((one) => {
  const labelled = (one.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id));
  const text = [one.getAttribute("aria-label"), one.textContent, ...labelled.map((label) => label && label.textContent),
    ...[...(one.labels || [])].map((label) => label.textContent)];
  return !text.some((words) => words && words.trim());
}).map((one) => one.outerHTML.slice(0, 200))"""


def test_screen_readers_find_a_name_for_everything(page: Page) -> None:
    """Every control and picture has a name, every page one main heading, headings skip no level, tables have heads."""
    open_sample(page)
    to_promises(page)
    promise(page, "l-diversity", "4")
    choose_mondrian(page)
    page.click("#start")
    page.wait_for_url("**/results**")
    project = page.url.partition("/results")[0]
    steps = [f"{project}/{step}" for step in ("columns", "promise", "method", "run", "results", "compare", "export")]
    for address in (*steps, page.url.partition("/projects")[0]):
        page.goto(address)
        assert page.evaluate(NAMELESS) == [], address
        assert page.locator("h1").count() == 1
        levels = page.evaluate(
            "() => [...document.querySelectorAll('h1,h2,h3,h4')].map((one) => Number(one.tagName[1]))"
        )
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), (address, levels)
        assert page.locator("table:not(:has(th))").count() == 0, address
        assert page.evaluate("document.documentElement.lang") == "en"


def test_a_comparison_draws_the_frontier(page: Page) -> None:
    open_sample(page)
    to_promises(page)
    promise(page, "l-diversity", "4")
    page.goto(page.url.replace("/promise", "/compare"))
    page.fill("#promises", "l-diversity:2,4")
    for box in page.locator("#compare-form input[type=checkbox]").all():
        box.set_checked(box.get_attribute("value") == "mondrian")
    page.click("#start-comparison")
    page.wait_for_selector("#comparison-table")
    assert page.locator("#comparison-table tbody tr").count() == 2
    assert page.locator("#comparison svg").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_small_windows_do_not_scroll_sideways(studio: Studio, browser: Any, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 400, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(studio.link)
    page.click("#open-sample")
    page.wait_for_url("**/columns")
    for step in ("columns", "promise", "run", "compare", "export"):
        page.goto(re.sub(r"/\w+$", f"/{step}", page.url))
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 1, step
    context.close()


def test_large_tables_stay_quick(page: Page, tmp_path: Path) -> None:
    """A table of 20,000 rows; `benchmarks/studio.py` has the figures for 100,000."""
    to_csv(hospital(20_000, seed=1), tmp_path / "many.csv")
    page.fill("#path", str(tmp_path / "many.csv"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/columns")
    assert "20,000 rows" in page.inner_text("header")
    assert page.locator("tr[data-column]").count() == 8
