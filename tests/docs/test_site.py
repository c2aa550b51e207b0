"""The site: every page once, no network, and what its hooks change."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import yaml

from tests.docs.pages import (
    DOCS,
    FENCE,
    LINK,
    ROOT,
    script,
)

SVG = "http://www.w3.org/2000/svg"


def test_every_page_is_on_the_map() -> None:
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in LINK.findall((DOCS / "map.md").read_text("utf-8"))}
    assert set(DOCS.rglob("*.md")) - linked == {DOCS / "map.md"}
    assert {ROOT / file for file in script("site_pages").ELSEWHERE} <= linked


def test_the_site_lists_every_page_once_and_nothing_else() -> None:
    listed = list(pages_in(site_settings()["nav"]))
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert sorted(listed) == sorted([*pages, *script("site_pages").ELSEWHERE.values()])


def test_files_from_elsewhere_are_on_the_site_with_links_that_lead_somewhere() -> None:
    hook = script("site_pages")
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} | set(hook.ELSEWHERE.values())
    for file, page in hook.ELSEWHERE.items():
        text = hook.page_of(file)
        assert text.startswith("# ")
        links = [link.partition("#")[0] for link in LINK.findall(FENCE.sub("", text)) if not re.match(r"\w+:", link)]
        at = PurePosixPath(page).parent
        found = {posixpath.normpath(at / link) for link in links if link}
        assert [link for link in sorted(found - pages) if not (DOCS / link).is_file()] == [], file


def test_links_out_of_the_documents_lead_to_the_pages_of_the_site() -> None:
    moved = script("site_pages").moved_links
    assert moved("see [it](../CHANGELOG.md#020)", "docs", "map.md") == "see [it](changelog.md#020)"
    wanted = "[one](../notebooks/analyst.md)"
    assert moved("[one](../../notebooks/analyst.ipynb)", "docs/tutorials", "tutorials/recipient.md") == wanted
    assert moved("[two](docs/audit.md)", "", "security.md") == "[two](audit.md)"
    assert (
        moved("[three](LICENSE), [four](https://example.org)", "", "security.md")
        == "three, [four](https://example.org)"
    )


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


def test_terms_of_the_glossary_are_linked_once_a_page() -> None:
    hook = script("site_pages")
    entries = re.findall(r"^\*\*([^*]+)\.\*\*", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)
    assert {term.casefold() for term in hook.TERMS} <= {entry.casefold() for entry in entries}
    text = (
        "# The adversary\n\n| adversary |\n\nAn adversary and an adversary.\n\n```text\nrecord map\n```\nThe `GCP` is."
    )
    told = hook.linked_terms(text, "models/x.md")
    assert told == text.replace("An adversary", "An [adversary](../glossary.md#adversary)")
    assert hook.linked_terms("**Node.** A value.", "glossary.md") == '<a id="node"></a>**Node.** A value.'


def site_settings() -> dict[str, Any]:
    """Of mkdocs.yml, where one tag names a function of the renderer, and one takes the environment or a default."""

    class Settings(yaml.SafeLoader):
        pass

    Settings.add_constructor("!ENV", lambda loader, node: loader.construct_sequence(node)[-1])
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
