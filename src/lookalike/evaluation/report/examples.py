"""Made-up people before and after: what a release does to rows, without showing a single real one.

Without rules of common knowledge they are a fixed example for each form of release: invented people with columns of
their own, the same in every report, so that they say nothing about any table.

With rules they are drawn from the release, and people who contradict a rule (a retired man of 42 with childbirth) are
left out. Drawn people follow from the release and the rules alone, as any reader with the rules could make them; no
method runs. Every quasi-identifier is shuffled
(over groups, where there are groups) or drawn by itself, so that values and cells are together that did not before.
Then

    Grouped, Matched   before is drawn from the cells of after
    Bucketized         before has one of the sensitive values of the bucket
    Perturbed          after is before, redrawn by the published matrix

Chance may put a real person together again. Rows that the release shows exactly so are left out, and so are rows with a
value that only one published row has: whatever is beside it would be said of one person.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lookalike.data.knowledge import Knowledge, break_rules
from lookalike.data.microdata import Codes, Domain, texts_of
from lookalike.data.release import COUNTERFEITS, Bucketized, Extents, Grouped, Matched, Perturbed, Ranges, Release, take
from lookalike.data.taxonomy import MISSING, ROOT
from lookalike.data.worlds import World, bounds_of, draw_rows, pick_dummies
from lookalike.errors import DataError
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.cells import print_cells
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.tablefiles import digest_of, table_paths
from lookalike.randomness import Randomness

_MOST_SHOWN = 5
_ANY = "(any value)"
"""In a column of which the release shows nothing."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Examples:
    """Rows of made-up people, cell by cell as text."""

    columns: tuple[str, ...]
    before: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...], ...]
    drawn: bool = False
    """Whether they were drawn from the release; otherwise they are the same in every report."""


_COLUMNS = ("age", "sex", "district", "illness")
_PEOPLE = (
    ("34", "female", "north 1", "asthma"),
    ("36", "female", "north 3", "influenza"),
    ("37", "male", "north 1", "diabetes"),
    ("38", "female", "north 2", "migraine"),
    ("39", "male", "north 3", "appendicitis"),
)
_RANGES = ("34..37", "34..38", "36..39", "36..39", "34..39")
_REDRAWN = ("asthma", "diabetes", "diabetes", "influenza", "appendicitis")


def show_invented(form: str) -> Examples:
    """The fixed example of what a form of release does."""
    ills = [ill for *_, ill in _PEOPLE]
    known = [person[:3] for person in _PEOPLE]
    if form == Bucketized.form:
        after = [(*person, "one of: " + ", ".join(sorted(ills))) for person in known]
    elif form == Perturbed.form:
        after = [(*person, ill) for person, ill in zip(known, _REDRAWN, strict=True)]
    elif form == Matched.form:
        after = [(ages, "female|male", "north 1|north 2|north 3", ill) for ages, ill in zip(_RANGES, ills, strict=True)]
    else:
        after = [("34..39", "female|male", "north 1|north 2|north 3", ill) for ill in ills]
    return Examples(_COLUMNS, _PEOPLE, tuple(after))


@dataclass(frozen=True, eq=False)
class Mixture:
    """People who do not exist, row by row."""

    before: World
    after: Release
    """Like the real one, with each quasi-identifier shuffled by itself."""
    rows_of_cells: Rows
    """[rows, quasi-identifiers] the row of the real release that has the cell."""


def make_up_examples(folder: ReleaseFolder, knowledge: Knowledge | None = None) -> Examples:
    """A few rows before and after: with rules drawn from the release, otherwise the fixed ones.

    They depend on the published tables and the rules alone, so that an audit can make them again. The fixed ones also
    serve where chance puts together only people whom the release shows or the rules exclude, or where a cell may hide
    too many values to draw from.
    """
    drawn = None if knowledge is None else draw_examples(folder, knowledge)
    return show_invented(folder.manifest.form) if drawn is None else drawn


def draw_examples(folder: ReleaseFolder, knowledge: Knowledge) -> Examples | None:
    """A few rows drawn from the release, before and after; None if there are none to show."""
    manifest = folder.manifest
    paths = [path for name in manifest.tables for path in table_paths(name, manifest.parts.get(name, ()))]
    digests = "".join(digest_of(folder.path / path) for path in sorted(paths))
    rng = Randomness(int(hashlib.sha256(digests.encode()).hexdigest(), 16))
    try:
        release = read_alone(folder)
    except DataError:
        return None
    people = make_up_people(release, rng)
    world = people.before
    absurd = break_rules(knowledge, release.domains, world.quasi, world.sensitive)
    rows = _pick_rows(release, people.before, absurd, rng)
    if not len(rows):
        return None
    domains = (*release.domains.quasi, *release.domains.sensitive)
    codes = np.column_stack((people.before.quasi[rows], people.before.sensitive[rows]))
    before = [_before(domain, codes[:, place], rng.child("before", place)) for place, domain in enumerate(domains)]
    after = [*_known_after(folder, people, rows), *_values_after(people.after, rows)]
    return Examples(
        tuple(domain.name for domain in domains),
        tuple(zip(*before, strict=True)),
        tuple(zip(*after, strict=True)),
        True,
    )


def make_up_people(release: Release, rng: Randomness) -> Mixture:
    """One person per row of the release."""
    mixed, rows_of_cells = _mix_columns(release, rng.child("columns"))
    if not isinstance(mixed, Perturbed):
        return Mixture(draw_rows(mixed, rng.child("world")), mixed, rows_of_cells)
    redrawn = [
        _redraw(mixed.sensitive[:, column], randomizer.weights, rng.child("value", column))
        for column, randomizer in enumerate(mixed.randomizers)
    ]
    after = replace(mixed, sensitive=np.column_stack(redrawn).astype(np.int32))
    return Mixture(World(mixed.quasi, mixed.sensitive, mixed.carried), after, rows_of_cells)


def _mix_columns(release: Release, rng: Randomness) -> tuple[Release, Rows]:
    """Each quasi-identifier shuffled by itself, its cells over groups or its values over rows; and from which rows."""
    places = range(len(release.domains.quasi))
    if isinstance(release, Bucketized | Perturbed):
        rows = np.column_stack([_draw_repeated(release.quasi[:, place], rng.child(place)) for place in places])
        return replace(release, quasi=np.take_along_axis(release.quasi, rows, axis=0)), rows
    units = release.unit_of_row
    first_rows = np.unique(units, return_index=True)[1].astype(np.int64)
    orders = [rng.child(place).permutation(len(first_rows)) for place in places]
    extents = tuple(take(held, order) for held, order in zip(release.extents, orders, strict=True))
    return replace(release, extents=extents), np.column_stack([first_rows[order][units] for order in orders])


def _draw_repeated(codes: Codes, rng: Randomness) -> Rows:
    """As many rows as there are, drawn from those whose value others have too; from all if there are none such."""
    repeated = np.flatnonzero((np.bincount(codes) > 1)[codes]).astype(np.int64)
    chosen = repeated if len(repeated) else np.arange(len(codes))
    return chosen[rng.integers(len(chosen), len(codes))]


def _redraw(codes: Codes, weights: NDArray[np.int64], rng: Randomness) -> Rows:
    """What the matrix makes of each value."""
    cumulated = np.cumsum(weights, axis=0)
    drawn = rng.integers(int(cumulated[-1, 0]), len(codes))
    redrawn = np.empty(len(codes), dtype=np.int64)
    for code in np.unique(codes).tolist():
        rows = codes == code
        redrawn[rows] = np.searchsorted(cumulated[:, code], drawn[rows], side="right")
    return redrawn


def _pick_rows(release: Release, people: World, absurd: NDArray[np.bool_], rng: Randomness) -> Rows:
    """Plausible rows of the smallest group or bucket of which all can be shown, or else most; of other forms any."""
    shown = ~(_find_published(release, people.quasi, rng.child("sums")) | _find_unique(release, people.quasi) | absurd)
    if release.withheld.n_dummies:
        shown &= ~pick_dummies(release, people, rng)
    rows: Rows = np.flatnonzero(shown).astype(np.int64)
    if not isinstance(release, Grouped | Bucketized):
        return rng.child("rows").shuffle(rows)[:_MOST_SHOWN]
    unit_of_row = release.group_of_row if isinstance(release, Grouped) else release.bucket_of_quasi
    sizes = np.bincount(unit_of_row)
    n_shown = np.bincount(unit_of_row[rows], minlength=len(sizes))
    unit = np.lexsort((sizes, sizes - n_shown, -np.minimum(n_shown, 2)))[0]
    chosen: Rows = rows[unit_of_row[rows] == unit]
    return chosen[:_MOST_SHOWN]


def _find_published(release: Release, quasi: Codes, rng: Randomness) -> NDArray[np.bool_]:
    """Which of these rows the release shows with exactly these quasi-identifiers."""
    plain = _published_codes(release)
    exact = plain[(plain >= 0).all(axis=1)]
    # Rows are compared by random sums. Should two have the same by chance, there is one example fewer.
    factors = rng.words(quasi.shape[1])
    sums, published = ((codes.astype(np.uint64) * factors).sum(axis=1) for codes in (quasi, exact))
    return np.isin(sums, published)


def _find_unique(release: Release, quasi: Codes) -> NDArray[np.bool_]:
    """Which of these rows have a value that one published row has, and no other."""
    plain = _published_codes(release)
    if not isinstance(release, Bucketized | Perturbed):
        plain = plain[release.unit_of_row]
    unique = np.zeros(len(quasi), dtype=np.bool_)
    for place, domain in enumerate(release.domains.quasi):
        codes = plain[:, place]
        counts = np.bincount(codes[codes >= 0], minlength=domain.n_codes + 1)
        unique |= (counts == 1)[quasi[:, place]]
    return unique


def _published_codes(release: Release) -> Rows:
    """[units or rows, quasi-identifiers] the code of each cell that hides only one, else -1."""
    if isinstance(release, Bucketized | Perturbed):
        return release.quasi.astype(np.int64)
    cells = zip(release.domains.quasi, release.extents, strict=True)
    return np.column_stack([_plain_codes(domain, extents) for domain, extents in cells])


def _plain_codes(domain: Domain, extents: Extents) -> Rows:
    """The code of each unit's cell if it hides only one, else -1."""
    if isinstance(extents, Ranges):
        lows, lengths, missing = bounds_of(domain, extents)
        sizes, codes = lengths + missing, np.where(lengths > 0, lows, domain.missing_code)
    else:
        sizes, codes = extents.sizes, np.append(extents.members, 0)[extents.starts[:-1]].astype(np.int64)
    if domain.taxonomy is not None:
        hiding = np.array([*(_hides_values(domain, text) for text in domain.texts), True])
        sizes = np.where(hiding[np.minimum(codes, domain.n_codes)], 0, sizes)
    return np.where(sizes == 1, codes, -1)


def _hides_values(domain: Domain, text: str) -> bool:
    """Whether a text stands for values that the release does not show: 021**, or * for any."""
    spec = domain.attribute.taxonomy or {}
    return text.endswith("*") if "prefixes" in spec else text == ROOT and not {"tree", "file"} & set(spec)


def _before(domain: Domain, codes: Codes, rng: Randomness) -> list[str]:
    """Values as text, with random digits where the release tells only how they begin."""

    def fill(text: str) -> str:
        digits = iter(rng.integers(10, len(text)).tolist())
        return "".join(str(next(digits)) if letter == "*" else letter for letter in text)

    texts = _value_texts(domain, codes)
    return [(_ANY if text == ROOT else fill(text)) if _hides_values(domain, text) else text for text in texts]


def _known_after(folder: ReleaseFolder, people: Mixture, rows: Rows) -> list[list[str]]:
    """The quasi-identifiers of rows column by column: cells as the release prints them, or plain values."""
    after = people.after
    if isinstance(after, Bucketized | Perturbed):
        return [_value_texts(domain, after.quasi[rows, place]) for place, domain in enumerate(after.domains.quasi)]
    ((table, listed),) = ((name, held) for name, held in folder.manifest.tables.items() if name != COUNTERFEITS)
    fields = {field.name: field for field in listed}
    texts = []
    for place, domain in enumerate(after.domains.quasi):
        cells = folder.frames[table][domain.name].gather(people.rows_of_cells[rows, place])
        printed = print_cells(fields[domain.name], cells).to_list()
        texts.append([MISSING if text is None else text for text in printed])
    return texts


def _values_after(after: Release, rows: Rows) -> list[list[str]]:
    """The sensitive values of rows column by column."""
    domains = after.domains.sensitive
    if not isinstance(after, Bucketized):
        return [_value_texts(domain, after.sensitive[rows, column]) for column, domain in enumerate(domains)]
    same = after.bucket_of_sensitive == after.bucket_of_quasi[rows[0]]
    lists = [sorted(_value_texts(domain, after.sensitive[same, column])) for column, domain in enumerate(domains)]
    return [["one of: " + ", ".join(listed)] * len(rows) for listed in lists]


def _value_texts(domain: Domain, codes: Codes) -> list[str]:
    """How values print; of a column without any, that it may be any."""
    known = codes < len(domain.values)
    texts = iter(texts_of(domain.values[codes[known]], domain.type))
    other = MISSING if domain.has_missing else _ANY
    return [next(texts) if is_known else other for is_known in known.tolist()]
