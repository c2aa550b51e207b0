"""What a file of another tool holds besides the cells of its table.

A Parquet file has metadata, a folder has names of files, an archive has comments, a workbook has hidden sheets. They
may say nothing that the table does not say. What cannot be compared with the table is refused, or named as not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lookalike.audit import Check
from lookalike.data.microdata import Table
from lookalike.errors import counted, quoted
from lookalike.files.tables.compressed import packing_of
from lookalike.files.tables.excel import sheet_names
from lookalike.files.tables.formats import OLD_EXCEL, TEXT, format_of, read_head
from lookalike.pipeline.surplus.canonical import Findings
from lookalike.pipeline.surplus.flat_schemas import ARROW_FILE, arrow_file_problem
from lookalike.pipeline.surplus.footers import BadFooter, Footer, read_footer
from lookalike.pipeline.surplus.packings import examine_packing
from lookalike.pipeline.surplus.tool_metadata import ParquetFacts, is_known_writer, metadata_problem
from lookalike.pipeline.surplus.workbook_parts import examine_workbook

_FILES, _SHEETS, _METADATA, _PACKING = "files", "sheets", "file metadata", "packing"
_FINISHED = "_SUCCESS"
"""An empty file by which Spark says that it is done."""
_LONGEST_NAME = 100
_PARQUET, _STREAM = b"PAR1", b"\xff\xff\xff\xff"
_AGAIN = "Write the table again as CSV, and audit and publish that file"


def examine_container(path: Path, table: Table) -> Findings:
    """A file or folder of another tool, besides the cells of the table that was read from it."""
    if path.is_dir():
        return _folder(path, table)
    head = read_head(path)
    if head.startswith(_PARQUET):
        return _parquet(path, table)
    if head.startswith(ARROW_FILE):
        return _arrow(path, table)
    if head.startswith(_STREAM):
        return _refuse(_METADATA, f"{path.name} is a stream of Arrow, which is not looked through. {_AGAIN}")
    if head.startswith(OLD_EXCEL):
        return _refuse(_SHEETS, f"{path.name} is a workbook of an old format, which is not looked through. {_AGAIN}")
    if sheets := sheet_names(path):
        return _workbook(path, sheets)
    if format_of(path) is not TEXT:
        return _refuse(_METADATA, f"{path.name} is of a format that is not looked through. {_AGAIN}")
    return _examine_packed(path) if packing_of(path) else Findings()


def _inside(path: Path, what: str = "") -> str:
    return f"how {path.name} keeps its values{what} inside (other data may be hidden there)"


def _refuse(name: str, detail: str) -> Findings:
    return Findings((Check(name, False, detail),))


def _folder(path: Path, table: Table) -> Findings:
    """One Parquet file, and nothing else but the sign that the table is complete."""
    entries = sorted(path.rglob("*"))
    found = [one for one in entries if not (one.name == _FINISHED and one.is_file() and not one.stat().st_size)]
    parquet = [one for one in found if one.is_file() and one.name[0] not in "._"]
    for one in found:
        if one.is_symlink() or (one not in parquet and not one.is_dir()):
            return _refuse(_FILES, f"{quoted(one.name[:_LONGEST_NAME])} is no part of the table. Remove it")
    if len(parquet) > 1:
        return _refuse(
            _FILES,
            f"the table is divided into {counted(len(parquet), 'file')}. Which row is in which file is published too, "
            "and so are the names of the files. Write the table to one file, and audit and publish that file",
        )
    if found != parquet or len(parquet[0].name) > _LONGEST_NAME:
        return _refuse(_FILES, f"names of folders, or of files, say more than the table. {_AGAIN}")
    inner = _parquet(parquet[0], table)
    return Findings((Check(_FILES, True, f"one file, {quoted(parquet[0].name)}"), *inner.checks), inner.not_checked)


def _parquet(path: Path, table: Table) -> Findings:
    try:
        footer = read_footer(path)
    except (BadFooter, OSError):
        return _refuse(_METADATA, f"{path.name} has an end that cannot be read. {_AGAIN}")
    problem = next(_parquet_problems(footer, table), None)
    if problem is not None:
        return _refuse(_METADATA, f"{path.name} {problem}")
    not_checked = [_inside(path)]
    if footer.written_by and not is_known_writer(footer.written_by):
        not_checked.append(f"the name of the tool that {path.name} gives: {quoted(footer.written_by)}")
    keys = sorted(key for key, _ in footer.metadata)
    said = f"says what the columns are, and no more: {', '.join(keys)}" if keys else "there is none"
    return Findings((Check(_METADATA, True, said),), tuple(not_checked))


def _parquet_problems(footer: Footer, table: Table) -> Iterator[str]:
    root, *columns = footer.columns
    facts = ParquetFacts([str(name) for _, _, name, _ in columns], table)
    if not str(root[2]).isidentifier() or len(str(root[2])) > _LONGEST_NAME // 4:
        yield "names its table by a text that no common tool writes"
    if set(facts.columns) != set(table.names):
        yield "has other columns than the table that was read from it"
    keys = [key for key, _ in footer.metadata]
    if len(set(keys)) < len(keys):
        yield "has the same metadata twice"
    for key, value in footer.metadata:
        if problem := metadata_problem(key, value, facts):
            yield f"{problem}. {_AGAIN}"
    if len(footer.written_by) > _LONGEST_NAME:
        yield "gives a name of more than 100 letters for the tool that wrote it"
    if footer.n_unclaimed:
        yield f"has {counted(footer.n_unclaimed, 'byte')} that belong to no column"
    if not footer.even_groups:
        yield "has row groups of uneven sizes"


def _arrow(path: Path, table: Table) -> Findings:
    facts = ParquetFacts(table.names, table)
    problem = arrow_file_problem(path, table.names, lambda key, value: metadata_problem(key, value, facts))
    if problem is not None:
        return _refuse(_METADATA, f"{path.name} {problem}. {_AGAIN}")
    return Findings((Check(_METADATA, True, "says what the columns are, and no more"),), (_inside(path),))


def _workbook(path: Path, sheets: list[str]) -> Findings:
    """A workbook must hold the table and nothing else."""
    if len(sheets) > 1:
        return _refuse(_SHEETS, f"{counted(len(sheets) - 1, 'sheet')} besides the table")
    found = examine_workbook(path)
    if found.problem is not None:
        return _refuse(_SHEETS, f"{path.name} {found.problem}. {_AGAIN}")
    authors = ", ".join(quoted(name) for name in found.authors)
    named = (f"whom {path.name} names as its authors: {authors}",) if authors else ()
    only = Check(_SHEETS, True, "the table is the only sheet, and cells have neither formulas nor comments")
    return Findings((only,), (_inside(path, ", styles and settings"), *named))


def _examine_packed(path: Path) -> Findings:
    found = examine_packing(path)
    if found.problem is not None:
        return _refuse(
            _PACKING, f"{path.name} {found.problem}. Unpack it, and audit and publish the file that is in it"
        )
    named = (f"the name under which {path.name} is packed: {quoted(found.name)}",) if found.name else ()
    return Findings((Check(_PACKING, True, "one file, without comments"),), (_inside(path), *named))
