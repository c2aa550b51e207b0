"""Writes docs/reproduction.md and its figures from what `lookalike reproduce` wrote.

    lookalike reproduce all --data FOLDER --full --out results
    python docs/make_reproduction.py results

Every sentence about a paper or an experiment comes from its class, every verdict and every figure from the results.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from lookalike.apps.papers import EXPERIMENTS, PAPERS, Experiment, Paper, Verdict

HEAD = """# The papers, claim by claim

lookalike starts from five research papers. This page lists every result that they state, tests each on public data and
says how it came out. Nothing is left out because it failed.

| verdict | what it means | claims |
|---|---|---|
{verdicts}

"With limits" means: the claim holds, but on other records than the paper's, or with a method that we had to rebuild;
the reason is given. Intervals of repeated timings that overlap decide nothing: such claims are open. What is true by
construction, proof or arithmetic is listed per paper and not counted. *Our reading* marks tests whose threshold the
paper does not give.

The measurements: {data}. To repeat them:

```sh
lookalike reproduce all --data FOLDER{full} --out results
python docs/make_reproduction.py results
```

`--seed 1` repeats them with other random draws, `lookalike reproduce hg-6a` runs one figure, and a run that was stopped
goes on where it was. Every release was audited before anything was measured, except those of a method that is studied
because it breaks its own promise; the experiment then says so. In the pictures, bars reach from the least to the
greatest of the repetitions ({repetitions} at most); times are CPU seconds of the method alone.
"""
MEANINGS = {
    Verdict.REPRODUCED: "our measurements show it",
    Verdict.LIMITED: "they show it, on other data or with a rebuilt method",
    Verdict.NO_DATA: "they do not show it; the paper's data are not public and may be the reason",
    Verdict.AGAINST: "they show the opposite, for a reason that other data would not change",
    Verdict.OPEN: "they do not decide it",
}


def main() -> None:
    results = Path(sys.argv[1])
    here = Path(__file__).parent
    figures = here / "reproduction"
    shutil.rmtree(figures, ignore_errors=True)
    figures.mkdir()
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*-*.json"))}
    parts = []
    for paper in PAPERS:
        parts.append(introduce(paper, found))
        for experiment in EXPERIMENTS:
            if experiment.paper == paper.letters and experiment.name in found:
                parts.append(section(experiment, found[experiment.name]))
                for name in experiment.names:
                    shutil.copyfile(results / f"{name}.svg", figures / f"{name}.svg")
        if paper.claims:
            parts.append(f"### {paper.letters}: claims that no experiment decides\n\n{list_open(paper)}\n")
        if paper.statements:
            parts.append(f"### {paper.letters}: listed, not counted\n\n{list_statements(paper)}\n")
    counts = Counter(claim["verdict"] for one in found.values() for claim in one["claims"])
    counts[str(Verdict.OPEN)] += sum(len(paper.claims) for paper in PAPERS)
    rows = [f"| {verdict} | {MEANINGS[verdict]} | {counts[str(verdict)]} |" for verdict in Verdict]
    sizes = {one["size"] for one in found.values()}
    head = HEAD.format(
        verdicts="\n".join([*rows, f"| all | | {sum(counts.values())} |"]),
        data="; ".join(dict.fromkeys(part for one in found.values() for part in one["data"].split("; ") if part)),
        full=" --full" if sizes == {"full"} else "",
        repetitions=max(one["repetitions"] for one in found.values()),
    )
    (here / "reproduction.md").write_text("\n".join([head, *parts]).rstrip() + "\n", encoding="utf-8")


def introduce(paper: Paper, found: dict[str, Any]) -> str:
    """A paper's story, and how many of its claims came out how."""
    own = [one for name, one in found.items() if name.partition("-")[0].upper() == paper.letters]
    counts = Counter(claim["verdict"] for one in own for claim in one["claims"])
    counts[str(Verdict.OPEN)] += len(paper.claims)
    told = ", ".join(f"{counts[str(verdict)]} {verdict}" for verdict in Verdict if counts[str(verdict)])
    return (
        f"## {paper.letters}: {paper.title}\n\n*{paper.authors}*\n\n"
        f"**What it claims.** {paper.claimed}\n\n**What holds.** {paper.holds}\n\n**What does not.** {paper.fails}\n\n"
        f"**What to use.** {paper.instead}\n\nClaims: {told}.\n"
    )


def section(experiment: Experiment, one: dict[str, Any]) -> str:
    """An experiment: its setting, claim by claim what was found, and its figures."""
    data = f" Data: {one['data']}." if one["data"] else ""
    lines = [f"### {', '.join(one['experiment'])}: {experiment.title}\n", f"{experiment.setting}{data}\n"]
    lines += [f"![{name}](reproduction/{name}.svg)" for name in one["experiment"]]
    lines += ["", "| where | claim | verdict | evidence |", "|---|---|---|---|"]
    for claim in one["claims"]:
        reading = f" *Our reading: {claim['judged']}*" if claim["judged"] else ""
        told = ". ".join(part.strip().removesuffix(".") for part in (claim["evidence"], claim["reason"]) if part)
        verdict = claim["verdict"] if claim["verdict"] == Verdict.REPRODUCED else f"**{claim['verdict']}**"
        lines.append(f"| {claim['where']} | {_cell(claim['says'] + reading)} | {verdict} | {_cell(told)} |")
    lines.append("")
    if one["infeasible"]:
        points = Counter(row["series"] for row in one["infeasible"])
        told = ", ".join(f"{series} ({number})" for series, number in points.items())
        lines.append(f"Points without a release, because the method cannot keep the promise there: {told}.\n")
    if experiment.differs:
        lines.append(f"What differs from the paper: {experiment.differs.strip()}\n")
    return "\n".join(lines)


def list_open(paper: Paper) -> str:
    rows = [f"| {claim.where} | {_cell(claim.says)} | {_cell(claim.why)} |" for claim in paper.claims]
    return "\n".join(["| where | claim | why it is open |", "|---|---|---|", *rows])


def list_statements(paper: Paper) -> str:
    rows = [f"| {one.where} | {_cell(one.says)} | {_cell(one.because)} |" for one in paper.statements]
    return "\n".join(["| where | statement | why it is not counted |", "|---|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    main()
