"""Every method attacked by every attack, on the sample of hospital stays: the table and the picture of docs/attacks.md.

    python docs/studies/attacks.py                        prints the table, writes docs/attacks/attacks.svg
    python docs/studies/attacks.py --rows 1000 --seed 1

Each method publishes the sample under the promise it is for, without a seed of its own being known to the attacker. The
figures of one run vary by a point or two from run to run; intervals are printed with `--full`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from html import escape
from pathlib import Path

from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.attacks.run import Attacks, attack_target
from lookalike.data.contracts import Promise, Target
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from lookalike.samples import hospital

QUASI, SENSITIVE = ("age", "sex", "zip code"), "diagnosis"
USUAL = "l-diversity:5"
PROMISES = {
    "freeform": "k-anonymity:5",
    "sabre": "t-closeness:0.3",
    "tmondrian": "t-closeness:0.3",
    "lmondrian": "beta-likeness:4",
    "dmondrian": "beta-likeness:4",
    "perturbation": "beta-likeness:4",
}
SETTINGS = {"heterogeneous": "heterogeneous", "ring": "ring"}
SHOWN = ("naive-bayes", "learner", "definetti", "corruption", "possible-worlds", "repeated-values", "minimality")
PICTURE = Path(__file__).parent.parent / "attacks" / "attacks.svg"


def attacked(name: str, adversary: str, rows: int, seed: int) -> tuple[str, str, Attacks]:
    """The method as it was set, its promise, and what came of the attacks."""
    table = hospital(rows)
    data = Microdata.encode(table, Schema.of(qi=QUASI, sensitive=[SENSITIVE]))
    method = parse_algorithm(SETTINGS.get(name, name)).facing(adversary)
    promise = PROMISES.get(name, USUAL)
    promises = settle([Promise(parse_model(promise))], data)
    release, linkage = method.anonymize(data, require(promises, data), Randomness(seed), silent)
    target = Target(release=release, original=data, promises=promises, algorithm=method)
    return str(method), promise, attack_target(target, [], Randomness(seed))


def shares(found: Attacks) -> dict[str, tuple[float, tuple[float, float], float, bool | None]]:
    """For each attack the share of right guesses, its interval, the best honest share, and whether it succeeds."""
    best: dict[str, tuple[float, tuple[float, float], float, bool | None]] = {}
    for one in found.made:
        score = one.finding.score
        if score is None:
            continue
        name = one.finding.attack.partition(":")[0]
        honest = max(one.finding.baselines.values(), default=0.0)
        if name not in best or score.share > best[name][0]:
            best[name] = (score.share, score.interval, honest, one.finding.succeeds)
    return best


def print_table(lines: Sequence[tuple[str, str, Attacks]], *, full: bool) -> None:
    print(f"| method | promise | honest | {' | '.join(SHOWN)} |\n|{'---|' * (len(SHOWN) + 3)}")
    for method, promise, found in lines:
        by_attack = shares(found)
        honest = max((by_attack[name][2] for name in SHOWN if name in by_attack), default=0.0)
        cells = []
        for name in SHOWN:
            if name not in by_attack:
                cells.append("")
                continue
            share, (low, high), _, succeeds = by_attack[name]
            figure = f"{100 * share:.1f}" + (f" ({100 * low:.1f} to {100 * high:.1f})" if full else "")
            cells.append(f"**{figure}**" if succeeds else figure)
        print(f"| {method} | {promise} | {100 * honest:.1f} | {' | '.join(cells)} |")


def picture(lines: Sequence[tuple[str, str, Attacks]]) -> str:
    """A row a method: a grey bar for honest guessing, a dot an attack, filled where it succeeds."""
    colours = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000")
    left, top, row, width = 250, 70, 26, 560
    figures = [shares(found) for _, _, found in lines]
    most = max((by[name][0] for by in figures for name in SHOWN if name in by), default=0.1)
    scale = width / (1.1 * max(most, 0.1))
    height = top + row * len(lines) + 46
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 40} {height}" role="img" '
        'font-family="sans-serif" font-size="13">',
        "<title>Right guesses of each attack on each method, in per cent</title>",
        f'<rect width="{left + width + 40}" height="{height}" fill="white"/>',
    ]
    for place, name in enumerate(SHOWN):
        x, y = 20 + (place % 4) * 205, 22 + (place // 4) * 22
        drawn.append(f'<circle cx="{x}" cy="{y - 4}" r="5" fill="{colours[place]}"/>')
        drawn.append(f'<text x="{x + 12}" y="{y}">{escape(name)}</text>')
    tick = 0.0
    while tick * scale <= width:
        x = left + tick * scale
        drawn.append(f'<line x1="{x:.1f}" y1="{top - 8}" x2="{x:.1f}" y2="{height - 36}" stroke="#ddd"/>')
        drawn.append(f'<text x="{x:.1f}" y="{height - 20}" text-anchor="middle" fill="#555">{100 * tick:.0f} %</text>')
        tick += 0.1
    for number, (method, _, _) in enumerate(lines):
        y = top + row * number + row / 2
        by_attack = figures[number]
        honest = max((by_attack[name][2] for name in SHOWN if name in by_attack), default=0.0)
        drawn.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(method)}</text>')
        drawn.append(f'<rect x="{left}" y="{y - 7}" width="{honest * scale:.1f}" height="14" fill="#ccc"/>')
        for place, name in enumerate(SHOWN):
            if name in by_attack:
                share, _, _, succeeds = by_attack[name]
                fill = colours[place] if succeeds else "white"
                x = left + share * scale
                drawn.append(
                    f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{fill}" stroke="{colours[place]}" stroke-width="2"/>'
                )
    drawn.append(f'<text x="{left + width / 2}" y="{height - 4}" text-anchor="middle">people guessed right</text>')
    return "\n".join([*drawn, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--full", action="store_true", help="with intervals")
    parser.add_argument("--picture", type=Path, default=PICTURE)
    options = parser.parse_args()
    lines = []
    for name in ALGORITHMS:
        seen = set()
        for adversary in ("reads-release", "knows-method"):
            method = str(parse_algorithm(name).facing(adversary))
            if method not in seen:
                seen.add(method)
                lines.append(attacked(name, adversary, options.rows, options.seed))
    print_table(lines, full=options.full)
    options.picture.write_text(picture(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
