"""Draws docs/algorithms/NAME.svg: what each method makes of the same few records of the hospital sample.

    python docs/make_algorithm_pictures.py                 all of them, in about a minute
    python docs/make_algorithm_pictures.py burel ring      these

The records are the sample's, which is invented. Diagnoses are taken together to six kinds, so that each has a mark.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.algorithms import ALGORITHMS, parse_algorithm, parse_synthesizer
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Ranges, RecordMap
from lookalike.data.schema import Schema, ValueType
from lookalike.evaluation import charts
from lookalike.metrics import METRICS
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from lookalike.samples import hospital, hospital_schema

FOLDER = Path(__file__).parent / "algorithms"
KINDS = {
    "heart and circulation": "heart",
    "lungs": "lungs",
    "digestion": "digestion",
    "metabolism": "digestion",
    "pregnancy": "childbirth",
    "injury": "injury",
}
OTHER = "other"
FIRST_DAY = int(np.datetime64("2023-01-01", "D").astype(np.int64))
MARGIN = (0.7, 5.0)
"""Years and days by which a box is drawn larger, so that its marks lie inside."""


@dataclass(frozen=True)
class Shown:
    """How a method is shown."""

    algorithm: str
    promise: str = "l-diversity:3"
    rows: int = 72
    coarse: bool = False
    """Ages and days are rounded, so that records share their values."""


SHOWN = {
    "groups": Shown("groups"),
    "mondrian": Shown("mondrian", coarse=True),
    "mondrian-strict": Shown("mondrian-strict", coarse=True),
    "freeform": Shown("freeform", "k-anonymity:3"),
    "heterogeneous": Shown("heterogeneous"),
    "ring": Shown("ring:parts=merged"),
    "burel": Shown("burel", "beta-likeness:1.5"),
    "sabre": Shown("sabre", "t-closeness:0.4"),
    "lmondrian": Shown("lmondrian", "beta-likeness:1.5"),
    "dmondrian": Shown("dmondrian", "beta-likeness:1.5"),
    "tmondrian": Shown("tmondrian", "t-closeness:0.4"),
    "perturbation": Shown("perturbation", "beta-likeness:1.5", 1000),
    "anatomy": Shown("anatomy", rows=60),
    "two-size": Shown("two-size", "f-privacy:theta=1.7", 80),
    "multi-size": Shown("multi-size", "f-privacy:theta=1.7", 80),
    "optimal-buckets": Shown("optimal-buckets", "f-privacy:theta=1.7", 80),
    "greedy-grouping": Shown("greedy-grouping:order=hilbert", "l-diversity:2"),
    "random-grouping": Shown("random-grouping:order=hilbert", "l-diversity:2"),
    "symmetric-grouping": Shown("symmetric-grouping:order=hilbert", "l-diversity:2"),
}


SYNTHESIZERS = ("mst",)
"""Methods that draw records. docs/synthesis.md describes the others."""
SYNTHETIC_ROWS, DECADE, LAST_DECADE = 20_000, 10, 90


def picture(name: str) -> charts.Chart:
    """The picture of a method, from a run of it."""
    if name in SYNTHESIZERS:
        return synthetic(name)
    shown = SHOWN[name]
    data = few_records(shown.rows, shown.coarse)
    method = parse_algorithm(shown.algorithm)
    promises = settle([Promise(parse_model(shown.promise))], data)
    release, linkage = method.anonymize(data, require(promises, data), Randomness(4), silent)
    loss = METRICS["gcp"]().measure(data, release)
    title = f"{shown.rows:,} records, {shown.promise}"
    if isinstance(release, Grouped):
        return grouped(release, data, linkage, f"{title}: {len(release.extents[0])} groups, GCP {loss:.2f}")
    if isinstance(release, Matched):
        return matched(release, data, linkage, f"{title}: one person's rows, GCP {loss:.2f}")
    if isinstance(release, Bucketized):
        return bucketized(release, f"{title}, MSBS {METRICS['msbs']().measure(data, release):.1f}")
    return perturbed(release, f"{title}: chance of each published value")


def few_records(rows: int, coarse: bool = False) -> Microdata:
    """Age, day of admission and kind of illness of so many records of the sample."""
    table = hospital(rows, seed=3)
    tree = next(one.taxonomy for one in hospital_schema().attributes if one.name == "diagnosis")
    kind_of = {name: KINDS.get(kind, OTHER) for kind, names in tree["tree"]["any diagnosis"].items() for name in names}
    kinds = np.array(sorted(set(kind_of.values())), dtype=object)
    place_of = {kind: place for place, kind in enumerate(kinds)}
    diagnosis = table["diagnosis"]
    illness = np.array([place_of[kind_of[str(value)]] for value in diagnosis.values], dtype=np.int32)
    columns = (
        rounded("age", table["age"], 5 if coarse else 1),
        rounded("day", table["admission_date"], 60 if coarse else 1),
        Column("illness", ValueType.STRING, illness[diagnosis.codes], kinds),
    )
    return Microdata.encode(Table(columns), Schema.of(qi=["age", "day"], sensitive=["illness"]))


def rounded(name: str, column: Column, step: int) -> Column:
    """Whole numbers from 0 on (days, for dates), down to multiples of a step."""
    first = FIRST_DAY if column.type is ValueType.DATE else 0
    numbers, codes = np.unique((np.asarray(column.values, dtype=np.int64) - first) // step * step, return_inverse=True)
    return Column(name, ValueType.INTEGER, codes[column.codes].astype(np.int32), numbers)


def grouped(release: Grouped, data: Microdata, linkage: RecordMap, title: str) -> charts.Chart:
    """A box per group, and its records in the same colour; marks are kinds of illness."""
    group_of_record = np.empty(data.n_rows, dtype=np.int64)
    group_of_record[linkage.record_of_row] = release.group_of_row
    frames = frames_of(release, np.arange(len(release.extents[0])))
    # Neighbours get different colours: groups are numbered along the axes.
    order = sorted(range(len(frames)), key=lambda group: (round(frames[group]["age"] / 12), frames[group]["day"]))
    number = {group: str(place) for place, group in enumerate(order)}
    frames = [{**frames[group], "group": number[group]} for group in order]
    points = [{**point, "group": number[int(group_of_record[row])]} for row, point in enumerate(points_of(data))]
    return boxes(frames, points, "group", "illness", title)


def matched(release: Matched, data: Microdata, linkage: RecordMap, title: str) -> charts.Chart:
    """All records, and the boxes of the rows that one of them may be behind: that whose boxes differ most."""
    graph = linkage.graph
    assert graph is not None
    candidates = np.split(graph.rows, graph.starts[1:-1])
    person = max(range(data.n_rows), key=lambda record: least_difference(frames_of(release, candidates[record])))
    points, rows = points_of(data), candidates[person]
    texts = data.domains.sensitive[0].texts
    frames = [
        {**frame, "row": f"row {turn}: {texts[release.sensitive[row, 0]]}"}
        for turn, (row, frame) in enumerate(zip(rows, frames_of(release, rows), strict=True), 1)
    ]
    named = [{**point, "who": "a person" if row == person else "others"} for row, point in enumerate(points)]
    named.sort(key=lambda point: point["who"], reverse=True)
    return boxes(frames, named, "row", "who", title, legend=True)


def least_difference(frames: Sequence[dict[str, float]]) -> float:
    """How far the two boxes that are most alike differ at least at two of their ends, in years or weeks."""
    ends = [np.array([frame["age"], frame["age_end"], frame["day"] / 7, frame["day_end"] / 7]) for frame in frames]
    return min(float(np.sort(np.abs(one - other))[-2]) for one, other in itertools.combinations(ends, 2))


def boxes(
    frames: Sequence[charts.Row],
    points: Sequence[charts.Row],
    series: str,
    shape: str,
    title: str,
    legend: bool = False,
) -> charts.Chart:
    return charts.boxes(
        frames,
        points,
        "age",
        "day",
        series,
        shape=shape,
        title=title,
        y_title="day of admission",
        legend=legend,
    )


def frames_of(release: Grouped | Matched, units: Sequence[int]) -> list[dict[str, float]]:
    age, day = release.extents
    assert isinstance(age, Ranges)
    assert isinstance(day, Ranges)
    return [
        {
            "age": age.low_points[unit] - MARGIN[0],
            "age_end": age.high_points[unit] + MARGIN[0],
            "day": day.low_points[unit] - MARGIN[1],
            "day_end": day.high_points[unit] + MARGIN[1],
        }
        for unit in units
    ]


def points_of(data: Microdata) -> list[dict[str, object]]:
    texts = data.domains.sensitive[0].texts
    places = [domain.points for domain in data.domains.quasi]
    return [
        {"age": float(places[0][age]), "day": float(places[1][day]), "illness": texts[illness]}
        for (age, day), illness in zip(data.quasi, data.sensitive[:, 0], strict=True)
    ]


def bucketized(release: Bucketized, title: str) -> charts.Chart:
    """A column per bucket, a tile for each value in it; small buckets first."""
    texts = release.domains.sensitive[0].texts
    held = [
        sorted(release.sensitive[release.bucket_of_sensitive == bucket, 0])
        for bucket in np.unique(release.bucket_of_sensitive)
    ]
    held.sort(key=len)
    sizes = sorted({len(values) for values in held})
    tiles = [
        {"bucket": str(number), "place": str(place), "illness": texts[value], "letter": texts[value][0].upper()}
        for number, values in enumerate(held, 1)
        for place, value in enumerate(values, 1)
    ]
    tiles.sort(key=lambda tile: (int(tile["bucket"]), int(tile["place"])))
    said = " or ".join(str(size) for size in sizes)
    return charts.tiles(
        tiles, "bucket", "place", "illness", label="letter", title=f"{title}: size {said}", y_title="values", up=True
    )


def perturbed(release: Perturbed, title: str) -> charts.Chart:
    """The matrix: from the true value (across) to the published one (along)."""
    (randomizer,) = release.randomizers
    texts = release.domains.sensitive[0].texts
    chances = randomizer.weights / randomizer.total
    tiles = [
        {"true": texts[true], "published": texts[said], "chance": float(chance), "text": f"{100 * chance:.0f} %"}
        for (said, true), chance in np.ndenumerate(chances)
    ]
    return charts.tiles(
        tiles,
        "true",
        "published",
        "chance",
        label="text",
        title=title,
        x_title="true value",
        y_title="published value",
        legend=False,
        size=52,
    )


def synthetic(name: str) -> charts.Chart:
    """How many records have each illness, by age: in the table, and as drawn with little and with more epsilon."""
    data = few_records(SYNTHETIC_ROWS)
    drawn = {f"epsilon = {epsilon}": parse_synthesizer(name, {"epsilon": epsilon}) for epsilon in ("0.1", "1", "10")}
    tables = {"table": data} | {said: method.synthesize(data, Randomness(4)).data for said, method in drawn.items()}
    rows = []
    for said, table in tables.items():
        heart = table.domains.sensitive[0].texts.index("heart")
        ages = np.asarray(table.domains.quasi[0].values)[table.quasi[:, 0]]
        decades = np.minimum(ages[table.sensitive[:, 0] == heart] // DECADE * DECADE, LAST_DECADE)
        for decade in range(0, LAST_DECADE + 1, DECADE):
            count = int(np.count_nonzero(decades == decade))
            rows.append({"age": float(decade), "records": float(count), "from": said})
    return charts.lines(
        rows,
        "age",
        "records",
        series="from",
        title=f"{SYNTHETIC_ROWS:,} records: heart diseases by age in the table and in synthetic records of {name}",
        x_title="age, by decade",
        y_title="records with a heart disease",
    )


def main() -> None:
    for name in sys.argv[1:] or [*ALGORITHMS, *SYNTHESIZERS]:
        charts.write_svg(picture(name), FOLDER / f"{name}.svg")


if __name__ == "__main__":
    main()
