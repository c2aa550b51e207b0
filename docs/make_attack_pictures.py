"""Draws docs/attacks/NAME.svg: what each attack achieves on small releases of the samples.

    python docs/make_attack_pictures.py                 all of them, in about two minutes
    python docs/make_attack_pictures.py linkage         these

Seeds are fixed, so that a picture changes only if a method does. Bars reach over an interval of 95 %.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from make_algorithm_pictures import few_records

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.heterogeneous import Heterogeneous
from lookalike.apps.papers.hg.published_heterogeneous import HeterogeneousAsPublished
from lookalike.attacks import ATTACKS, parse_attack
from lookalike.data.contracts import Algorithm, Finding, Promise, Target, wilson
from lookalike.data.control import encode_control, take_rows
from lookalike.data.ends import Ends, round_ends
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Grouped
from lookalike.data.schema import Role, Schema
from lookalike.evaluation import charts
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from lookalike.samples import census, hospital, hospital_schema

FOLDER = Path(__file__).parent / "attacks"
RIGHT = "right guesses, per cent"
HONEST = "baseline"
Point = dict[str, object]


@cache
def patients(rows: int) -> Microdata:
    """Hospital stays: age, sex and zip code known, the diagnosis guessed."""
    return Microdata.encode(hospital(rows), Schema.of(qi=["age", "sex", "zip code"], sensitive=["diagnosis"]))


@cache
def patients_with_kinds(rows: int) -> Microdata:
    """The same with the sample's own schema, which knows kinds of diagnoses."""
    kept = {"age": Role.QUASI, "sex": Role.QUASI, "diagnosis": Role.SENSITIVE}
    attributes = hospital_schema().attributes
    roles = [replace(one, role=kept.get(one.name, Role.IDENTIFIER)) for one in attributes]
    return Microdata.encode(hospital(rows), Schema(tuple(roles)))


@cache
def citizens(rows: int) -> Microdata:
    """Census records: five quasi-identifiers, the occupation guessed."""
    table = census(rows, seed=2)
    *known, guessed = table.names
    schema = Schema.of(qi=known[:5], sensitive=[guessed], categorical=[known[1], *known[3:5], guessed])
    kept = tuple(table[name] for name in (*known[:5], guessed))
    return Microdata.encode(Table(kept), schema)


def released(data: Microdata, algorithm: str | Algorithm, promise: str, seed: int = 1) -> Target:
    """A release to attack, and what its attacker may be told."""
    method = parse_algorithm(algorithm) if isinstance(algorithm, str) else algorithm
    promises = settle([Promise(parse_model(promise))], data)
    release, linkage = method.anonymize(data, require(promises, data), Randomness(seed), silent)
    return Target(release=release, original=data, promises=promises, algorithm=method, graph=linkage.graph)


def attacked(attack: str, target: Target) -> Finding:
    (finding,) = parse_attack(attack).run(target, Randomness(1), silent)
    return finding


def guesses(series: str, x: str, place: int, finding: Finding) -> Point:
    """A point of a curve: the share of right guesses and its interval."""
    assert finding.score is not None
    low, high = finding.score.interval
    share = 100 * finding.score.share
    return {x: str(place), RIGHT: share, "low": 100 * low, "high": 100 * high, "series": series}


def honest(x: str, place: int, finding: Finding) -> Point:
    share = 100 * max(finding.baselines.values())
    return {x: str(place), RIGHT: share, "low": share, "high": share, "series": HONEST}


def curves(rows: Sequence[Point], x: str, title: str, y: str = RIGHT, y_title: str | None = None) -> charts.Chart:
    # One series after the other, in the order of the first point of each.
    order = list(dict.fromkeys(row["series"] for row in rows))
    rows = sorted(rows, key=lambda row: order.index(row["series"]))
    ends = {"low": "low", "high": "high"} if "low" in rows[0] else {}
    return charts.lines(rows, x, y, "series", title=title, y_title=y_title, width=300, height=220, **ends)


def against_honest(attack: str, data: Microdata, algorithm: str, levels: Iterable[int], title: str) -> charts.Chart:
    """Right guesses of an attack and of its baseline, for several l."""
    rows = []
    for ell in levels:
        finding = attacked(attack, released(data, algorithm, f"l-diversity:{ell}"))
        rows += [guesses(attack.partition(":")[0], "l", ell, finding), honest("l", ell, finding)]
    return curves(rows, "l", title)


def linkage() -> charts.Chart:
    rows = []
    named = {
        "prosecutor, highest": "highest prosecutor risk",
        "prosecutor, mean": "mean prosecutor risk",
        "journalist, mean": "mean journalist risk",
    }
    for k in (2, 3, 5, 8, 10):
        finding = attacked("linkage", released(patients(1000), "mondrian", f"k-anonymity:{k}"))
        rows += [{"k": str(k), "risk": finding.figures[figure], "series": name} for name, figure in named.items()]
    return curves(rows, "k", "1,000 patients, mondrian, k-anonymity", "risk", "chance to find a person")


def homogeneity() -> charts.Chart:
    target = released(few_records(48), "groups", "k-anonymity:2")
    release = target.release
    assert isinstance(release, Grouped)
    texts = release.domains.sensitive[0].texts
    held = [sorted(release.sensitive[release.group_of_row == group, 0]) for group in np.unique(release.group_of_row)]
    held.sort(key=lambda values: len(set(values)))
    n_alike = sum(len(set(values)) == 1 for values in held)
    tiles = [
        {"group": str(number), "place": str(place), "illness": texts[value], "letter": texts[value][0].upper()}
        for number, values in enumerate(held, 1)
        for place, value in enumerate(values, 1)
    ]
    tiles.sort(key=lambda tile: (int(tile["place"]), int(tile["group"])))
    title = f"k-anonymity:2: in {n_alike} of {len(held)} groups all have the same illness"
    return charts.tiles(
        tiles, "group", "place", "illness", label="letter", title=title, y_title="values", size=19, up=True
    )


def skewness() -> charts.Chart:
    data = patients(1000)
    texts = data.domains.sensitive[0].texts
    shares = data.counts(0) / data.n_rows
    rarest = np.argsort(shares)[:5]
    rows = [{"belief": 100 * shares[value], "value": texts[value], "series": "share in the table"} for value in rarest]
    for promise in ("beta-likeness:3", "l-diversity:3"):
        release = released(data, "groups:effort=fast", promise).release
        assert isinstance(release, Grouped)
        held = np.zeros((int(release.group_of_row.max()) + 1, len(shares)))
        np.add.at(held, (release.group_of_row, release.sensitive[:, 0]), 1)
        highest = (held / held.sum(axis=1, keepdims=True)).max(axis=0)
        rows += [
            {"belief": 100 * highest[value], "value": texts[value], "series": f"highest certainty, {promise}"}
            for value in rarest
        ]
    rows.sort(key=lambda row: [texts[value] for value in rarest].index(row["value"]))
    return charts.bars(
        rows, "belief", "value", "series", title="The five rarest diagnoses", x_title="per cent", width=260
    )


def similarity() -> charts.Chart:
    rows = []
    named = {"in a diagnosis": "highest certainty in a value", "in a kind of diagnosis": "highest certainty, level 1"}
    for ell in (2, 3, 4, 5, 6, 8):
        finding = attacked(
            "similarity", released(patients_with_kinds(1000), "groups:effort=fast", f"l-diversity:{ell}")
        )
        rows += [
            {"l": str(ell), "belief": 100 * finding.figures[figure], "series": name} for name, figure in named.items()
        ]
    return curves(rows, "l", "1,000 patients in groups, l-diversity", "belief", "highest certainty, per cent")


def naive_bayes() -> charts.Chart:
    title = "1,000 patients in groups, l-diversity"
    return against_honest("naive-bayes", patients(1000), "groups:effort=fast", (2, 3, 4, 5, 6, 8), title)


def learner() -> charts.Chart:
    title = "1,000 patients in groups, l-diversity"
    return against_honest("learner:trees=30", patients(1000), "groups:effort=fast", (2, 3, 4, 5, 6, 8), title)


def definetti() -> charts.Chart:
    title = "5,000 census records in buckets of anatomy, l-diversity"
    return against_honest("definetti", citizens(5000), "anatomy", (2, 3, 4, 6, 8), title)


def minimality() -> charts.Chart:
    rows = []
    for ell in (2, 3, 4, 5):
        for method in ("greedy", "random", "symmetric"):
            finding = attacked(
                "minimality:accepted=500", released(patients(1000), f"{method}-grouping", f"l-diversity:{ell}")
            )
            rows.append({"l": str(ell), "risk": finding.figures["risk_times_l"], "series": f"{method}-grouping"})
    title = "1,000 patients in runs, l-diversity"
    return curves(rows, "l", title, "risk", "highest certainty over what was promised")


def corruption() -> charts.Chart:
    rows = []
    made = {"groups": "l-diversity:4", "anatomy": "l-diversity:4", "perturbation": "beta-likeness:4"}
    for method, promise in made.items():
        target = released(patients(1000), method, promise)
        for known in (1, 100, 200, 300, 400, 500, 600):
            finding = attacked(f"corruption:known={known}", target)
            rows.append(guesses(f"{method}, {promise}", "records known", known, finding))
    return curves(rows, "records known", "1,000 patients, some of them known")


def repeated_values() -> charts.Chart:
    rows = []
    for ell in (3, 4, 5, 6):
        for method, name in (
            (HeterogeneousAsPublished(matcher="hungarian"), "drawn as published"),
            (Heterogeneous(matcher="hungarian"), "drawn as here"),
        ):
            target = released(citizens(600), method, f"l-diversity:{ell}")
            rows.append(guesses(name, "l", ell, attacked("repeated-values:rows=graph", target)))
        rows.append(
            {"l": str(ell), RIGHT: 100 / ell, "low": 100 / ell, "high": 100 / ell, "series": "1/l, as promised"}
        )
    return curves(rows, "l", "600 census records, heterogeneous, l-diversity")


def possible_worlds() -> charts.Chart:
    rows = []
    for k in (2, 3, 4, 5, 6):
        finding = attacked("possible-worlds", released(citizens(500), "freeform", f"k-anonymity:{k}"))
        if finding.score is None:
            continue
        fitting = 100 * finding.baselines["rows that fit"]
        rows.append(guesses("all persons together", "k", k, finding))
        rows.append({"k": str(k), RIGHT: fitting, "low": fitting, "high": fitting, "series": "rows that fit"})
    return curves(rows, "k", "500 census records, freeform, k-anonymity")


def composition() -> charts.Chart:
    rows = []
    for ell in (3, 5):
        alone = 100 / ell
        rows.append({"releases": "1", RIGHT: alone, "low": alone, "high": alone, "series": f"l-diversity:{ell}"})
        made = [released(patients(1000), "anatomy", f"l-diversity:{ell}", seed) for seed in range(5)]
        for n_releases in range(2, 6):
            target = replace(made[0], others=tuple(other.release for other in made[1:n_releases]))
            rows.append(guesses(f"l-diversity:{ell}", "releases", n_releases, attacked("composition", target)))
    return curves(rows, "releases", "1,000 patients, published several times by anatomy")


@cache
def citizens_and_others(rows: int) -> tuple[Microdata, Microdata]:
    """As many census records in the table as in the control group."""
    table = census(2 * rows, seed=2)
    *known, guessed = table.names
    schema = Schema.of(qi=known[:5], sensitive=[guessed], categorical=[known[1], *known[3:5], guessed])
    mine, others = (take_rows(table, np.arange(first, first + rows)) for first in (0, rows))
    data = Microdata.encode(mine, schema)
    return data, encode_control(others, data)[0]


def with_control(rows: int, algorithm: str, promise: str) -> Target:
    data, control = citizens_and_others(rows)
    return replace(released(data, algorithm, promise), control=control)


def beside_control(x: str, place: object, finding: Finding) -> list[Point]:
    """What is right about people in the table and about the control group, with their intervals."""
    found = finding.residual
    assert found is not None
    assert found.control_n is not None
    assert found.control_right is not None
    points: list[Point] = []
    for series, right, n in (("in the table", found.right, found.n), ("others", found.control_right, found.control_n)):
        centre, reach = wilson(right, n)
        share = 100 * right / n
        points.append(
            {
                x: str(place),
                RIGHT: share,
                "low": 100 * (centre - reach),
                "high": 100 * (centre + reach),
                "series": series,
            }
        )
    return points


def singling_out() -> charts.Chart:
    rows = []
    for name, ends in (("exact ends", "exact"), ("rounded ends", {"Age": 5, "Education": 2})):
        for k in (3, 5, 10, 20):
            target = with_control(2000, "mondrian-strict", f"k-anonymity:{k}")
            target = replace(target, release=round_ends(target.release, Ends.read(ends))[0])
            for point in beside_control("k", k, attacked("singling-out:kind=ends", target)):
                rows.append({**point, "series": f"{point['series']}, {name}"})
    return curves(rows, "k", "2,000 census records, mondrian-strict", y_title="predicates that isolate, per cent")


def linkability() -> charts.Chart:
    rows = []
    for k in (2, 3, 5, 10):
        rows += beside_control("k", k, attacked("linkability", with_control(2000, "mondrian", f"k-anonymity:{k}")))
    return curves(rows, "k", "2,000 census records, mondrian, k-anonymity", y_title="people linked rightly, per cent")


def inference() -> charts.Chart:
    rows = []
    for promise in ("k-anonymity:2", "k-anonymity:10", "l-diversity:10", "beta-likeness:3"):
        target = with_control(2000, "groups:effort=fast", promise)
        rows += beside_control("promise", promise, attacked("inference:attacker=reader", target))
    return curves(rows, "promise", "2,000 census records in groups, read by the plain reader")


PICTURES: dict[str, Callable[[], charts.Chart]] = {
    "linkage": linkage,
    "homogeneity": homogeneity,
    "skewness": skewness,
    "similarity": similarity,
    "naive-bayes": naive_bayes,
    "learner": learner,
    "definetti": definetti,
    "minimality": minimality,
    "corruption": corruption,
    "repeated-values": repeated_values,
    "possible-worlds": possible_worlds,
    "composition": composition,
    "singling-out": singling_out,
    "linkability": linkability,
    "inference": inference,
}


def picture(name: str) -> charts.Chart:
    """The picture of an attack, from runs of it."""
    return PICTURES[name]()


def main() -> None:
    for name in sys.argv[1:] or ATTACKS:
        charts.write_svg(picture(name), FOLDER / f"{name}.svg")


if __name__ == "__main__":
    main()
