"""Writes docs/reproduction.md and its figures from what `lookalike reproduce` wrote.

    lookalike reproduce all --data FOLDER --out results
    python docs/make_reproduction.py results

Every sentence of the page about an experiment comes from the experiment itself, every verdict from the results.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from lookalike.apps.papers import EXPERIMENTS, Experiment

PAPERS = {
    "BL": "BL: beta-likeness (Cao and Karras, PVLDB 2012)",
    "GB": "GB: flexible bucketization",
    "MA": "MA: the minimality attack (Cormode, Srivastava, N. Li and T. Li, PVLDB 2010)",
    "HG": "HG: heterogeneous l-diversity and beta-likeness by bipartite matching",
    "FF": "FF: k-anonymity by freeform generalization",
}
HEAD = """# Reproduction

The experiments of the five papers, run anew: `lookalike reproduce hg-6a --out figures` runs one, `--list` names all,
`--data FOLDER` takes census records from `census*.csv` instead of generated stand-ins, `--full` takes the papers'
sizes. A figure takes seconds to a few minutes in quick size.

This page was made by `lookalike reproduce all --data FOLDER --out results` and
`python docs/make_reproduction.py results`, on a {data}.
For each figure it says what the paper reports, what a reproduction must therefore show, and whether it does. What does
not show stays here as it is. Agreement with a printed number is claimed nowhere, since the papers' own extracts are not
at hand. Every release was audited before anything was measured of it; bars reach from the least to the greatest of the
repetitions, {repetitions} at most; times are CPU seconds of the method alone.

{shown} of {claims} claims show.
"""


def main() -> None:
    results = Path(sys.argv[1])
    here = Path(__file__).parent
    figures = here / "reproduction"
    shutil.rmtree(figures, ignore_errors=True)
    figures.mkdir()
    told = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*.json"))}
    parts = []
    claims = [shown for one in told.values() for shown in one["shows"].values()]
    for paper, title in PAPERS.items():
        parts.append(f"## {title}\n")
        for experiment in EXPERIMENTS:
            if experiment.paper != paper or experiment.name not in told:
                continue
            one = told[experiment.name]
            parts.append(section(experiment, one))
            for name in experiment.names:
                shutil.copyfile(results / f"{name}.svg", figures / f"{name}.svg")
    usual = next(one for one in told.values() if one["data"] != "stand-in" or len(told) == 1)
    head = HEAD.format(
        data=f"{usual['data']} in {usual['size']} size, with stand-ins where a figure says so",
        repetitions=max(one["repetitions"] for one in told.values()),
        shown=sum(claims),
        claims=len(claims),
    )
    (here / "reproduction.md").write_text("\n".join([head, *parts]), encoding="utf-8")


def section(experiment: Experiment, one: dict) -> str:
    """An experiment: its setting, what the paper says, what shows, and its figures."""
    names = ", ".join(one["experiment"])
    lines = [f"### {names}: {experiment.title}\n", f"*{experiment.setting}*\n", f"The paper: {experiment.reports}\n"]
    lines += ["| claim | shows |", "|---|---|"]
    lines += [f"| {claim} | {'yes' if shown else '**no**'} |" for claim, shown in one["shows"].items()]
    lines.append("")
    lines += [f"![{name}](reproduction/{name}.svg)" for name in one["experiment"]]
    lines.append("")
    if experiment.differs:
        lines.append(f"What differs: {experiment.differs.strip()}\n")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
