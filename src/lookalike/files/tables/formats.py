"""The formats of files that tables are read from: the list, how each is recognised, and what reads it.

    @register_format
    class Stata(Format):
        name, endings, about = "Stata", (".dta",), "one table per file"

        def scan(self, path, asked):
            return polars_frame_of(path), []

A file is recognised by its first bytes and only then by its name; what no format claims is delimited text. Readers are
loaded on first use, so that help and messages can list formats without loading polars.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from lookalike.data.missing_codes import check_missing
from lookalike.errors import DataError, RecipeError, SchemaError, counted, quoted, unknown_name
from lookalike.progress import Progress, silent
from lookalike.untrusted import check_plain_file

if TYPE_CHECKING:
    import polars

    from lookalike.data.microdata import Table
    from lookalike.data.schema import ValueType

_HEAD = 8
ZIP = b"PK\x03\x04"
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
MOST_FIELDS = 100_000
"""Columns that a table has at most."""
MOST_COLUMNS = 10_000
"""Columns that are read at most."""
_LONGEST_NAME = 10_000
LONGEST_FIELD = 4 << 20
"""Bytes of a cell."""


@dataclass(frozen=True, kw_only=True)
class Hints:
    """What the user says about a CSV file; None is guessed."""

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    unpack_limit: int | None = None
    """The most bytes that a compressed file may unpack to."""


@dataclass(frozen=True)
class Asked:
    """What is wanted of a file: columns (None: all), their types, texts that mean missing, and how to read it."""

    columns: Collection[str] | None = None
    also: Callable[[str], bool] | None = None
    """Further columns by name, to be looked at: read if they can be, and nothing is said about them."""
    types: Mapping[str, ValueType] = field(default_factory=dict)
    missing: Collection[str] = ()
    """Texts that mean "nothing", and column=text for those of one column (`data.missing_codes`)."""
    date_formats: Mapping[str, str] = field(default_factory=dict)
    """How dates are written, by column (`data.date_formats`)."""
    hints: Hints = Hints()
    sheet: str | int | None = None
    progress: Progress = silent

    def choose(self, names: Sequence[str], source: str) -> list[str]:
        """The names to read, in the order of the table."""
        known = set(names)
        for name in (*(self.columns or ()), *self.types, *self.date_formats):
            if name not in known:
                raise SchemaError(f"{source}: {unknown_name('column', name, names)}")
        check_missing(self.missing, names, source)
        wanted = [name for name in names if self.columns is None or name in self.columns or self.is_extra(name)]
        if len(wanted) > MOST_COLUMNS:
            raise SchemaError(
                f"{source} has {len(wanted):,} columns, more than the {MOST_COLUMNS:,} that can be read at once. Name "
                "those that are needed, or look whether rows and columns were exchanged."
            )
        return wanted

    def is_extra(self, name: str) -> bool:
        """Whether a column is read to be looked at only."""
        return self.columns is not None and name not in self.columns and self.also is not None and self.also(name)


def name_nameless(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names for the few columns whose header is empty, as row numbers have that R and pandas write, and a note.

    >>> name_nameless(["", "age"])
    (['column_1', 'age'], ['Column 1 has no name in the header, so it was named "column_1".'])
    >>> name_nameless(["Hospital list 2024", "", ""])
    (['Hospital list 2024', '', ''], [])
    """
    nameless = [place for place, name in enumerate(names) if not name]
    given = {place: f"column_{place + 1}" for place in nameless}
    if not nameless or (nameless != [0] and 2 * len(nameless) >= len(names)) or not {*names}.isdisjoint(given.values()):
        return list(names), []
    listed = ", ".join(f"{place + 1}" for place in nameless[:10])
    called = ", ".join(quoted(name) for name in list(given.values())[:10])
    is_one = len(nameless) == 1
    said = (
        f"Column{'' if is_one else 's'} {listed} {'has' if is_one else 'have'} no name in the header, so "
        f"{'it was' if is_one else 'they were'} named {called}."
    )
    return [given.get(place, name) for place, name in enumerate(names)], [said]


def refuse_bad_names(names: Sequence[str], source: str) -> None:
    """Every column has a name, no two the same, and none is endless."""
    if len(names) > MOST_FIELDS:
        raise SchemaError(
            f"{source} has {counted(len(names), 'column')}, and a table has {MOST_FIELDS:,} at most. Leave some out."
        )
    for place, name in enumerate(names, start=1):
        if len(name) > _LONGEST_NAME:
            raise SchemaError(
                f"{source}: the name of column {place} is longer than {_LONGEST_NAME:,} characters. Is the first line "
                "a header?"
            )
    if nameless := [str(place) for place, name in enumerate(names, start=1) if not name]:
        raise SchemaError(
            f"{source}: {counted(len(nameless), 'column')} of {len(names)} without a name (place "
            f"{', '.join(nameless[:10])}). Name every column in the header. If titles are above the header, remove "
            "them."
        )
    if doubled := [name for name, count in Counter(names).items() if count > 1]:
        raise SchemaError(
            f"{source}: two columns have the same name: {', '.join(quoted(name) for name in doubled[:10])}. "
            "Give every column its own name."
        )


class Format:
    """A format. A new one says these and gives `scan`."""

    name: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]
    """In lower case, with the dot."""
    magic: ClassVar[tuple[bytes, ...]] = ()
    """The first bytes of such files, up to 8; without them the ending of the name decides."""
    about: ClassVar[str] = ""
    """What to know about it, in a few words."""
    has_sheets: ClassVar[bool] = False

    def claims(self, path: Path, head: bytes) -> bool:
        """Whether a file is one of these: by its first bytes if they say so, else by its name."""
        return head.startswith(self.magic) if self.magic else path.suffix.lower() in self.endings

    def scan(self, path: Path, asked: Asked) -> tuple[polars.LazyFrame | polars.DataFrame, list[str]]:
        """The rows with types, and sentences to tell the user. Errors of polars need not be caught."""
        raise NotImplementedError

    def read(self, path: Path, asked: Asked) -> Table:
        """The table in a file."""
        from lookalike.files.tables.read import read_scanned

        return read_scanned(lambda: self.scan(path, asked), path.name, asked)


class Text(Format):
    name = "CSV"
    plain = (".csv", ".tsv", ".tab", ".txt")
    """Endings of what is not compressed."""
    tabbed = (".tsv", ".tab")
    endings = (*plain, ".gz", ".bz2", ".xz", ".zst", ".zip")
    about = "and other delimited text, also compressed by gzip, bzip2, xz, zstd or zip"

    def read(self, path: Path, asked: Asked) -> Table:
        from lookalike.files.tables.csv.delimited import read_delimited
        from lookalike.files.tables.read import check_text_size

        check_text_size(path, len(asked.columns) if asked.columns else 1)
        return read_delimited(path, asked)


class _Excel(Format):
    name = "Excel"
    endings = (".xlsx", ".xlsm", ".xls")
    magic = (OLD_EXCEL, ZIP)
    about = "one sheet of a workbook"
    has_sheets = True

    def claims(self, path: Path, head: bytes) -> bool:
        from lookalike.files.tables.excel import is_workbook

        return super().claims(path, head) and (not head.startswith(ZIP) or is_workbook(path))

    def scan(self, path: Path, asked: Asked) -> tuple[polars.DataFrame, list[str]]:
        from lookalike.files.tables.excel import read_sheet

        return read_sheet(path, asked.sheet, asked.hints.unpack_limit)


class _Parquet(Format):
    name = "Parquet"
    endings = (".parquet", ".parq")
    magic = (b"PAR1",)
    about = "one file, or a folder of files"

    def scan(self, path: Path, asked: Asked) -> tuple[polars.LazyFrame, list[str]]:
        from lookalike.files.tables.parquet import scan_file

        return scan_file(path), []


class _Arrow(Format):
    name = "Arrow"
    endings = (".arrow", ".feather", ".ipc")
    magic = (b"ARROW1", b"\xff\xff\xff\xff", b"FEA1")
    about = "IPC, file or stream"

    def scan(self, path: Path, asked: Asked) -> tuple[polars.DataFrame, list[str]]:
        import io

        import polars

        head = read_head(path)
        if head.startswith(b"FEA1"):
            raise DataError(f"{path.name} is a Feather file of version 1. {_save_as()}")
        if head.startswith(b"ARROW1"):
            return polars.read_ipc(io.BytesIO(path.read_bytes())), []
        return polars.read_ipc_stream(path), []


_Kind = TypeVar("_Kind", bound=type[Format])
TEXT, PARQUET = Text(), _Parquet()
FORMATS: dict[str, Format] = {made.name: made for made in (TEXT, _Excel(), PARQUET, _Arrow())}
"""By name, in the order in which they are listed."""


def register_format(kind: _Kind) -> _Kind:
    """Add a format of files; tables are read from such files from then on. A class may be defined again."""
    from lookalike.data.guests import check_attributes, guard_methods, name_guest

    is_format = isinstance(kind, type) and issubclass(kind, Format) and hasattr(kind, "name")
    if not is_format or not hasattr(kind, "endings") or (kind.scan, kind.read) == (Format.scan, Format.read):
        raise RecipeError(f"{kind!r} cannot be registered. Derive it from `Format` and give it name, endings and scan.")
    who = name_guest(kind, "format")
    check_attributes(kind, Format, who)
    for known in FORMATS.values():
        taken = sorted({*known.endings} & {*kind.endings})
        is_same = name_guest(type(known), "format") == who
        if not is_same and (known.name.casefold() == kind.name.casefold() or taken):
            what = f"ending {taken[0]}" if taken else f"name {quoted(kind.name)}"
            raise RecipeError(f"The {what} belongs to the format {known.name} already. Choose another.")
    if not kind.endings or any(Path(f"x{ending}").suffix != ending.lower() for ending in kind.endings):
        raise RecipeError(f"{who} needs endings of names, in lower case, with one dot each, such as .dta.")
    if any(not 0 < len(start) <= _HEAD for start in kind.magic):
        raise RecipeError(
            f"{who} has `magic` of another length than 1 to {_HEAD} bytes. Give the first bytes of files."
        )
    guard_methods(kind, Format, "format", passed_on=["polars"])
    FORMATS[kind.name] = kind()
    return kind


def format_of(path: Path) -> Format:
    """The one place that decides which format reads a file; DataError for a file that is not what its name says."""
    check_plain_file(path)
    head, ending = read_head(path), path.suffix.lower()
    claiming = [one for one in FORMATS.values() if one is not TEXT and one.claims(path, head)]
    # Formats may share their first bytes, as those do that are zip archives: then the name decides.
    claiming.sort(key=lambda one: ending not in one.endings)
    if claiming:
        return claiming[0]
    from lookalike.files.tables.unread import refuse_unread

    refuse_unread(path)
    if any(ending in one.endings for one in FORMATS.values() if one is not TEXT):
        raise DataError(f"{path.name} is named {path.suffix} but does not begin as such a file does. {_save_as()}")
    return TEXT


def list_names() -> str:
    """The formats in words.

    >>> list_names()
    'CSV, Excel, Parquet or Arrow'
    """
    *first, last = FORMATS
    return f"{', '.join(first)} or {last}"


def list_endings() -> list[str]:
    """The endings of all formats, those of plain text first."""
    return [ending for one in FORMATS.values() for ending in one.endings]


def _save_as() -> str:
    return f"Save the table as {list_names()} first."


def read_head(path: Path) -> bytes:
    """The first bytes of a file, by which its format is recognised."""
    with path.open("rb") as file:
        return file.read(_HEAD)
