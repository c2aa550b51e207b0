"""A hook of the site: what stands below a numbered item may be indented by three spaces, as people and other renderers
do. The site's renderer counts in fours, so it gets one more.
"""

from __future__ import annotations

import re
from typing import Any

_ITEM = re.compile(r"\d+\. ")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs with the text of every page.

    >>> print(on_page_markdown("1. one:\\n   - of it"))
    1. one:
        - of it
    """
    lines, numbered, fenced = [], False, False
    for line in markdown.splitlines():
        if line and not line.startswith(" ") and not fenced:
            numbered = _ITEM.match(line) is not None
        if line.lstrip().startswith("```"):
            fenced = not fenced
        lines.append(" " + line if numbered and re.match(r" {3}\S", line) else line)
    return "\n".join(lines)
