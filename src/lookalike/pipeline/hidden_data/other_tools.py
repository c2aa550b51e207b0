"""Does a table of another tool say more than its cells mean?

The same content can be written in many ways: 20-30 or [20, 30], * or **, a value with or without quotes, a set in any
order. A publisher could spell each row so that it says whose row it is. So in each column the same content must always
be spelled in the same way, sets must name each value once and in one order throughout, and no column may be in the
table that nobody gave a role. What was normalised to be read is said.

The file may say nothing either that the table does not say: a Parquet file has metadata, a folder has names of files,
an archive has comments, a workbook has hidden sheets. What cannot be compared with the table is refused, or
named as not checked.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.audit import Check
from lookalike.data.microdata import Column, Domain, Microdata, Table, texts_of
from lookalike.data.release import ExtentCells, Ranges
from lookalike.errors import RecipeError, counted, quoted, unknown_name
from lookalike.files.releases.assemble import DomainIndex, assemble_extents
from lookalike.files.releases.cells import lay_out, print_cells
from lookalike.files.releases.other_tools import find_suppressed, read_cell, read_members, read_value
from lookalike.files.tables.compressed import packing_of
from lookalike.files.tables.csv.delimited import Spelling
from lookalike.files.tables.excel import sheet_names
from lookalike.files.tables.formats import OLD_EXCEL, TEXT, format_of, read_head
from lookalike.files.tables.read import spelling_of
from lookalike.pipeline.hidden_data.archives import examine_packing
from lookalike.pipeline.hidden_data.arrow import ARROW_FILE, arrow_file_problem
from lookalike.pipeline.hidden_data.excel import examine_workbook
from lookalike.pipeline.hidden_data.grounds import Findings
from lookalike.pipeline.hidden_data.metadata import ParquetFacts, is_known_writer, metadata_problem
from lookalike.pipeline.hidden_data.parquet import BadFooter, Footer, read_footer

_COLUMNS, _NOTATION = "columns", "notation"

_LONGEST_NAME = 100


def examine_table(
    path: Path, table: Table, original: Microdata, ignored: Collection[str] = (), known: Collection[str] = ()
) -> Findings:
    """A table of another tool, read as text, and the file that it was read from.

    `known` are the names of the original's columns, also of those that get no role.
    """
    spelling = spelling_of(path) if path.is_file() else None
    columns, not_checked = _columns(table, original, ignored, known, spelling)
    notation, normalised = _notation(table, original, spelling)
    container = examine_container(path, table)
    return Findings((columns, notation, *container.checks), (*not_checked, *container.not_checked), tuple(normalised))


def _columns(
    table: Table, original: Microdata, ignored: Collection[str], known: Collection[str], spelling: Spelling | None
) -> tuple[Check, list[str]]:
    roles = {domain.name for domain in original.domains.all}
    for name in ignored:
        if name not in table.names:
            raise RecipeError(f"{unknown_name('column', name, table.names)} (to ignore in {table.source})")
        if name in roles:
            raise RecipeError(f"Column {quoted(name)} has a role and is to be ignored. Say one of the two.")
    others = [name for name in table.names if name not in roles and name not in ignored]
    telling = [name for name in others if name not in known or not _is_blanked(table, name, spelling)]
    not_checked = [f"column {quoted(name)} (ignored on request)" for name in ignored]
    if telling:
        distinct = len(np.unique(table[telling[0]].codes))
        detail = (
            f"{counted(len(telling), 'column')} without a role, the first of them {quoted(telling[0][:_LONGEST_NAME])} "
            f"with {counted(distinct, 'value')}. Give it a role (--qi, --sensitive, --carry), or leave it unchecked "
            f"with --ignore {quoted(telling[0][:_LONGEST_NAME])}"
        )
        return Check(_COLUMNS, False, detail), not_checked
    said = "every column has a role" if not ignored else f"every column has a role, but for {len(ignored)} ignored"
    if others:
        said += f"; blanked out in all rows: {', '.join(quoted(name) for name in others[:5])}"
    return Check(_COLUMNS, True, said), not_checked


def _is_blanked(table: Table, name: str, spelling: Spelling | None) -> bool:
    """Whether a column has one star in every row, or nothing in every row."""
    texts, units = _texts_used(table[name])
    used = {texts[unit] for unit in units}
    spelled = used if spelling is None else {*spelling.cells[name]}
    return len(used) == 1 and len(spelled) == 1 and used <= {None, "*"}


def _texts_used(column: Column) -> tuple[list[str | None], list[int]]:
    """The text of each code, and the codes that occur."""
    return [*texts_of(column.values, column.type), None], np.unique(column.codes).tolist()


def _notation(table: Table, original: Microdata, spelling: Spelling | None) -> tuple[Check, list[str]]:
    """Whether the same content is always spelled in the same way."""
    if spelling is not None and len(spelling.line_ends) > 1:
        return Check(_NOTATION, False, "lines end in different ways"), []
    if spelling is not None and spelling.n_blank:
        return Check(_NOTATION, False, f"{counted(spelling.n_blank, 'blank line')} between the rows"), []
    normalised: list[str] = []
    suppressed = find_suppressed(table, original)
    for domains, generalised in (
        (original.domains.quasi, True),
        ((*original.domains.sensitive, *original.domains.carried), False),
    ):
        for domain in domains:
            column = _Spelled(table, domain, spelling, generalised, suppressed)
            problem = next(column.problems(), None)
            if problem is not None:
                return Check(_NOTATION, False, f"column {quoted(domain.name)}: {problem}"), []
            normalised += column.list_normalised()
    return Check(_NOTATION, True, "in each column the same content is always spelled in the same way"), normalised


class _Spelled:
    """A column of another tool: what each row says, and how it is spelled."""

    def __init__(
        self,
        table: Table,
        domain: Domain,
        spelling: Spelling | None,
        generalised: bool,
        suppressed: NDArray[np.bool_],
    ) -> None:
        column = table[domain.name]
        self.suppressed = suppressed
        self.domain, self.index, self.generalised = domain, DomainIndex(domain), generalised
        self.texts, self.used = _texts_used(column)
        self.codes = column.codes
        self.raw = None if spelling is None else spelling.cells[domain.name]
        self.contents, self.printed = self._contents()

    def _contents(self) -> tuple[dict[int, Hashable], dict[int, str | None]]:
        """What each text means, and how lookalike would write it; a star that hides a value means itself."""
        if not self.generalised:
            meant = {unit: read_value(self.index, self.texts[unit]) for unit in self.used}
            texts = [*self.domain.texts]
            return {unit: code if code >= 0 else "*" for unit, code in meant.items()}, {
                unit: (texts[code] if 0 <= code < len(self.domain.values) else self.texts[unit])
                for unit, code in meant.items()
            }
        holdings = [read_cell(self.index, self.texts[unit]) for unit in self.used]
        extents = assemble_extents(self.index, [holding for holding in holdings if holding is not None])
        units = np.arange(len(self.used), dtype=np.int32)
        field, entries, _ = lay_out(ExtentCells(self.domain, extents, units))
        printed = dict(zip(self.used, print_cells(field, entries).to_list(), strict=True))
        if isinstance(extents, Ranges):
            rows = zip(extents.lows.tolist(), extents.highs.tolist(), extents.missing.tolist(), strict=True)
            return dict(zip(self.used, rows, strict=True)), printed
        members = [
            tuple(extents.members[start:end].tolist())
            for start, end in zip(extents.starts[:-1], extents.starts[1:], strict=True)
        ]
        return dict(zip(self.used, members, strict=True)), printed

    def problems(self) -> Iterator[str]:
        yield from self._set_problems()
        yield from self._find_suppressed_problems()
        seen: dict[Hashable, str | None] = {}
        spelled = [self.texts[unit] for unit in self.codes.tolist()] if self.raw is None else self.raw
        rows = zip(self.codes.tolist(), self.suppressed.tolist(), spelled, strict=True)
        for row, (unit, suppressed, cell) in enumerate(rows):
            # A row that is suppressed says so by its stars, whatever else a star or mask means in this column.
            content = None if suppressed else self.contents[unit]
            if seen.setdefault(content, cell) != cell:
                yield (
                    f"the cell in row {row + 1:,} says the same as another cell and is spelled differently (white "
                    "space, quotes, stars or notation), which can tell rows apart. Spell the same content in one way"
                )

    def _find_suppressed_problems(self) -> Iterator[str]:
        """A row that counts as suppressed holds no value, not even in a column that is carried along."""
        for unit in np.unique(self.codes[self.suppressed]).tolist():
            if (self.texts[unit] or "").strip() not in ("", "*"):
                row = int(np.flatnonzero(self.suppressed & (self.codes == unit))[0])
                yield (
                    f"row {row + 1:,} has a star in every quasi-identifier and sensitive column, so it counts as "
                    "suppressed, and yet it has a value here. Put a star"
                )

    def _set_problems(self) -> Iterator[str]:
        """Each set names a value once, and all name them in the same order."""
        if not self.generalised:
            return
        orders: list[list[int]] = []
        for unit in self.used:
            members = read_members(self.index, self.texts[unit])
            if members is None:
                continue
            named = [code for codes in members for code in codes]
            if len(set(named)) < len(named):
                row = int(np.flatnonzero(self.codes == unit)[0])
                yield f"the set in row {row + 1:,} names a value twice"
            orders.append([codes[0] for codes in members if codes])
        if not self._in_one_order(orders):
            yield "sets name their values in different orders, which can tell whose row it is. Sort the values of each"

    def _in_one_order(self, orders: Sequence[Sequence[int]]) -> bool:
        texts = [*self.domain.texts, "(missing)"]
        keys = (lambda code: code, lambda code: texts[code], lambda code: texts[code].casefold())
        sortings = itertools.product(keys, (False, True))
        return any(
            all(list(order) == sorted(order, key=key, reverse=reverse) for order in orders) for key, reverse in sortings
        ) or _is_one_order(orders)

    def list_normalised(self) -> list[str]:
        """What is written in another notation than lookalike's."""
        pairs = {(unit, self.texts[unit]) for unit in self.used}
        if self.raw is not None:
            pairs = {*zip(self.codes.tolist(), self.raw, strict=True)}
        kinds = {
            kind
            for unit, raw in pairs
            for kind in _kinds_of_notation(raw or "", self.texts[unit] or "", self.printed[unit] or "")
        }
        return [f"column {quoted(self.domain.name)}: {', '.join(sorted(kinds))}"] if kinds else []


def _is_one_order(orders: Sequence[Sequence[int]]) -> bool:
    """Whether all lists follow one order, and together show all of it.

    An order that the lists leave open could have been chosen list by list.
    """
    followers: dict[int, set[int]] = {}
    for order in orders:
        for place, code in enumerate(order):
            followers.setdefault(code, set()).update(order[place + 1 :])
    left = {code: {after for after in later if after != code} for code, later in followers.items()}
    while left:
        # The last of those that are left has nobody after it.
        last = [code for code, later in left.items() if not later & left.keys()]
        if len(last) != 1:
            return False
        del left[last[0]]
    return True


def _kinds_of_notation(raw: str, text: str, printed: str) -> Iterator[str]:
    inner = raw.strip(" \t")
    if inner != raw or text != text.strip():
        yield "white space"
    if inner != text and inner[:1] in "\"'" and inner[:1] == inner[-1:]:
        yield "quotes"
    bare = text.strip()
    if bare == printed:
        return
    if bare and set(bare) == {"*"}:
        yield "stars for any value"
    elif "*" in bare:
        yield "masks"
    elif any(sign in bare for sign in "|;{") or ("," in bare and bare[:1] not in "[(]"):
        yield "notation of sets"
    elif bare:
        yield "notation of ranges and values"
    else:
        yield "empty cells"


_FILES, _SHEETS, _METADATA, _PACKING = "files", "sheets", "file metadata", "packing"
_FINISHED = "_SUCCESS"
"""An empty file by which Spark says that it is done."""
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
