"""Screenshots of the studio for docs/studio.md: a real studio, a real browser, the bundled sample.

    python docs/make_studio_pictures.py             needs Chromium and Playwright (in the extra `dev`)

Each step as someone meets it who goes the whole way. The sample is invented.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from lookalike.evaluation.report import find_browser

PICTURES = Path(__file__).parent / "studio"
HEIGHTS = {"load": 620, "columns": 1300, "promise": 900, "method": 700, "run": 560, "results": 1000, "compare": 900,
           "export": 820}  # fmt: skip
"""How much of each page is shown."""


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "lookalike", "studio", "--no-browser"]
    studio = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert studio.stdout is not None
    try:
        found = re.search(r"http\S+", studio.stdout.readline())
        assert found is not None
        with sync_playwright() as playwright:
            options = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=str(find_browser()), args=options)
            page = browser.new_page(viewport={"width": 1100, "height": 800})
            page.set_default_timeout(120_000)
            page.goto(found[0])
            go_the_way(page)
            browser.close()
    finally:
        studio.terminate()
        studio.communicate()


def go_the_way(page: Any) -> None:
    take(page, "load")
    page.click("#open-sample")
    page.wait_for_url("**/columns")
    take(page, "columns")
    page.click("#next")
    page.wait_for_url("**/promise")
    for model, number in (("k-anonymity", "5"), ("beta-likeness", "3")):
        page.fill(f"#number-{model}", number)
        page.click(f"fieldset[data-model={model}] button[name=add]")
        page.wait_for_selector(f"#chosen li >> text={model}:{number}")
    page.wait_for_load_state("networkidle")
    take(page, "promise")
    page.click("#next")
    page.wait_for_url("**/method")
    page.locator("details[data-method=groups] summary").click()
    page.fill("#setting-groups-effort", "8")
    page.locator("details[data-method=groups] summary").click()
    take(page, "method")
    page.click("#save-method")
    page.wait_for_url("**/run")
    page.fill("#title", "Hospital stays 2023 to 2024")
    page.fill("#recipient", "Institute of Public Health")
    page.click("#start")
    page.wait_for_selector("#falling:not([hidden])")
    page.wait_for_timeout(5000)
    take(page, "run")
    page.wait_for_url("**/results**")
    take(page, "results")
    page.click("#to-compare")
    page.wait_for_url("**/compare")
    page.fill("#promises", "l-diversity:2,4,8\nbeta-likeness:1,3")
    for box in page.locator("#compare-form input[type=checkbox]").all():
        box.set_checked(box.get_attribute("value") in ("mondrian", "groups"))
    page.click("#start-comparison")
    page.wait_for_selector("#comparison-table")
    page.locator("#comparison").scroll_into_view_if_needed()
    take(page, "compare", "#comparison")
    page.goto(page.url.replace("/compare", "/export"))
    take(page, "export")


def take(page: Any, name: str, part: str | None = None) -> None:
    """The top of the page, or the place where a part of it begins."""
    page.set_viewport_size({"width": 1100, "height": HEIGHTS[name]})
    if part is None:
        page.evaluate("window.scrollTo(0, 0)")
    else:
        page.locator(part).evaluate("(element) => element.scrollIntoView()")
    page.screenshot(path=PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
