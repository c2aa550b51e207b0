"""Writes docs/reproduction.md and its figures from what `lookalike reproduce` wrote.

    lookalike reproduce all --data FOLDER --full --out results
    python docs/make_reproduction.py results
    python docs/make_reproduction.py docs/reproduction --judge      after a change of claims: nothing is measured

Every sentence about a paper or an experiment comes from its class, every verdict and every figure from the results.
Experiments that belong to no paper are in a last section, without claims, and the summary does not count them.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from lookalike.apps.papers import EXPERIMENTS, PAPERS, Experiment, Paper, Verdict
from lookalike.apps.papers.claims import format_figure
from lookalike.apps.papers.run import AGAIN, judge_again

HEAD = """# The papers, claim by claim

lookalike starts from five research papers. This page lists every result that they state, tests each on public data and
gives a verdict. No claim is left out because it failed.

| verdict | what it means | claims |
|---|---|---|
{verdicts}

The papers: {papers}. At the end: [What to pick today](#what-to-pick-today).

{main}

## How to read this page

"With limits" means: the claim holds, but on other records than the paper's, or with a method that we had to rebuild;
the reason is given. A claim is open if it holds on average but not in every repetition, or the other way round{again}.
Times are compared by the intervals of their repetitions; intervals that overlap leave a claim open. What is true by
construction, proof or arithmetic is listed per paper and not counted. *Our reading* marks tests whose threshold the
paper does not give.

The records:

{data}

To repeat the measurements:

```sh
lookalike reproduce all --data FOLDER{full} --out results
python docs/make_reproduction.py results
```

Without `--data` the records are invented. `docs/reproduction` has all measurements, and `--out docs/reproduction`
continues from them. `--seed 1` repeats the measurements with other random draws, `lookalike reproduce hg-6a` runs one
figure, and a run that was stopped continues where it stopped. Every release passed its audit before anything was
measured. The exceptions are the releases of a method that is studied because it breaks its own promise; the experiment
then says so. In the pictures, bars span the lowest to the highest of the repetitions ({repetitions} at most). Times are
CPU seconds of the method alone.
"""
MEANINGS = {
    Verdict.REPRODUCED: "our measurements show it",
    Verdict.LIMITED: "they show it, on other data or with a rebuilt method",
    Verdict.NO_DATA: "they do not show it; the paper's data are not public and may be the reason",
    Verdict.AGAINST: "they show the opposite, for a reason that other data would not change",
    Verdict.OPEN: "they do not decide it",
}


TODAY = """## What to pick today

These experiments belong to no paper. They compare the papers' methods with newer ones on the same records, to help you
choose. They judge no claim, and the table at the top does not count them. In the tables below:

- Query error: median error of count queries, in % of the true count.
- Prediction: share of held-out records whose occupation a random forest predicts correctly after it learned from the
  release.
- Naive Bayes: share of records whose occupation an attacker guesses correctly.
- Largest share: the share of the most frequent occupation among the rows that a person may be behind, at worst.
- GCP: information loss (0 = exact, 1 = fully blanked).
- CPU seconds: time of the method alone.

All figures are means over the repetitions. "-" means that the figure does not exist for this method.

In short, on these records:

- **Recipients need rows of real people:** `groups`. Of all methods that keep the promise it loses least information, at
  every beta and every l. It also answers counts best, except at l = 5, where `ring` is slightly ahead.
- **The attacker may know the method:** `groups` in strict mode, or `heterogeneous` (HG, repaired). They lose about
  equally much. Under beta-likeness `groups` answers counts better; with l = 5 and 10 `heterogeneous` does.
- **Invented rows and another promise will do:** MST. At beta = 1 and 3 it has the smallest query errors; at beta = 5
  those of `groups` are smaller. An attacker with naive Bayes also learns more from it than from releases that keep
  beta-likeness.
- **A very small beta:** at beta = 1, counts on releases that keep it are off by 170 % or more. Choose MST, or a larger
  beta.
- **Nothing here speaks for** BUREL or PrivBayes: another method with the same promise answers counts and predicts
  better at each setting. SABRE keeps t-closeness only: at beta = 5, a person can have a value with 70 % certainty,
  against 40 % with `groups`.
"""
COLUMNS = {
    "query_error": "query error, %",
    "prediction": "prediction, %",
    "naive_bayes": "naive Bayes, %",
    "largest_share": "largest share, %",
    "gcp": "GCP",
    "seconds": "CPU seconds",
}


def main() -> None:
    if "--judge" in sys.argv[2:]:
        judge_again(Path(sys.argv[1]))
    write(Path(sys.argv[1]), Path(__file__).parent)


def write(results: Path, target: Path) -> None:
    """Write reproduction.md and its figures into a folder, from a folder of results."""
    figures = target / "reproduction"
    if not figures.exists() or not figures.samefile(results):
        shutil.rmtree(figures, ignore_errors=True)
        figures.mkdir()
    everything = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*-*.json"))}
    letters = {paper.letters for paper in PAPERS}
    today = [one for one in EXPERIMENTS if one.paper not in letters and one.name in everything]
    of_papers = {one.name for one in EXPERIMENTS if one.paper in letters}
    found = {name: one for name, one in everything.items() if name in of_papers}
    parts = []
    for paper in PAPERS:
        parts.append(introduce(paper, found))
        for experiment in EXPERIMENTS:
            if experiment.paper == paper.letters and experiment.name in found:
                parts.append(section(experiment, found[experiment.name], results / f"{experiment.name}.csv"))
        if paper.claims:
            parts.append(f"### {paper.letters}: claims that no experiment decides\n\n{list_open(paper)}\n")
        if paper.statements:
            parts.append(f"### {paper.letters}: listed, not counted\n\n{list_statements(paper)}\n")
    missing = [", ".join(one.names) for one in EXPERIMENTS if one.name not in everything]
    if missing:
        told = "Not measured yet, so neither shown nor counted on this page"
        parts.insert(0, f"{told}: {'; '.join(missing)}.\n")
    if today:
        parts.append(TODAY)
        parts += [section_today(one, everything[one.name], results / f"{one.name}.csv") for one in today]
    pictures = [f"{name}.svg" for one in EXPERIMENTS if one.name in everything for name in one.names]
    measured = [f"{one.name}{ending}" for one in EXPERIMENTS for ending in (".csv", ".points")]
    for file in (*pictures, *measured, "run.json"):
        if (results / file).exists() and not results.samefile(figures):
            shutil.copyfile(results / file, figures / file)
    if (results / AGAIN).is_dir() and not results.samefile(figures):
        shutil.copytree(results / AGAIN, figures / AGAIN, ignore=shutil.ignore_patterns("*.csv", "*.json", "*.svg"))
    text = "\n".join([summarize(found, results), *parts]).rstrip() + "\n"
    (target / "reproduction.md").write_text(text, encoding="utf-8")


def summarize(found: dict[str, Any], results: Path) -> str:
    """The head of the page: how many claims came out how, the main ones paper by paper, and on which data."""
    counts = Counter(claim["verdict"] for one in found.values() for claim in one["claims"])
    counts[str(Verdict.OPEN)] += sum(len(paper.claims) for paper in PAPERS)
    rows = [f"| {verdict} | {MEANINGS[verdict]} | {counts[str(verdict)]} |" for verdict in Verdict]
    return HEAD.format(
        verdicts="\n".join([*rows, f"| all | | {sum(counts.values())} |"]),
        papers=", ".join(f"[{paper.letters}](#{_anchor(_title(paper))})" for paper in PAPERS),
        again=describe_again(results),
        main="\n\n".join(filter(None, (list_main_claims(paper, found) for paper in PAPERS))),
        data="\n".join(f"- {source}" for source in list_sources(found)),
        full=" --full" if {one["size"] for one in found.values()} == {"full"} else "",
        repetitions=max((one["repetitions"] for one in found.values()), default=0),
    )


def describe_again(results: Path) -> str:
    """Which experiments were measured a second time."""
    names = sorted(path.stem for path in (results / AGAIN).glob("*.points"))
    if not names:
        return ""
    return (
        f", or if a second run with `--seed 1` gives another verdict. {len(names)} experiments were measured a second "
        f"time: {', '.join(names)}"
    )


def list_main_claims(paper: Paper, found: dict[str, Any]) -> str:
    """The claims for which a paper is cited, with their verdicts and the sections that have the evidence."""
    rows = []
    for experiment in (one for one in EXPERIMENTS if one.name in found and one.name in paper.main):
        one = found[experiment.name]
        verdicts = {claim["says"]: claim["verdict"] for claim in one["claims"]}
        link = f"[{experiment.name}](#{_anchor(_heading(experiment, one))})"
        said = [says for says in paper.main[experiment.name] if says in verdicts]
        rows += [f"| {_cell(says)} | **{verdicts[says]}** | {link} |" for says in said]
    if not rows:
        return ""
    head = f"### {paper.letters}: the main claims\n\n| claim | verdict | evidence |\n|---|---|---|\n"
    return head + "\n".join(rows)


def list_sources(found: dict[str, Any]) -> list[str]:
    """Where the records came from, each source once."""
    drawn_again: dict[str, bool] = {}
    for one in found.values():
        for part in one["data"].split("; ") if one["data"] else ():
            whole, is_drawn, _ = part.partition(", resampled to")
            drawn_again[whole] = drawn_again.get(whole, False) or bool(is_drawn)
    more = " (larger tables are drawn from these with replacement)"
    return [f"{whole}{more if is_drawn else ''}" for whole, is_drawn in drawn_again.items()]


def introduce(paper: Paper, found: dict[str, Any]) -> str:
    """A paper's story, and how many of its claims came out how."""
    own = [one for name, one in found.items() if name.partition("-")[0].upper() == paper.letters]
    counts = Counter(claim["verdict"] for one in own for claim in one["claims"])
    counts[str(Verdict.OPEN)] += len(paper.claims)
    told = ", ".join(f"{counts[str(verdict)]} {verdict}" for verdict in Verdict if counts[str(verdict)])
    return (
        f"## {_title(paper)}\n\n*{paper.authors}*\n\n"
        f"**What it claims.** {paper.claimed}\n\n**What holds.** {paper.holds}\n\n**What does not.** {paper.fails}\n\n"
        f"**What to use.** {paper.instead}\n\nClaims: {told}.\n"
    )


def section(experiment: Experiment, one: dict[str, Any], file: Path) -> str:
    """An experiment: its setting, claim by claim what was found, and its figures."""
    lines = begin_section(_heading(experiment, one), experiment, one)
    if one["claims"]:
        lines += ["", "| where | claim | verdict | evidence |", "|---|---|---|---|"]
    for claim in one["claims"]:
        reading = f" *Our reading: {claim['judged']}*" if claim["judged"] else ""
        reason = claim["reason"].removesuffix(experiment.limits).strip() if experiment.limits else claim["reason"]
        told = ". ".join(part.strip().removesuffix(".") for part in (claim["evidence"], reason) if part)
        verdict = claim["verdict"] if claim["verdict"] == Verdict.REPRODUCED else f"**{claim['verdict']}**"
        lines.append(f"| {claim['where']} | {_cell(claim['says'] + reading)} | {verdict} | {_cell(told)} |")
    lines += ["", *list_points(experiment, file), *list_infeasible(one)]
    if not one["claims"]:
        lines.append(f"{experiment.differs.strip()}\n")
        return "\n".join(lines)
    if experiment.limits:
        lines.append(f"Limits of every claim that is reproduced here: {experiment.limits}\n")
    if experiment.differs:
        lines.append(f"What differs from the paper: {experiment.differs.strip()}\n")
    return "\n".join(lines)


def list_points(experiment: Experiment, file: Path) -> list[str]:
    """In which order the evidence gives its figures."""
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    axes = {figure.x: figure.x_title for figure in experiment.figures}
    told = []
    for x, title in axes.items():
        points = sorted({float(row[x]) for row in rows if row.get(x)})
        if len(points) > 1:
            told.append(f"{title} = {', '.join(f'{point:,g}' for point in points)}")
    order = "; ".join(told)
    return (
        [
            f"Where the evidence lists several figures, they are in the order {order}. A dash means that there is "
            "no such release.\n"
        ]
        if told
        else []
    )


def section_today(experiment: Experiment, one: dict[str, Any], file: Path) -> str:
    """An experiment of no paper: its setting, its figures, a table at the middle point, and how promises differ."""
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    x = experiment.figures[0].x
    points = sorted({float(row[x]) for row in rows})
    middle = points[len(points) // 2]
    lines = begin_section(f"{experiment.title[0].upper()}{experiment.title[1:]}", experiment, one)
    lines += ["", f"At {x} = {middle:g}:", "", f"| method | {' | '.join(COLUMNS.values())} |", "|---" * 7 + "|"]
    at_middle = [row for row in rows if float(row[x]) == middle]
    for series in dict.fromkeys(row["series"] for row in at_middle):
        own = [row for row in at_middle if row["series"] == series]
        lines.append(f"| {_cell(series)} | {' | '.join(mean_of(own, name) for name in COLUMNS)} |")
    lines += ["", *list_infeasible(one)]
    if experiment.differs:
        lines.append(f"{experiment.differs.strip()}\n")
    return "\n".join(lines)


def begin_section(title: str, experiment: Experiment, one: dict[str, Any]) -> list[str]:
    data = f" Data: {one['data']}." if one["data"] else ""
    data += f" [All measurements](reproduction/{experiment.name}.csv)."
    pictures = [f"![{name}](reproduction/{name}.svg)" for name in one["experiment"]]
    return [f"### {title}\n", f"{experiment.setting}{data}\n", *pictures]


def mean_of(rows: Sequence[dict[str, str]], name: str) -> str:
    """The mean of a figure over the repetitions that have it."""
    values = [float(row[name]) for row in rows if row.get(name)]
    return format_figure(fmean(values)) if values else "-"


def list_infeasible(one: dict[str, Any]) -> list[str]:
    if not one["infeasible"]:
        return []
    points = Counter(row["series"] for row in one["infeasible"])
    told = ", ".join(f"{series} ({number})" for series, number in points.items())
    return [f"Points without a release, because the method cannot keep the promise there: {told}.\n"]


def list_open(paper: Paper) -> str:
    rows = [f"| {claim.where} | {_cell(claim.says)} | {_cell(claim.why)} |" for claim in paper.claims]
    return "\n".join(["| where | claim | why it is open |", "|---|---|---|", *rows])


def list_statements(paper: Paper) -> str:
    rows = [f"| {one.where} | {_cell(one.says)} | {_cell(one.because)} |" for one in paper.statements]
    return "\n".join(["| where | statement | why it is not counted |", "|---|---|---|", *rows])


def _title(paper: Paper) -> str:
    return f"{paper.letters}: {paper.title}"


def _heading(experiment: Experiment, one: dict[str, Any]) -> str:
    return f"{', '.join(one['experiment'])}: {experiment.title}"


def _anchor(heading: str) -> str:
    """What a heading is linked by: small letters, numbers and hyphens.

    >>> _anchor("bl-5a, bl-5b: loss and time by beta")
    'bl-5a-bl-5b-loss-and-time-by-beta'
    """
    kept = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    main()
