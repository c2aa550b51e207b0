"""A hook of the site: pages are written for people and for any renderer, and this one is told five things more.

What is below a numbered item is indented by three spaces; the renderer counts in fours, so it gets one more. After
an item of several paragraphs the next one gets an empty line before it.
Python blocks with `>>>` are sessions, in which only what follows the prompt is Python. A block that the tests put into
a file shows the file's name.
The changelog, SECURITY, CONTRIBUTING and the notebooks lie outside docs/ and are pages of the site too (`ELSEWHERE`).
Links to them are turned into links to these pages; links to other files of the project become plain words.
Where a term of the glossary comes first in the text of a page, it is a link to its entry (`TERMS`).
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "notebooks/hospital-release.ipynb": "notebooks/hospital-release.md",
    "notebooks/analyst.ipynb": "notebooks/analyst.md",
}
"""Files of the project that are pages of the site, and where."""
TERMS = (
    "adversary",
    "bucketized",
    "carried column",
    "control group",
    "differential privacy",
    "PRIVATE folder",
    "quasi-identifier",
    "taxonomy",
)
"""Terms of the glossary that pages link to."""
_ITEM = re.compile(r"\d+\. ")
_FILE = re.compile(r"^<!-- file: (\S+) -->\n```(\w+)\n", re.MULTILINE)
_SESSION = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Called by MkDocs with the files of the site."""
    from mkdocs.structure.files import File

    for file, page in ELSEWHERE.items():
        files.append(File.generated(config, page, content=page_of(file)))
    return files


def on_page_markdown(markdown: str, page: Any = None, **_: Any) -> str:
    """Called by MkDocs with the text of every page.

    >>> print(on_page_markdown("1. one:\\n   - of it"))
    1. one:
        - of it
    """
    lines: list[str] = []
    numbered, parted, fenced = False, False, False
    if page is not None and page.file.src_uri not in ELSEWHERE.values():
        at = page.file.src_uri
        markdown = moved_links(markdown, posixpath.dirname("docs/" + at), at)
    if page is not None:
        markdown = linked_terms(markdown, page.file.src_uri)
    named = _FILE.sub(r'```\2 title="\1"\n', markdown)
    for line in _SESSION.sub("```pycon\n", named).splitlines():
        if line and not line.startswith(" ") and not fenced:
            follows = numbered and parted and lines[-1] != ""
            numbered, parted = _ITEM.match(line) is not None, False
            if follows and numbered:
                lines.append("")
        parted = parted or not line
        if line.lstrip().startswith("```"):
            fenced = not fenced
        lines.append(" " + line if numbered and re.match(r" {3}\S", line) else line)
    return "\n".join(lines)


def linked_terms(text: str, page: str) -> str:
    """The first of each term in plain lines links to the glossary; the glossary's entries can be linked to."""
    if page == "glossary.md":
        return re.sub(
            r"^\*\*([^*]+)\.\*\*", lambda found: f'<a id="{_anchor(found[1])}"></a>{found[0]}', text, flags=re.M
        )
    if page in ELSEWHERE.values():
        return text
    up = posixpath.relpath("glossary.md", posixpath.dirname(page) or ".")
    lines, fenced = text.splitlines(), False
    for term in TERMS:
        wanted = re.compile(rf"(?<![\w\[`(/*-])({re.escape(term)}s?)(?![\w`\])*-])")
        for number, line in enumerate(lines):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            # Not in blocks, headings, tables, and lines that have links or code already.
            if fenced or not line[:1].isalpha() or "](" in line or "`" in line or "[" in line or "]" in line:
                continue
            if wanted.search(line):
                lines[number] = wanted.sub(rf"[\1]({up}#{_anchor(term)})", line, count=1)
                break
        fenced = False
    return "\n".join(lines)


def _anchor(term: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", term.casefold()).strip("-")


def moved_links(text: str, folder: str, page: str) -> str:
    """Links of a text from a folder of the project, as links of a page of the site."""

    def moved(found: re.Match[str]) -> str:
        words, (path, _, anchor) = found[1], found[2].partition("#")
        if re.match(r"\w+:", path) or not path:
            return found[0]
        target = posixpath.normpath(posixpath.join(folder, path))
        if target not in ELSEWHERE and not target.startswith("docs/"):
            return words
        site = ELSEWHERE.get(target, target.removeprefix("docs/"))
        link = posixpath.relpath(site, posixpath.dirname(page) or ".")
        return f"[{words}]({link}{'#' + anchor if anchor else ''})"

    return _LINK.sub(moved, text)


def page_of(file: str) -> str:
    """The page of a file that lies outside docs/."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if file.endswith(".ipynb"):
        text = _from_notebook(text)
    return moved_links(text, posixpath.dirname(file), ELSEWHERE[file])


def _from_notebook(text: str) -> str:
    """Cells and what they gave: text, and pictures as they are."""
    parts: list[str] = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts.extend(_shown(output) for output in cell["outputs"])
    return "\n\n".join(part for part in parts if part) + "\n"


def _shown(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output.get("data", {})
    if "image/svg+xml" in data:
        # A line that is empty would end the block of HTML.
        drawn = "".join(data["image/svg+xml"])
        return (
            "<div>" + "\n".join(line for line in drawn[drawn.index("<svg") :].splitlines() if line.strip()) + "</div>"
        )
    if "text/markdown" in data:
        return "".join(data["text/markdown"])
    return f"```text\n{''.join(data.get('text/plain', '')).rstrip()}\n```"
