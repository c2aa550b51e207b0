"""Whole publications of odd names and values: the folder is written, and its report is a page with our marks alone.

Lines: the title; three names; then values, dealt out to twelve people. The first byte says the method and how full the
report is.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree

import polars as pl

import lookalike as la
from fuzz.clinic import workplace
from fuzz.judging import MOST_SECONDS, SECRET, Fault, tried

_METHODS = ("mondrian", "groups", "anatomy", "heterogeneous", "perturbation", "freeform")
_PEOPLE = 12
SEEDS = (
    b"\0Patients\nage\nsex\ndisease\n30\nf\nflu\n41\nm\ncold\n52\nf\ncough",
    b"\1<zq7 onload=x>\n<zq7 a='b'>\n&amp;\n</svg>\n<script>\n]]>\n<!--\n'\"\n\\u003c\n</script>\n\x1b[0m",
    b"\2\n*\n^.*$\n(missing)\na|b\n=1+1\n@x\n \n\t\n%s\n{{7*7}}\n{% raw %}",
    "\3\u202etitle\ne\u0301\n\ufeff\n\u2028\n\U0001f600\n\ufffe\n\x7f\n1e999\nNaN\n-inf\nnull".encode(),
    b"\x06Full\nage\nsex\ndisease\n" + b"\n".join(b"x" * n for n in range(1, 9)),
)
WORDS = (b"<zq7", b"</style>", b"</svg>", b"<script>", b"</script>", b"<!--", b"]]>", b"&lt;", b"&#0;", b"{{", b"{%",
         b"\x1b", b"\0", b"\x08", b"\xef\xbf\xbe", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xe2\x80\xa8", b"javascript:",
         b"'", b'"', b"`", b"\\", b"=cmd|", b"\n", b"NaN", b"1e400", b"\xf0\x9f\x98\x80")  # fmt: skip


def run(data: bytes) -> None:
    which = data[0] if data else 0
    title, *texts = data[1:].decode("utf-8", "replace").split("\n")
    names = [text or f"column {place}" for place, text in enumerate([*texts[:3], "", "", ""][:3])]
    values = texts[3:] or ["x", "y"]
    frame = {name: [values[(row * step + row // 3) % len(values)] for row in range(_PEOPLE)]
             for step, name in enumerate(names, start=1)}  # fmt: skip
    if len(frame) == len(names):
        method = _METHODS[which % len(_METHODS)]
        full = which % (2 * len(_METHODS)) >= len(_METHODS)
        _loaded(method, full)
        tried(
            lambda: _published(pl.DataFrame(frame), names, title, method, full),
            named=SECRET,
            seconds=60 if full else MOST_SECONDS,
        )


@cache
def _loaded(method: str, full: bool) -> None:
    """What takes seconds the first time."""
    frame = pl.DataFrame({"age": range(_PEOPLE), "sex": ["f", "m"] * 6, "ill": ["flu", "cold", "cough"] * 4})
    _published(frame, frame.columns, "Patients", method, full)


def _published(frame: pl.DataFrame, names: list[str], title: str, method: str, full: bool) -> None:
    *qi, sensitive = names
    made = la.publish(frame, qi=qi, sensitive=sensitive, model=_model(method), algorithm=method, title=title)
    folder = workplace() / "published"
    shutil.rmtree(folder, ignore_errors=True)
    made.write(folder, report="full" if full else "brief")
    json.loads((folder / "report.json").read_text())
    page = (folder / "report.html").read_text()
    foreign = _Foreign(page).seen
    if foreign:
        raise Fault(f"a value's marks in the report: {sorted(foreign)[0][:60]}", "report")
    for picture in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(picture)


def _model(method: str) -> str:
    return {"freeform": "k-anonymity:2", "perturbation": "beta-likeness:4"}.get(method, "l-diversity:2")


class _Foreign(HTMLParser):
    """What a browser would take for marks, and no page of ours has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen |= {tag} & _NOT_OURS | {name for name, _ in attrs if name.startswith("on")}

    def handle_comment(self, data: str) -> None:
        self.seen.add("a comment")


_NOT_OURS = {"zq7", "script", "link", "img", "iframe", "object", "embed", "form", "base"}
