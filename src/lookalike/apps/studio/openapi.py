"""What the OpenAPI document says: the bodies of requests with their limits, refusals, and what is sent that is no JSON.

Fields nobody knows are refused.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from lookalike.apps.studio.workspace import LONGEST_NAME, MOST_COLUMNS

Text = Annotated[str, Field(max_length=2000)]


class Input(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ReadingOptions(Input):
    """How a CSV file is to be read, where detection goes wrong."""

    delimiter: Annotated[str, Field(max_length=1)] | None = None
    encoding: Annotated[str, Field(max_length=40)] | None = None


class FromPath(ReadingOptions):
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """A file on this machine, of any format that can be read."""


class ColumnSettings(Input):
    name: Annotated[str, Field(max_length=LONGEST_NAME)]
    role: Text
    kind: Text | None = None
    weight: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] = 1.0
    taxonomy: dict[str, Any] | None = None
    order: Annotated[list[str], Field(max_length=100_000)] | None = None
    """The values of an ordered column, least first; left out: as it was."""
    longest_set: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    """How many values per cell lists at most; 0: any number; left out: as it was."""
    keep_identifiers: bool | None = None
    """Whether the column is published although its values hold identifiers; left out: as it was."""
    carry_anyway: bool | None = None
    """Whether a carried column is published although someone who knows its values would find persons by them; left
    out: as it was."""
    coarsen: Text | None = None
    """How a sensitive or carried column is published coarser, as `round:1000, top:90000`; empty: not at all; left
    out: as it was."""


class TaxonomyText(Input):
    column: Annotated[str, Field(max_length=LONGEST_NAME)]
    form: Text
    """intervals, prefixes, dates, frequent or tree."""
    text: Annotated[str, Field(max_length=1_000_000)] = ""
    """As one types it: `10, 50`, `3, 2`, `month, year`, or a tree; no text and form tree: begun from the values."""


class Columns(Input):
    columns: Annotated[list[ColumnSettings], Field(max_length=MOST_COLUMNS)]


class SchemaText(Input):
    yaml: Annotated[str, Field(max_length=10_000_000)]


class PersonsInput(Input):
    """How the rows of one person are published."""

    rows: Text = "apart"
    """apart, one or linked."""
    keep: Text = "random"
    """first, last or random: which rows, where not all are published."""
    contribution: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """The most rows per person."""
    number_known: bool = True
    """Whether an attacker may know how many rows a person has."""
    rows_are_persons: bool = False
    """States that every row is a different person, although a column repeats."""


class PromiseSettings(Input):
    models: Annotated[list[Text], Field(max_length=20)]
    adversary: Text = "reads-release"


class MethodSettings(Input):
    algorithm: Text | None = None


class EarlierRelease(Input):
    """A release of the same people that the next one is held against: a run of this table, or a folder."""

    run: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    folder: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """The release folder, as a full path on this machine."""
    original: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """The table that the folder was made from; left out: this table."""


class RunSettings(Input):
    title: Text = ""
    recipient: Text = ""
    publish_scores: bool = False
    after: Annotated[list[EarlierRelease], Field(max_length=8)] = []
    """Earlier releases of the same people: published is only what keeps all promises for a reader of all of them."""


class ComparisonSettings(Input):
    models: Annotated[list[Text], Field(min_length=1, max_length=12)]
    algorithms: Annotated[list[Text], Field(max_length=8)] = []


class ExportSettings(Input):
    folder: Annotated[str, Field(min_length=1, max_length=4096)]
    overwrite: bool = False


class Problem(BaseModel):
    """Why something was refused, and what to do."""

    error: str
    nearest: str | None = None
    """If no release can keep a promise: the nearest that can be kept."""


_MEANINGS = {
    400: "The body is no JSON, or did not arrive whole.",
    403: "The token is missing or wrong, or the request comes from another page.",
    404: "The table or the run is not there (any more).",
    413: "More was sent than is allowed.",
    422: "Refused; the sentence says why and what to do.",
}
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": meaning} for status, meaning in _MEANINGS.items()
}
TAKES_A_FILE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def sends(kind: str) -> dict[int | str, dict[str, Any]]:
    """An answer of this media type."""
    return {200: {"content": {kind: {}}}}
