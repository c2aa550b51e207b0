"""Draws docs/assets/before.svg and after.svg: six stays of the bundled hospital sample, before and after.

    python docs/make_landing_picture.py

The 1,000 stays are published as the landing page shows, and one group of six is drawn: the one with the narrowest cells
among those with two zip codes and at least four diagnoses, of people who are all unique in the sample. Both cards have
a background and an edge, so they fit light and dark pages. `tests/docs` checks the cards against the sample.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl

import lookalike
from lookalike.samples import hospital

FOLDER = Path(__file__).parent / "assets"
QUASI, SENSITIVE = ("age", "sex", "zip code"), "diagnosis"
COLUMNS = (*QUASI, SENSITIVE)
MODELS = ("k-anonymity:6", "l-diversity:3")
ROWS, DIAGNOSES = 1_000, 4
PLACES = {"age": 16, "sex": 92, "zip code": 164, "diagnosis": 300}
"""Where each column begins."""
WIDTH, STEP, TOP = 480, 27, 82
INK, SOFT, LINE, PAGE, HEAD, MARK = "#1c2530", "#4a5768", "#c3ccd6", "#ffffff", "#eef1f5", "#fbd9d3"
HIDDEN = "#d9eedd"

Rows = list[tuple[str, ...]]


def six_stays() -> tuple[Rows, Rows]:
    """The same six people: as they are in the sample, and as the release has them."""
    table = hospital(ROWS)
    published = lookalike.publish(table, qi=list(QUASI), sensitive=SENSITIVE, model=list(MODELS), seed=1)
    release, records = published.made.release, published.made.record_map.record_of_row
    stays = {name: [*table[name].values, "(missing)"] for name in COLUMNS}
    cells = published.to_polars().select(COLUMNS).with_columns(group=pl.Series(release.group_of_row), record=records)
    everybody = [
        tuple(str(stays[name][code]) for name, code in zip(QUASI, codes, strict=True))
        for codes in zip(*(table[name].codes for name in QUASI), strict=True)
    ]
    best: tuple[int, Rows, Rows] | None = None
    for group in cells.partition_by("group"):
        before = [
            tuple(str(stays[name][table[name].codes[record]]) for name in COLUMNS) for record in sorted(group["record"])
        ]
        ages = [int(row[0]) for row in before]
        zips = {row[2] for row in before}
        alone = all(everybody.count(row[:3]) == 1 for row in before)
        if len(before) == 6 and alone and len(set(group[SENSITIVE])) >= DIAGNOSES and len(zips) == 2:
            after = [tuple(str(value) for value in row) for row in group.select(COLUMNS).iter_rows()]
            width = max(ages) - min(ages)
            if best is None or width < best[0]:
                best = width, before, after
    if best is None:
        raise ValueError("no group of the release is fit to be shown")
    return best[1:]


def card(title: str, below: str, rows: Rows, shaded: set[int], fill: str) -> str:
    """A table as a card; some of its rows are shaded."""
    height = TOP + STEP * len(rows) + 46
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" font-family="Helvetica, Arial, sans-serif">',
        f"<title>{escape(title)}. {escape(below)}</title>",
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="8" fill="{PAGE}" stroke="{LINE}"/>',
        f'<text x="16" y="32" font-size="18" font-weight="bold" fill="{INK}">{escape(title)}</text>',
        f'<rect x="1" y="{TOP - 34}" width="{WIDTH - 2}" height="{STEP}" fill="{HEAD}"/>',
    ]
    for name, x in PLACES.items():
        parts.append(f'<text x="{x}" y="{TOP - 15}" font-size="15" fill="{SOFT}">{name}</text>')
    for number, row in enumerate(rows):
        y = TOP + STEP * number
        if number in shaded:
            parts.append(f'<rect x="1" y="{y - 7}" width="{WIDTH - 2}" height="{STEP}" fill="{fill}"/>')
        for x, value in zip(PLACES.values(), row, strict=True):
            parts.append(f'<text x="{x}" y="{y + 12}" font-size="16" fill="{INK}">{escape(value)}</text>')
    parts.append(f'<text x="16" y="{height - 17}" font-size="15" fill="{SOFT}">{escape(below)}</text>')
    return "\n".join((*parts, "</svg>", ""))


def main() -> None:
    before, after = six_stays()
    known = 1
    age, sex, zip_code, diagnosis = before[known]
    diagnoses = len({row[3] for row in after})
    found = f"Someone who knows {sex}, {age}, {zip_code} reads: {diagnosis}."
    hidden = f"The same person finds 6 rows with {diagnoses} diagnoses."
    for name, text in (
        ("before", card("Before", found, before, {known}, MARK)),
        ("after", card("After", hidden, after, set(range(6)), HIDDEN)),
    ):
        (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
