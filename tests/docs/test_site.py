"""The site: every page once, no network, and what its hooks change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from tests.docs.pages import (
    DOCS,
    LINK,
    ROOT,
    script,
)

SVG = "http://www.w3.org/2000/svg"


def test_every_page_is_on_the_map() -> None:
    linked = {
        (DOCS / link.partition("#")[0]).resolve() for link in LINK.findall((DOCS / "index.md").read_text("utf-8"))
    }
    assert set(DOCS.rglob("*.md")) - linked == {DOCS / "index.md"}


def test_the_site_lists_every_page_once_and_nothing_else() -> None:
    listed = list(pages_in(site_settings()["nav"]))
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_the_site_needs_no_network_and_hides_no_warning() -> None:
    settings = site_settings()
    assert settings["strict"] is True
    assert settings["theme"]["font"] is False
    assert settings["use_directory_urls"] is False
    assert "*.py" in settings["exclude_docs"].split()
    own = [*settings["extra"]["polyfills"], *settings["extra_css"], settings["theme"]["favicon"]]
    assert all((DOCS / file).is_file() for file in own)
    assert not any("http" in (DOCS / file).read_text(encoding="utf-8").replace(SVG, "") for file in own)
    # The offline plugin adds a script from elsewhere unless it finds one of this name.
    assert any("iframe-worker" in file for file in settings["extra"]["polyfills"])


def site_settings() -> dict[str, Any]:
    """Of mkdocs.yml, whose one tag names a function of the renderer."""

    class Settings(yaml.SafeLoader):
        pass

    Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
    return dict(yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Settings))


def pages_in(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_in(entry)


def test_what_stands_below_a_numbered_item_stays_there_on_the_site() -> None:
    written = "1. one:\n   - of it\n\n   more\n2. two\n\n```text\n   as it is\n```\n\n- other\n   kept"
    wanted = "1. one:\n    - of it\n\n    more\n\n2. two\n\n```text\n   as it is\n```\n\n- other\n   kept"
    assert script("site_pages").on_page_markdown(written, page=None) == wanted


def test_sessions_and_files_are_told_from_programs_on_the_site() -> None:
    session, program = "```python\n>>> 1 + 1\n2\n```", "```python\nassert 1 + 1 == 2\n```"
    told = script("site_pages").on_page_markdown(f"{session}\n\n{program}")
    assert told == f"{session.replace('python', 'pycon')}\n\n{program}"
    told = script("site_pages").on_page_markdown("<!-- file: caps.yaml -->\n```yaml\nHIV: 0.05\n```")
    assert told == '```yaml title="caps.yaml"\nHIV: 0.05\n```'
