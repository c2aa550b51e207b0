"""Excel workbooks as small as they can be, written by hand: no writer of workbooks is among our packages."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

_TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/></Types>"""
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_STYLES = f"""<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>
<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>
<cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/>
<xf numFmtId="22" applyNumberFormat="1"/></cellXfs></styleSheet>"""


class Day(float):
    """A date as workbooks keep it: days since the end of 1899."""


class Formula(str):
    """A formula whose stored value is 42."""


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]], *, extra: str = "") -> Path:
    """One sheet a table; `extra` goes into every sheet as it stands."""
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{place}" r:id="rId{place}"/>' for place, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="rId{place}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{place}.xml"/>'
        for place in range(1, len(sheets) + 1)
    )
    styles = f'<Relationship Id="rId99" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("[Content_Types].xml", _TYPES)
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1" Type="{_OFFICE}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{_RELATIONS}">{links}{styles}</Relationships>'
        )
        book.writestr("xl/styles.xml", _STYLES)
        for place, rows in enumerate(sheets.values(), 1):
            body = "".join(
                f'<row r="{number}">{"".join(_cell(cell, number, at) for at, cell in enumerate(row))}</row>'
                for number, row in enumerate(rows, 1)
            )
            book.writestr(
                f"xl/worksheets/sheet{place}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{body}{extra}</sheetData></worksheet>',
            )
    return path


def _cell(cell: object, row: int, column: int) -> str:
    place = f"{chr(ord('A') + column)}{row}"
    if cell is None:
        return ""
    if isinstance(cell, Formula):
        return f'<c r="{place}"><f>{escape(cell)}</f><v>42</v></c>'
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    return f'<c r="{place}" s="{1 if isinstance(cell, Day) else 0}"><v>{cell!r}</v></c>'.replace(
        repr(cell), str(float(cell)) if isinstance(cell, float) else str(cell)
    )
