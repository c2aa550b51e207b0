"""Draws the five diagrams of the documents into docs/diagrams.

    python docs/make_diagrams.py               all of them
    python docs/make_diagrams.py forms audit   these

`packages` follows the layers in pyproject.toml and the packages that are there; `forms` publishes six invented people.
The same code gives the same bytes, and a test compares them with the files.
"""

from __future__ import annotations

import random
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parent / "diagrams"
ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "lookalike"
WIDTH = 800
INK, SOFT, LINE = "#1c2530", "#4a5768", "#8a96a6"
BLUE, GREEN, AMBER, ROSE, GREY = "#dbe8f8", "#dcf0df", "#fbecc8", "#f8dcdc", "#eef1f5"
DARK_BLUE, DARK_GREEN, DARK_ROSE = "#1d4f91", "#1f6b33", "#a12c2c"
VALUES = {"asthma": "#1d4f91", "flu": "#9a5b00", "gout": "#7a2f86"}
"""Colours of the sensitive values."""


class Drawing:
    """Shapes and text on a white page, as SVG."""

    def __init__(self, height: float, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
            f'height="{height:g}" role="img" font-family="Helvetica, Arial, sans-serif">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{WIDTH}" height="{height:g}" fill="#ffffff"/>',
        ]

    def box(
        self, x: float, y: float, w: float, h: float, fill: str = GREY, edge: str = LINE, dash: str = "", r: float = 5
    ) -> None:
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{r:g}" fill="{fill}" stroke="{edge}"{dashed}/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = 14,
        *,
        bold: bool = False,
        fill: str = INK,
        at: str = "start",
        behind: str = "",
    ) -> None:
        """Words; with a colour `behind` them, lines that they cross are hidden."""
        weight = ' font-weight="bold"' if bold else ""
        anchor = "" if at == "start" else f' text-anchor="{at}"'
        halo = f' stroke="{behind}" stroke-width="6" paint-order="stroke"' if behind else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill}"{weight}{anchor}{halo}>{escape(words)}</text>'
        )

    def lines(self, x: float, y: float, words: Iterable[str], size: float = 13, fill: str = SOFT) -> None:
        for number, line in enumerate(words):
            self.text(x, y + number * (size + 4), line, size, fill=fill)

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str = LINE, dash: str = "") -> None:
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}"{dashed}/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float, stroke: str = SOFT, dash: str = "") -> None:
        """A line with a head; upright or level."""
        dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
        self.line(x1, y1, x2 - 6 * dx, y2 - 6 * dy, stroke, dash)
        back_x, back_y = x2 - 9 * dx, y2 - 9 * dy
        self.parts.append(
            f'<path d="M{x2:g} {y2:g}L{back_x + 5 * dy:g} {back_y + 5 * dx:g}'
            f'L{back_x - 5 * dy:g} {back_y - 5 * dx:g}Z" fill="{stroke}"/>'
        )

    def dot(self, x: float, y: float, fill: str, r: float = 4) -> None:
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{fill}"/>')

    def svg(self) -> str:
        return "\n".join((*self.parts, "</svg>", ""))


# The package map

SAYS = {
    "apps": "what users run: command line, studio, papers, samples",
    "publication": "publish, synthesize",
    "evaluation": "helps the owner decide: inspect, advise, compare, report, charts",
    "pipeline": "from recipe to audited release, whole or in parts; Spark",
    "models": "what is promised",
    "algorithms": "how a release is made",
    "attacks": "what attackers achieve",
    "metrics": "what is lost",
    "analysis": "for the recipient: counts, SQL, plain tables",
    "audit": "the independent check",
    "files": "reads and writes tables, databases and release folders",
    "data": "the shared types: schema, table, release, exposure; the protocols",
    "words": "the sentences of promises",
    "kernels": "compiled inner loops",
}


def packages() -> str:
    """Layers from pyproject.toml; boxes with a text are packages, the others modules."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = [re.split(r"\s*[|:]\s*", layer) for layer in project["tool"]["importlinter"]["contracts"][0]["layers"]]
    step, top, left, right = 62, 52, 60, WIDTH - 20
    drawing = Drawing(top + step * len(layers) + 14, "Packages of lookalike in their layers")
    drawing.text(left, 30, "Each layer imports only from the layers below it.", 15, bold=True)
    drawing.arrow(32, top + 6, 32, top + step * len(layers) - 14)
    for row, layer in enumerate(layers):
        y = top + row * step
        wide = [name for name in layer if (SOURCE / name).is_dir()]
        small = [name for name in layer if name not in wide]
        room = right - left
        share = (room - 10 * (len(wide) - 1)) / max(len(wide), 1)
        if wide and small:
            share = 190
        for column, name in enumerate(wide):
            x = left + column * (share + 10)
            fill = {"audit": AMBER}.get(name, GREEN if len(wide) == 4 else BLUE)
            drawing.box(x, y, share, step - 12, fill)
            drawing.text(x + 12, y + 20, f"{name}/{_members(name)}", 15, bold=True)
            drawing.text(x + 12, y + 39, SAYS[name], 13, fill=SOFT)
        if small:
            x = left + len(wide) * (share + 10) if wide else left
            drawing.box(x, y, right - x, step - 12, GREY)
            drawing.text(x + 12, y + 20, "modules:", 13, fill=SOFT)
            drawing.text(x + 12, y + 39, ", ".join(small), 14)
    return drawing.svg()


def _members(name: str) -> str:
    """How many a family has."""
    tables = {"models": "MODELS", "algorithms": "ALGORITHMS", "attacks": "ATTACKS", "metrics": "METRICS"}
    if name not in tables:
        return ""
    import importlib

    family = importlib.import_module(f"lookalike.{name}")
    counted = len(getattr(family, tables[name]))
    if name == "metrics":
        counted += len(family.FIDELITY) + len(family.QUERIES)
    return f" ({counted})"


# One publish as a sequence

LIVES = {
    "you": ("you", "the data owner"),
    "pipeline": ("publish", "runs the steps"),
    "algorithm": ("algorithm", "e.g. groups"),
    "audit": ("audit", "trusts nobody"),
    "evaluation": ("evaluation", "for the report"),
    "files": ("files", "the folder"),
}
STAGES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "recipe": (("you", "pipeline", "table + promise"),),
    "prepare": (
        ("pipeline", "pipeline", "encode the values; refuse promises that no release can keep"),
        ("pipeline", "pipeline", "turn promises into exact requirements; choose an algorithm"),
    ),
    "run": (
        ("pipeline", "algorithm", "records"),
        ("algorithm", "pipeline", "release"),
        ("algorithm", "algorithm", "the record map (who became which row) stays private"),
        ("pipeline", "audit", "release + original"),
        ("audit", "pipeline", "verdicts (stop if one failed)"),
        ("pipeline", "pipeline", "measure what was lost"),
    ),
    "evaluate": (
        ("pipeline", "evaluation", "release + original"),
        ("evaluation", "evaluation", "attacks, count queries, trade-off"),
    ),
    "write": (
        ("pipeline", "files", "tables"),
        ("files", "files", "read back and compare"),
        ("evaluation", "files", "report"),
        ("files", "files", "descriptor of all files"),
        ("files", "you", "the folder appears complete or not at all"),
    ),
}


def publish() -> str:
    """Who hands what to whom, from top to bottom."""
    step, top, first = 32, 76, 150
    place = {name: first + number * 118.0 for number, name in enumerate(LIVES)}
    height = top + sum(len(steps) * step + 12 for steps in STAGES.values()) + 8
    drawing = Drawing(height, "One publish, step by step")
    for name, x in place.items():
        title, below = LIVES[name]
        drawing.box(x - 53, 12, 106, 48, AMBER if name == "audit" else BLUE)
        drawing.text(x, 33, title, 15, bold=True, at="middle")
        drawing.text(x, 51, below, 12.5, fill=SOFT, at="middle")
        drawing.line(x, 60, x, top)
    y = float(top)
    for number, (stage, steps) in enumerate(STAGES.items()):
        band = GREY if number % 2 else "#f7f9fb"
        drawing.box(8, y, WIDTH - 16, len(steps) * step + 8, band, "none")
        for x in place.values():
            drawing.line(x, y, x, y + len(steps) * step + 12)
        drawing.text(18, y + 24, stage, 15, bold=True, fill=DARK_BLUE)
        for nth, (source, target, words) in enumerate(steps):
            _message(drawing, place[source], place[target], y + nth * step + 22, words, band)
        y += len(steps) * step + 12
    return drawing.svg()


def _message(drawing: Drawing, x1: float, x2: float, y: float, words: str, behind: str) -> None:
    """An arrow with its words above; what is done in one place is a dot with words beside it."""
    if x1 == x2:
        left = x1 + 6.4 * len(words) + 20 > WIDTH
        drawing.dot(x1, y, DARK_BLUE, 5)
        drawing.text(x1 + (-12 if left else 12), y + 4, words, 13, at="end" if left else "start", behind=behind)
        return
    way = 1 if x2 > x1 else -1
    drawing.text((x1 + x2) / 2, y, words, 13, at="middle", behind=behind)
    drawing.arrow(x1 + 2 * way, y + 6, x2 - 2 * way, y + 6, DARK_BLUE)


# The four forms, on six people

PEOPLE = (
    ("Ana", 27, "F", "flu"),
    ("Ben", 31, "M", "asthma"),
    ("Cleo", 34, "F", "gout"),
    ("Dan", 46, "M", "asthma"),
    ("Eva", 52, "F", "flu"),
    ("Finn", 58, "M", "gout"),
)
KNOWN = PEOPLE[2]
"""The person whom the attacker looks for."""
FORMS = {
    "grouped": ("groups", "l-diversity:3"),
    "matched": ("freeform", "k-anonymity:2"),
    "bucketized": ("anatomy", "l-diversity:3"),
    "perturbed": ("perturbation", "beta-likeness:1"),
}
SEED = 9
"""Of the releases shown; by this one the redrawing changes the diagnosis of the person looked for."""
Row = tuple[str, ...]


def released(form: str) -> tuple[list[tuple[Row, list[Row]]], Fraction | None]:
    """Headers and rows of a real release of the six people, sorted for reading; the chance that a value was kept."""
    import polars

    import lookalike as la
    from lookalike.data.release import Perturbed

    algorithm, model = FORMS[form]
    _, ages, sexes, diagnoses = zip(*PEOPLE, strict=True)
    table = polars.DataFrame({"age": ages, "sex": sexes, "diagnosis": diagnoses})
    made = la.publish(table, qi=["age", "sex"], sensitive="diagnosis", model=model, algorithm=algorithm, seed=SEED)
    frames = made.frame()
    listed = list(frames.values()) if isinstance(frames, Mapping) else [frames]
    tables = [(tuple(one.columns), sorted(tuple(map(str, row)) for row in one.rows())) for one in listed]
    if not isinstance(made.release, Perturbed):
        return tables, None
    matrix = made.release.randomizers[0]
    return tables, Fraction(int(matrix.weights[0, 0]), matrix.total)


def forms() -> str:
    """The original and the four forms, with the rows in which an attacker looks for one person."""
    left, top = 20, 70
    drawing = Drawing(590, "The same six invented people in the four forms of release")
    name, age, sex, _ = KNOWN
    drawing.text(
        20, 30, f"The attacker knows that {name} is {age} and {'a woman' if sex == 'F' else 'a man'}.", 17, bold=True
    )
    drawing.text(20, 50, "Shaded: the rows that may be about her. What do they say about her diagnosis?", 14, fill=SOFT)
    drawing.text(left, top + 116, "Original", 16, bold=True)
    drawing.text(left, top + 134, "stays with its owner", 13, fill=SOFT)
    people = [tuple(map(str, person)) for person in PEOPLE]
    _table(
        drawing, left, top + 144, ("name", "age", "sex", "diagnosis"), people, (48, 34, 34, 70), {PEOPLE.index(KNOWN)}
    )
    for y in (190, 450):
        drawing.line(226, 320, 226, y, SOFT)
        drawing.arrow(226, y, 246, y)
    drawing.line(210, 320, 226, 320, SOFT)
    says = {
        "grouped": ("Rows in a group share the same ranges.", "{n} rows fit {name}: {values}."),
        "matched": ("Every row has its own ranges.", "{n} rows fit {name}: {values}."),
        "bucketized": ("Exact, but in two tables: her bucket", "says {values}."),
        "perturbed": ("Diagnoses are redrawn at random and stay", "the same with chance {kept}. {name}'s changed."),
    }
    for number, form in enumerate(FORMS):
        x, y = 256 + number % 2 * 276, top + number // 2 * 260
        tables, kept = released(form)
        algorithm, model = FORMS[form]
        drawing.text(x, y + 14, form, 16, bold=True, fill=DARK_BLUE)
        drawing.text(x + 92, y + 14, f"{algorithm}, {model}", 12.5, fill=SOFT)
        seen = _candidates(form, tables)
        values = _either(sorted({tables[-1][1][place][-1] for place in seen[-1]}))
        told = [words.format(name=name, n=len(seen[-1]), values=values, kept=kept) for words in says[form]]
        drawing.lines(x, y + 32, told)
        if form == "bucketized":
            _table(drawing, x, y + 58, *tables[0], (34, 34, 52), seen[0])
            _table(drawing, x + 130, y + 58, *tables[1], (52, 74), seen[1])
        else:
            _table(drawing, x, y + 58, *tables[0], (70, 50, 134), seen[0])
    drawing.text(
        20, 582, "Real releases have their rows in random order; here they are sorted for readability.", 12.5, fill=SOFT
    )
    return drawing.svg()


def _either(values: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(values[:-1]), values[-1])))


def _candidates(form: str, tables: Sequence[tuple[Row, list[Row]]]) -> list[set[int]]:
    """Of each table, the rows that fit the known person."""
    _, age, sex, _ = KNOWN
    _, first = tables[0]
    fit = {place for place, cells in enumerate(first) if _holds(cells[0], age) and cells[1] in (sex, "*")}
    if form != "bucketized":
        return [fit]
    buckets = {first[place][2] for place in fit}
    return [fit, {place for place, cells in enumerate(tables[1][1]) if cells[0] in buckets}]


def _holds(cell: str, number: int) -> bool:
    low, _, high = cell.partition("..")
    return int(low) <= number <= int(high or low)


def _table(
    drawing: Drawing, x: float, y: float, header: Row, rows: Sequence[Row], widths: Sequence[int], shaded: set[int]
) -> None:
    step = 22
    drawing.box(x - 6, y, sum(widths) + 6, step, "#ffffff", "none")
    for place, cells in enumerate((header, *rows)):
        base = y + place * step
        if place - 1 in shaded:
            drawing.box(x - 6, base + 2, sum(widths) + 6, step - 1, AMBER, "none", r=3)
        at = x
        for column, cell in enumerate(cells):
            words = "any" if cell == "*" else cell
            if place == 0:
                drawing.text(at, base + 16, words, 13, fill=SOFT)
            else:
                drawing.text(at, base + 16, words, 14, fill=VALUES.get(cell, INK), bold=cell in VALUES)
            at += widths[column]
    drawing.line(x - 6, y + step, x + sum(widths), y + step)
    drawing.line(x - 6, y + step * (len(rows) + 1) + 2, x + sum(widths), y + step * (len(rows) + 1) + 2)


# What the audit sees

GIVEN = ("the release", "the original table", "the promises to check")
WITHHELD = (
    ("the private record map", "who became which row"),
    ("the random numbers", "seed, shuffle, draws"),
    ("the algorithm", "they share no code"),
    ("group numbers", "it finds groups itself"),
)
DECIDES = (
    "Is it a release of this table, one row for every record?",
    "How sure can a reader be of each value? In exact numbers.",
    "Does the row order follow the original?",
    "Were the values of a perturbed release really redrawn?",
)
DECIDES_OF_FILES = (
    "Do the files say more than the tables: extra bytes, notes?",
    "Do the sentences match the promises?",
)
LEAVES = (
    "Which columns does an attacker know? You decide.",
    "Does it hold against someone who knows the method?",
    "Two releases about the same people, compared side by side",
    "A row order by a secret that is in no column",
    "Tiny tables, where chance could give the same result",
)


def audit() -> str:
    """What goes in, what does not, what comes out, and what stays open."""
    drawing = Drawing(560, "What the audit sees and does not see")
    drawing.text(20, 36, "The audit sees", 16, bold=True, fill=DARK_GREEN)
    for number, words in enumerate(GIVEN):
        y = 52 + number * 46
        drawing.box(20, y, 190, 36, GREEN)
        drawing.text(32, y + 23, words, 14)
        drawing.line(210, y + 18, 232, y + 18, SOFT)
    where = ("publish: while it is in memory", "lookalike audit: from its folder", "matched releases: also the")
    drawing.lines(24, 206, (*where, "private graph, if it is given"), 13)
    drawing.line(232, 70, 232, 162, SOFT)
    drawing.arrow(232, 116, 262, 116)
    drawing.text(20, 306, "It does not see", 16, bold=True, fill=DARK_ROSE)
    for number, (words, why) in enumerate(WITHHELD):
        y = 320 + number * 56
        drawing.box(20, y, 190, 46, ROSE, dash="4 3")
        drawing.text(32, y + 20, words, 14)
        drawing.text(32, y + 37, why, 12.5, fill=SOFT)
    drawing.line(244, 320, 244, 534, DARK_ROSE, "4 3")
    drawing.box(264, 52, 120, 482, AMBER)
    drawing.text(324, 84, "audit", 18, bold=True, at="middle")
    for number, words in enumerate(("thinks like", "the attacker,", "works everything", "out again,", "exactly")):
        drawing.text(324, 110 + number * 18, words, 13, fill=SOFT, at="middle")
    fails = ("If a check or a", "promise fails,", "publish writes", "nothing, and", "lookalike audit", "exits with 1.")
    for number, words in enumerate(fails):
        drawing.text(324, 420 + number * 18, words, 13, bold=True, at="middle")
    drawing.text(416, 36, "It decides", 16, bold=True, fill=DARK_GREEN)
    drawing.text(416, 222, "lookalike audit also decides, of the files in a folder", 13, bold=True, fill=DARK_GREEN)
    for number, words in enumerate((*DECIDES, *DECIDES_OF_FILES)):
        y = 52 + number * 38 + (26 if number >= len(DECIDES) else 0)
        drawing.arrow(384, y + 15, 408, y + 15)
        drawing.box(410, y, 376, 30, GREEN)
        drawing.text(420, y + 20, words, 13)
    drawing.text(416, 334, "It cannot decide", 16, bold=True, fill=DARK_ROSE)
    for number, words in enumerate(LEAVES):
        y = 348 + number * 38
        drawing.box(410, y, 376, 32, ROSE, dash="4 3")
        drawing.text(420, y + 21, words, 13)
    return drawing.svg()


# Boxes and slices

KINDS = ("asthma", "flu", "gout")
WHY = (
    "A promise is about a group, a bucket, or the rows that may belong to a person. Each of these is in one part,",
    "and is checked against the counts of the whole table. So the worst of all parts is the worst of the release.",
    "A box too small for its promise is joined to its neighbour; one too large is cut again or split into slices.",
)


def parts() -> str:
    """The same records cut into boxes, and dealt out in slices."""
    from lookalike.algorithms import ALGORITHMS
    from lookalike.data.contracts import Boxes, Slices, Undivided

    boxed, sliced, whole = (
        textwrap.wrap(
            ", ".join(name for name, kind in ALGORITHMS.items() if isinstance(kind().in_parts, way)) + ":", 58
        )
        for way in (Boxes, Slices, Undivided)
    )
    drawing = Drawing(650, "Two ways to cut a table into parts: boxes and slices")
    dice = random.Random(11)
    records = []
    for place in range(96):
        across, down = ((place // 8 + 0.2 + 0.6 * dice.random()) / 12, (place % 8 + 0.2 + 0.6 * dice.random()) / 8)
        records.append((0.03 + 0.94 * across**1.4, down ** (0.75 if across < 0.5 else 1.35), dice.choice(KINDS)))
    drawing.text(20, 32, "Boxes", 17, bold=True, fill=DARK_BLUE)
    drawing.lines(20, 52, (*boxed, "cut where people differ most; each box is a part"))
    x, y, w, h = 50, 100, 300, 218
    for number, (x1, y1, x2, y2) in enumerate(_boxes(records, 3)):
        drawing.box(
            x + x1 * w, y + y1 * h, (x2 - x1) * w, (y2 - y1) * h, (BLUE, GREEN, AMBER, GREY)[number % 4], SOFT, r=0
        )
    for across, down, kind in records:
        drawing.dot(x + across * w, y + down * h, VALUES[kind], 4)
    drawing.text(x + w / 2, y + h + 18, "age", 13, fill=SOFT, at="middle")
    drawing.text(x - 34, y + h / 2, "zip", 13, fill=SOFT)
    drawing.text(430, 32, "Slices", 17, bold=True, fill=DARK_BLUE)
    drawing.lines(430, 52, (*sliced, "every part gets the same share of each diagnosis"))
    for number in range(4):
        drawing.box(430 + number * 90, 112, 80, 206, (BLUE, GREEN, AMBER, GREY)[number], SOFT)
        drawing.text(470 + number * 90, 104, f"part {number + 1}", 13, fill=SOFT, at="middle")
    for kind_number, kind in enumerate(KINDS):
        for place in range((48, 24, 16)[kind_number]):
            part, nth = place % 4, place // 4
            drawing.dot(
                442 + part * 90 + nth % 4 * 19, 128 + (0, 84, 140)[kind_number] + nth // 4 * 22, VALUES[kind], 4.5
            )
    for number, kind in enumerate(KINDS):
        drawing.dot((574, 644, 694)[number], 340, VALUES[kind], 4.5)
        drawing.text((584, 654, 704)[number], 344, kind, 13, fill=SOFT)
    drawing.text(430, 344, "One dot, one person:", 13, fill=SOFT)
    drawing.text(20, 378, "Then, either way:", 16, bold=True)
    steps = (
        ("executors, one part each", ("anonymize, write, read back, audit", "against the whole table's counts")),
        ("driver", ("joins checks, worst units and sums;", "never holds the rows")),
        ("release folder", ("appears once all parts have passed;", "one promise for the whole table")),
    )
    for number, (title, told) in enumerate(steps):
        at = 20 + number * 260
        drawing.box(at, 392, 240, 78, (BLUE, AMBER, GREEN)[number])
        drawing.text(at + 12, 416, title, 15, bold=True)
        drawing.lines(at + 12, 438, told, 13)
        if number:
            drawing.arrow(at - 20, 431, at, 431)
    drawing.box(20, 490, 760, 104, "#ffffff")
    drawing.text(34, 514, "Why the promise holds for the whole table", 15, bold=True)
    drawing.lines(34, 538, WHY, 13)
    drawing.text(20, 618, "Not in parts:", 13, bold=True, fill=DARK_ROSE)
    drawing.lines(112, 618, (" ".join(whole), "they need the whole table at once"))
    return drawing.svg()


def _boxes(
    records: Sequence[tuple[float, float, str]], depth: int, box: tuple[float, ...] = (0, 0, 1, 1), axis: int = 0
) -> list[tuple[float, ...]]:
    """Cut at the median, across and down in turn."""
    if not depth:
        return [box]
    ordered = sorted(records, key=lambda record: record[axis])
    middle = len(ordered) // 2
    at = round((float(ordered[middle - 1][axis]) + float(ordered[middle][axis])) / 2, 3)
    below, above = list(box), list(box)
    below[axis + 2] = above[axis] = at
    return [
        *_boxes(ordered[:middle], depth - 1, tuple(below), 1 - axis),
        *_boxes(ordered[middle:], depth - 1, tuple(above), 1 - axis),
    ]


DIAGRAMS: dict[str, Callable[[], str]] = {
    "packages": packages,
    "publish": publish,
    "forms": forms,
    "audit": audit,
    "parts": parts,
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or DIAGRAMS:
        (FOLDER / f"{name}.svg").write_text(DIAGRAMS[name](), encoding="utf-8")


if __name__ == "__main__":
    main()
