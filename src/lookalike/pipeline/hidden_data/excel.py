"""What an Excel workbook holds besides the cells of its table.

A workbook is an archive of XML files. Sheets, comments, names, formulas, document properties, drawings and texts that
no cell shows all have room for other data. Only the files that a plain table needs may be there; those that hold the
table are read again, cell by cell, and the same content must be kept in the same way in every row.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from lookalike.files.tables.compressed import open_archive
from lookalike.pipeline.hidden_data.archives import archive_problem

_STRINGS, _BOOK = "xl/sharedStrings.xml", "xl/workbook.xml"
_PROPERTIES = ("docProps/app.xml", "docProps/core.xml")
_SHEET = re.compile(r"xl/worksheets/sheet\d{0,3}\.xml", re.IGNORECASE)
_PARTS = frozenset(
    {
        "[Content_Types].xml",
        "_rels/.rels",
        "xl/_rels/workbook.xml.rels",
        "xl/styles.xml",
        "xl/theme/theme1.xml",
        _BOOK,
        _STRINGS,
        *_PROPERTIES,
    }
)
_OF_SHEET = re.compile(
    "sheetPr|dimension|sheetViews|sheetFormatPr|cols|sheetData|sheetCalcPr|phoneticPr|printOptions|pageMargins|"
    "pageSetup|ignoredErrors"
)
_NAMED_PROPERTIES = frozenset({"creator", "lastModifiedBy"})
_PLAIN_PROPERTIES = re.compile(
    "created|modified|Application|AppVersion|DocSecurity|ScaleCrop|LinksUpToDate|SharedDoc|HyperlinksChanged|TotalTime|"
    "revision|Template|language|version|lpstr|i4"
)
_LONGEST = 100
_MOST_PROPERTIES, _MOST_SETTINGS, _MOST_CELLS = 4 << 10, 64 << 10, 64 << 20
"""Bytes of the document properties, of each other part that holds no cells, and of each that does."""
_SPANS = re.compile(r"\d{1,5}:\d{1,5}")


class Workbook(NamedTuple):
    """What was found."""

    problem: str | None
    """In a few words that go on from the name of the file."""
    authors: tuple[str, ...] = ()
    """Whom the document properties name."""


class _Found(ValueError):
    """What a workbook holds besides its table."""


def examine_workbook(path: Path) -> Workbook:
    """A workbook of one sheet."""
    with path.open("rb") as file, open_archive(file, path) as archive:
        problem = archive_problem(archive, file, path)
        if problem is not None:
            return Workbook(problem)
        try:
            return Workbook(None, tuple(dict.fromkeys(_check(archive))))
        except (_Found, ElementTree.ParseError) as found:
            return Workbook(str(found) if isinstance(found, _Found) else "has a part that is no XML")


def _check(archive: zipfile.ZipFile) -> Iterator[str]:
    names = archive.namelist()
    sheets = [name for name in names if _SHEET.fullmatch(name)]
    others = [name for name in names if name not in _PARTS and name not in sheets]
    if others:
        raise _Found(f'holds "{others[0][:_LONGEST]}", which a table does not need')
    for name in names:
        most = _MOST_PROPERTIES if name in _PROPERTIES else _MOST_SETTINGS
        if archive.getinfo(name).file_size > (_MOST_CELLS if name in (*sheets, _STRINGS) else most):
            raise _Found(f"has more in {name} than is looked through")
    if len(sheets) != 1:
        raise _Found("holds more sheets than the table")
    if any(_tag(one) == "definedName" for one in _parse(archive, _BOOK).iter()):
        raise _Found("has defined names")
    for part in _PROPERTIES:
        if part in names:
            yield from _authors(_parse(archive, part))
    strings = [_plain_text(one) for one in _parse(archive, _STRINGS)] if _STRINGS in names else []
    _check_sheet(_parse(archive, sheets[0]), strings)


def _parse(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    content = archive.read(name)
    if b"\0" in content or not content.startswith((b"<", b"\xef\xbb\xbf<")):
        raise _Found(f"has {name} in another encoding than UTF-8")
    if b"&#" in content:
        raise _Found(f"has letters in {name} that are written as numbers")
    if b"<!" in content or content.count(b"<?") > content.startswith((b"<?", b"\xef\xbb\xbf<?")):
        raise _Found(f"has a remark in {name}")
    return ElementTree.fromstring(content)


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _authors(properties: ElementTree.Element) -> Iterator[str]:
    for one in properties.iter():
        text = (one.text or "").strip()
        if not text:
            continue
        plain = _tag(one) in _NAMED_PROPERTIES or _PLAIN_PROPERTIES.fullmatch(_tag(one))
        if not plain or len(text) > _LONGEST:
            raise _Found(f"has a document property: {_tag(one)[:_LONGEST]}")
        if _tag(one) in _NAMED_PROPERTIES:
            yield text


def _plain_text(string: ElementTree.Element) -> str:
    """Of a cell; other than as one plain text, the same could be said in many ways."""
    inner = list(string)
    if len(inner) != 1 or _tag(inner[0]) != "t" or (string.text or "").strip() or (inner[0].tail or "").strip():
        raise _Found("has texts in several pieces, or with a way to read them")
    return inner[0].text or ""


def _check_sheet(sheet: ElementTree.Element, strings: list[str]) -> None:
    used: set[int] = set()
    for part in sheet:
        if not _OF_SHEET.fullmatch(_tag(part)):
            raise _Found(f"has a part of its sheet that a table does not need: {_tag(part)[:_LONGEST]}")
        if _tag(part) == "sheetData":
            _check_rows(part, strings, used)
    if len(used) < len(strings):
        raise _Found("has texts that no cell shows")
    if len(set(strings)) < len(strings):
        raise _Found("has the same text twice, which can tell rows apart")


def _check_rows(rows: ElementTree.Element, strings: list[str], used: set[int]) -> None:
    """In each column the same content is kept in the same way; and rows below the header look alike."""
    ways: dict[tuple[str, Hashable], Hashable] = {}
    looks: set[Hashable] = set()
    for number, row in enumerate(rows, 1):
        if row.get("r", str(number)) != str(number) or not _SPANS.fullmatch(row.get("spans", "1:1")) or row.text:
            raise _Found("has rows with remarks, or rows left out")
        if number > 1:
            looks.add((row.tail, *sorted((key, value) for key, value in row.attrib.items() if key not in _PLACES)))
        for cell in row:
            column, place = _split_place(cell)
            if place not in ("", str(number)) or not cell.attrib.keys() <= {"r", "s", "t"} or cell.tail:
                raise _Found("has remarks in cells")
            shown, raw = _read_cell(cell, strings, used)
            way = (raw, cell.get("t", "n"), cell.get("s", "0"), *sorted(cell.attrib))
            if number > 1 and ways.setdefault((column, shown), way) != way:
                raise _Found("keeps or formats the same content in different ways, which can tell rows apart")
    if len(looks) > 1:
        raise _Found("has rows that look different, which can tell rows apart")


_PLACES = frozenset({"r", "spans"})


def _split_place(cell: ElementTree.Element) -> tuple[str, str]:
    found = re.fullmatch(r"([A-Z]{0,3})(\d{0,7})", cell.get("r", ""))
    if found is None:
        raise _Found("has remarks in cells")
    return found[1], found[2]


def _read_cell(cell: ElementTree.Element, strings: list[str], used: set[int]) -> tuple[Hashable, str]:
    """What a cell shows, and how it is written; a shared text counts as used."""
    inner = list(cell)
    if any(_tag(one) not in ("v", "is") for one in inner) or len(inner) > 1 or cell.text:
        raise _Found("has formulas, or more than a value in a cell")
    if not inner:
        return "", ""
    if inner[0].tail:
        raise _Found("has remarks in cells")
    if _tag(inner[0]) == "is":
        text = _plain_text(inner[0])
        return text, text
    text = inner[0].text or ""
    if cell.get("t", "n") == "n":
        try:
            return str(float(text)), text
        except ValueError:
            raise _Found("has a number that is none") from None
    if cell.get("t") != "s":
        return text, text
    if not text.isascii() or not text.isdigit() or str(int(text)) != text or int(text) >= len(strings):
        raise _Found("refers to texts that it does not have")
    used.add(int(text))
    return strings[int(text)], text
