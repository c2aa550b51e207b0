"""A hook of the site: pages are written for people and for any renderer, and this one is told three things more.

What is below a numbered item is indented by three spaces; the renderer counts in fours, so it gets one more. After
an item of several paragraphs the next one gets an empty line before it.
Python blocks with `>>>` are sessions, in which only what follows the prompt is Python. A block that the tests put into
a file shows the file's name.
"""

from __future__ import annotations

import re
from typing import Any

_ITEM = re.compile(r"\d+\. ")
_FILE = re.compile(r"^<!-- file: (\S+) -->\n```(\w+)\n", re.MULTILINE)
_SESSION = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs with the text of every page.

    >>> print(on_page_markdown("1. one:\\n   - of it"))
    1. one:
        - of it
    """
    lines: list[str] = []
    numbered, parted, fenced = False, False, False
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
