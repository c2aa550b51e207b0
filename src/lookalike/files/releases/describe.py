"""What a release says about itself to programs: datapackage.json and schema.yaml.

`datapackage.json` is a Frictionless data package with one block of our own, `lookalike`, that says how to read the
cells, what is promised and against which attacker. Nothing here depends on the order of the input, on a seed, on the
machine or
on a time finer than a day, and no value is named that the tables do not show or the user did not declare: a domain's
observed ends and leaves stay home, since a rare one could belong to a single suppressed person.

Formats 1 and 2 are those of version 0.1.0: with a file of each kind a table, and with tables in parts (`tablefiles`).
Format 3 has either, writes ranges in a way that survives a spreadsheet (`cells`), and may link rows by person numbers.
All are read, and 3 is written. Keys that a later version adds to a format are read past, and not
audited (`canonical`); what an older reader would misunderstand gets a new format.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from lookalike.data.contracts import Promise
from lookalike.data.microdata import Domain, Domains
from lookalike.data.person_settings import StatedPersons
from lookalike.data.release import Perturbed, Randomizer, Release
from lookalike.data.schema import Attribute, Role, Schema, ValueType
from lookalike.data.series_modes import STATED_MODES
from lookalike.data.statement import LONGEST_TITLE
from lookalike.data.taxonomy import MISSING as MISSING_LEAF
from lookalike.data.wording import Wording
from lookalike.errors import DataError, explain_damage, unread_format
from lookalike.files.releases.cells import MISSING, Encoding, Field, plain_escape, range_pattern
from lookalike.files.releases.tablefiles import CSV, Part, Parts, part_path, safe_name
from lookalike.untrusted import load_json
from lookalike.version import __version__


def value_keys(domain: Domain) -> list[str | None]:
    """The texts of a domain's codes; None for missing."""
    return [*domain.texts[: len(domain.values)], *([None] if domain.has_missing else [])]


def matrix_names(release: Release) -> list[str]:
    """A file name for the matrix of each perturbed column."""
    names: list[str] = []
    for domain in release.domains.sensitive if isinstance(release, Perturbed) else ():
        slug = _slug(domain.name) or "column"
        while f"matrix-{slug}.csv" in names:
            slug += "-2"
        names.append(f"matrix-{slug}.csv")
    return names


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")[:60]


def named_matrices(release: Release) -> Iterator[tuple[Domain, Randomizer, str]]:
    """Each perturbed column with its matrix and the file of that."""
    if isinstance(release, Perturbed):
        yield from zip(release.domains.sensitive, release.randomizers, matrix_names(release), strict=True)


def matrix_rows(keys: Sequence[str | None], randomizer: Randomizer) -> tuple[list[str], list[str], list[int]]:
    """The matrix over these values as rows: what a value became, what it was, and the weight of that."""
    texts = [MISSING if key is None else plain_escape(key) for key in keys]
    became = [text for text in texts for _ in texts]
    return became, texts * len(texts), randomizer.weights.ravel().tolist()


_MATRIX_FIELDS = [
    {"name": "became", "type": "string", "description": "The value in the release."},
    {"name": "was", "type": "string", "description": "The value of the person."},
    {"name": "weight", "type": "integer", "description": "Probability times the total in the manifest."},
]


_OLD, _OLD_IN_PARTS, _NEWEST = 1, 2, 3
_FORMATS = (_OLD, _OLD_IN_PARTS, _NEWEST)
DESCRIPTOR = "datapackage.json"
AUDIT = "audit.json"
DOCUMENTS = (AUDIT, "report.html", "report.json", "report.pdf")
"""What a folder of these formats may hold besides its tables and what describes them."""
REWRITTEN = (AUDIT, "report.html", "report.json")
"""Those that an audit writes again and compares, where it has their words."""
Tables = Mapping[str, tuple[Field, ...]]


def quote_text(text: str) -> str:
    """A text of the publisher for the verdict: in quotes, what nobody sees spelled out, never endless.

    >>> print(quote_text("Stays\u200b 2024"))
    "Stays\\u200b 2024"
    """
    letters = (letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[:LONGEST_TITLE])
    return f'"{"".join(letters)}{"..." if len(text) > LONGEST_TITLE else ""}"'


@dataclass(frozen=True)
class StatedPromise:
    """A promise as one writes it, in a plain sentence, and about which column (None: about identity)."""

    text: str
    sentence: str
    column: str | None = None


def state_promise(promise: Promise, wording: Wording) -> StatedPromise:
    """A promise as a release states it."""
    return StatedPromise(str(promise.model), promise.sentence(wording), promise.column)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What the maker of a release says about it."""

    title: str
    promises: tuple[StatedPromise, ...]
    algorithm: str
    adversary: str
    """One of `exposure.ADVERSARIES`."""
    version: str = __version__
    created: datetime.date | None = None
    description: str = ""
    safe_csv: bool = False
    """Whether the CSV files have no cell that a spreadsheet would compute (`tablefiles`)."""
    series: str | None = None
    """How it was held against other releases of the same people: one of `STATED_MODES`; None: not at all."""
    persons: StatedPersons | None = None
    """Whose rows it has; None where nothing has to be said: no column says that persons have several."""
    held_out: str | None = None
    """The share of the persons of the original who are not in it, drawn at random, as the publisher writes it."""
    format: int = _NEWEST


@dataclass(frozen=True, kw_only=True)
class PublishedManifest(Manifest):
    """What a release folder says about itself, as read back."""

    form: str
    n_suppressed: int
    n_dummies: int
    indistinguishable: bool
    dummies: Mapping[str, Mapping[str | None, int]]
    """Made-up records by sensitive column and value text (None: missing)."""
    matrices: tuple[Mapping[str, Any], ...]
    tables: Tables
    files: tuple[str, ...]
    parts: Parts = field(default_factory=dict)
    """By table, in their order; empty for a release of single files."""

    @property
    def wording(self) -> Wording:
        """Who its promises are about, and against which attacker they hold."""
        fields = (field for listed in self.tables.values() for field in listed)
        return Wording(
            form=self.form,
            adversary=self.adversary,
            known=tuple(field.name for field in fields if field.role == Role.QUASI),
            unit=None if self.persons is None else self.persons.counted,
        )

    @property
    def is_old(self) -> bool:
        """Whether ranges and nodes of taxonomies are written as version 0.1.0 wrote them."""
        return self.format != _NEWEST


def descriptor(release: Release, manifest: Manifest, tables: Tables, files: Sequence[str], parts: Parts) -> str:
    """The text of datapackage.json."""
    withheld = release.withheld
    hidden = withheld.indistinguishable and withheld.n_dummies > 0
    block: dict[str, Any] = {
        "format": manifest.format,
        "version": manifest.version,
        "form": release.form,
        "algorithm": manifest.algorithm,
        "adversary": manifest.adversary,
        "promises": [asdict(promise) for promise in manifest.promises],
        "tables": [
            {
                "name": name,
                "csv": f"{name}.csv",
                "parquet": f"{name}.parquet",
                **(_list_parts(name, parts[name]) if parts else {}),
                "columns": [asdict(field) for field in fields],
            }
            for name, fields in tables.items()
        ],
        "suppressed": int(withheld.n_suppressed),
        "dummies": {
            "records": int(withheld.n_dummies),
            "indistinguishable": bool(withheld.indistinguishable),
            "by_value": [
                {
                    "column": domain.name,
                    "counts": [
                        [text, int(count)] for text, count in zip(value_keys(domain), counts, strict=True) if count
                    ],
                }
                # Said by value, made-up rows would not look like any other.
                for domain, counts in zip(release.domains.sensitive, () if hidden else withheld.dummies, strict=False)
            ],
        },
        "matrices": [
            {
                "column": domain.name,
                "file": path,
                "values": value_keys(domain),
                "total": int(randomizer.total),
                "weights": randomizer.weights.tolist(),
            }
            for domain, randomizer, path in named_matrices(release)
        ],
        "files": sorted(files),
    }
    if manifest.safe_csv:
        block["safe_csv"] = True
    if manifest.series is not None:
        block["series"] = manifest.series
    if manifest.persons is not None:
        block["persons"] = manifest.persons.to_plain()
    if manifest.held_out is not None:
        block["held_out"] = manifest.held_out
    if manifest.created is not None:
        block["created"] = manifest.created.isoformat()
    package = {
        "profile": "data-package",
        "name": _slug(manifest.title) or "release",
        "title": manifest.title,
        "description": manifest.description or " ".join(promise.sentence for promise in manifest.promises),
        "resources": [_resource(name, fields, parts.get(name, ()), manifest) for name, fields in tables.items()]
        + [_csv_resource(path.removesuffix(".csv"), path, _MATRIX_FIELDS, []) for path in matrix_names(release)],
        "lookalike": block,
    }
    return json.dumps(package, ensure_ascii=False, indent=2) + "\n"


def _list_parts(table: str, parts: Sequence[Part]) -> dict[str, Any]:
    listed = [part.to_plain(table, place) for place, part in enumerate(parts)]
    return {"rows": sum(part.n_rows for part in parts), "parts": listed}


ENCODING_SENTENCES = {
    Encoding.EXACT: "A plain value. An empty cell means missing.",
    Encoding.BUCKET: "The number that joins the two tables; it means nothing else.",
    Encoding.COUNT: "How many rows of the group are made up.",
    Encoding.PERSON: (
        "A number per person, drawn anew for this release: rows with the same number are of one person. It means "
        "nothing else, and is another one in every release."
    ),
    Encoding.VISIT: "The place of the row among the rows of the person, in their order: 1 is the first.",
    Encoding.RANGE: (
        "Any value from the first to the second, both included: 28..39, in brackets if the first is negative "
        "([-5..-2]), dates likewise (2024-01-05..2024-02-10); a single value stands alone. Ends may be rounded "
        "outwards, so nobody need have them. |(missing) at the end: or missing."
    ),
    Encoding.INTERVAL: (
        "An interval with both ends included: 28-39, with a negative end -5 to -2, dates with a slash "
        "(2024-01-05/2024-02-10); a single value stands alone. |(missing) at the end: or missing."
    ),
    Encoding.SPAN: (
        "Every value from the first to the second in the column's order (low to high). |(missing) at the end: or "
        "missing."
    ),
    Encoding.NODE: "A value or a node of the column's taxonomy in schema.yaml: any value below that node.",
    Encoding.SET: (
        "One of the values between the bars (Private|Federal); * is any value of the column; (missing): or missing. "
        "A backslash takes its special meaning from the character after it."
    ),
}


def _resource(name: str, fields: Sequence[Field], parts: Sequence[Part], manifest: Manifest) -> dict[str, Any]:
    described = [_describe_field(field, manifest) for field in fields]
    paths = [part_path(name, CSV, place) for place in range(len(parts))]
    return _csv_resource(name, paths or f"{name}.csv", described, [""])


def _describe_field(field: Field, manifest: Manifest) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": safe_name(field.name) if manifest.safe_csv else field.name,
        "type": str(field.type) if field.is_plain else "string",
        "description": ENCODING_SENTENCES[field.encoding],
    }
    if field.encoding is Encoding.RANGE:
        described["constraints"] = {"pattern": range_pattern(field.type)}
    return described


def _csv_resource(name: str, path: str | list[str], fields: list[dict[str, Any]], missing: list[str]) -> dict[str, Any]:
    return {
        "profile": "tabular-data-resource",
        "name": name,
        "path": path,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {"fields": fields, "missingValues": missing},
    }


def public_schema(domains: Domains) -> Schema:
    """The schema of the published columns: what was declared, nothing that was observed, no paths."""
    return Schema(tuple(_public_attribute(domain) for domain in domains.all))


def _public_attribute(domain: Domain) -> Attribute:
    attribute = domain.attribute
    if attribute.taxonomy is None or domain.taxonomy is None or "file" not in attribute.taxonomy:
        return attribute
    tree = domain.taxonomy.to_plain()["tree"]
    if domain.has_missing:
        (root, below), *_ = tree.items()
        kept = [label for label in below if label != MISSING_LEAF]
        tree = {root: {label: below[label] for label in kept} if isinstance(below, dict) else kept}
    return replace(attribute, taxonomy={"tree": tree})


def parse_descriptor(text: str, source: str) -> PublishedManifest:
    """The manifest of a release folder; DataError if it is broken or not ours."""
    try:
        package = load_json(text)
    except ValueError as error:
        line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise explain_damage(f"{source} is not valid JSON{line}") from None
    block = package.get("lookalike") if isinstance(package, dict) else None
    if not isinstance(block, dict) or "format" not in block:
        raise DataError(
            f"{source} was not written by lookalike: it has no block called lookalike. To read a table of another "
            "tool, name the CSV or Parquet file itself."
        )
    if block["format"] not in _FORMATS:
        raise DataError(unread_format(source, block["format"], _FORMATS, block.get("version")))
    try:
        # JSON can spell half of a character; no file and no column has one in its name.
        json.dumps(package, ensure_ascii=False).encode()
        return _parse_published(package, block)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise explain_damage(f"{source} lacks parts of its lookalike block") from None


def _parse_published(package: Mapping[str, Any], block: Mapping[str, Any]) -> PublishedManifest:
    if any(not table["name"] or {"/", "\\", "\0"} & set(table["name"]) for table in block["tables"]):
        raise ValueError("a table that would lie elsewhere")
    tables = {
        table["name"]: tuple(
            Field(
                str(column["name"]),
                str(column["role"]),
                str(column["kind"]),
                ValueType(column["type"]),
                Encoding(column["encoding"]),
            )
            for column in table["columns"]
        )
        for table in block["tables"]
    }
    _check_encodings(block["format"], {field.encoding for fields in tables.values() for field in fields})
    in_parts = block["format"] == _OLD_IN_PARTS or (
        block["format"] == _NEWEST and any("parts" in table for table in block["tables"])
    )
    return PublishedManifest(
        title=str(package.get("title", "")),
        description=str(package.get("description", "")),
        promises=tuple(
            StatedPromise(str(promise["text"]), str(promise["sentence"]), promise["column"])
            for promise in block["promises"]
        ),
        algorithm=str(block["algorithm"]),
        adversary=str(block["adversary"]),
        version=str(block["version"]),
        created=datetime.date.fromisoformat(block["created"]) if "created" in block else None,
        safe_csv=bool(block.get("safe_csv", False)),
        series=_series_of(block),
        persons=StatedPersons.from_plain(block["persons"]) if "persons" in block else None,
        held_out=_share_of(block),
        format=int(block["format"]),
        form=str(block["form"]),
        n_suppressed=int(block["suppressed"]),
        n_dummies=int(block["dummies"]["records"]),
        indistinguishable=bool(block["dummies"]["indistinguishable"]),
        dummies={
            str(column["column"]): {text: int(count) for text, count in column["counts"]}
            for column in block["dummies"]["by_value"]
        },
        matrices=tuple(dict(matrix) for matrix in block["matrices"]),
        tables=tables,
        files=tuple(str(name) for name in block["files"]),
        parts={str(table["name"]): _parts(table) for table in block["tables"]} if in_parts else {},
    )


def _check_encodings(format: int, used: set[Encoding]) -> None:
    """ValueError if a column is written as this format does not write one."""
    if used & ({Encoding.INTERVAL} if format == _NEWEST else {Encoding.RANGE, Encoding.PERSON, Encoding.VISIT}):
        raise ValueError("a format that these columns do not have")


def _series_of(block: Mapping[str, Any]) -> str | None:
    mode = block.get("series")
    if mode is not None and mode not in STATED_MODES:
        raise ValueError("a series of an unknown mode")
    return None if mode is None else str(mode)


def _share_of(block: Mapping[str, Any]) -> str | None:
    share = block.get("held_out")
    if share is None:
        return None
    if not isinstance(share, str) or not re.fullmatch(r"0\.\d{1,18}|1/\d{1,9}|\d{1,9}/\d{1,9}", share):
        raise ValueError("a share of persons that is none")
    return share


def _parts(table: Mapping[str, Any]) -> tuple[Part, ...]:
    parts = tuple(Part.from_plain(part, str(table["name"]), place) for place, part in enumerate(table["parts"]))
    if not parts or sum(part.n_rows for part in parts) != table["rows"]:
        raise ValueError(table["name"])
    return parts
