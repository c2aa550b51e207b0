"""What may be sent to the studio: the body of each request, with its limits. Fields nobody knows are refused."""

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
    """A CSV, Excel, Parquet or Arrow file on this machine."""


class ColumnSettings(Input):
    name: Annotated[str, Field(max_length=LONGEST_NAME)]
    role: Text
    kind: Text | None = None
    weight: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] = 1.0
    taxonomy: dict[str, Any] | None = None
    order: Annotated[list[str], Field(max_length=100_000)] | None = None
    """The values of an ordered column, least first; left out: as it was."""


class TaxonomyText(Input):
    column: Annotated[str, Field(max_length=LONGEST_NAME)]
    form: Text
    """intervals, prefixes, dates or tree."""
    text: Annotated[str, Field(max_length=1_000_000)] = ""
    """As one types it: `10, 50`, `3, 2`, `month, year`, or a tree; no text and form tree: begun from the values."""


class Columns(Input):
    columns: Annotated[list[ColumnSettings], Field(max_length=MOST_COLUMNS)]


class SchemaText(Input):
    yaml: Annotated[str, Field(max_length=10_000_000)]


class PromiseSettings(Input):
    models: Annotated[list[Text], Field(max_length=20)]
    adversary: Text = "reads-release"


class MethodSettings(Input):
    algorithm: Text | None = None


class RunSettings(Input):
    title: Text = ""
    recipient: Text = ""
    publish_scores: bool = False


class ComparisonSettings(Input):
    models: Annotated[list[Text], Field(min_length=1, max_length=12)]
    algorithms: Annotated[list[Text], Field(max_length=8)] = []


class ExportSettings(Input):
    folder: Annotated[str, Field(min_length=1, max_length=4096)]
    overwrite: bool = False
