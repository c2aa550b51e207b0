"""Draws the two pictures of every model's page: what it allows (NAME.svg) and what it costs (NAME-loss.svg).

    python docs/make_model_pictures.py [NAME ...]

What it allows: a value has some share of a large table, a hundred other values have the rest in equal parts. A group
has more of the value and the others in proportion. How much more may it have? Found by asking the model itself, as the
audit does, and halving the gap between what holds and what does not; so the curves are those of the code.

What it costs: GCP on the bundled hospital table under stricter and stricter promises, by the default method and by
Mondrian. Takes about a minute once the kernels are compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import lookalike as la
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import PrivacyModel
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.schema import Attribute, Kind, Role, ValueType
from lookalike.evaluation import charts
from lookalike.models import parse_model
from lookalike.samples import sample_table

PAGES = Path(__file__).parent / "models"
OTHERS, PARTS = 100, 1_000_000
SHARES = [0.001, 0.002, 0.004, 0.007, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5]
QUASI, SENSITIVE = ["age", "sex", "zip code"], "diagnosis"
METHODS = ("groups", "mondrian")


class Pictures(NamedTuple):
    """What is drawn of a model."""

    allowed: Sequence[str]
    """Promises whose curves are drawn beside each other."""
    letter: str
    """What is swept in the picture of losses."""
    sweep: Sequence[float]
    promise: str
    """With a place for the letter."""
    log: bool = False
    steps: Sequence[float] = ()
    """More shares to look at, where a curve jumps."""


MODELS = {
    "k-anonymity": Pictures(["k-anonymity:10"], "k", [2, 5, 10, 20, 50, 100], "k-anonymity:{}", log=True),
    "k-concealment": Pictures(["k-concealment:10"], "k", [2, 5, 10, 20, 50, 100], "k-concealment:{}", log=True),
    "alpha-k": Pictures(
        ["alpha-k:alpha=0.5,k=5", "alpha-k:alpha=0.2,k=5"],
        "alpha",
        [0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1],
        "alpha-k:alpha={},k=5",
    ),
    "l-diversity": Pictures(
        ["l-diversity:2", "l-diversity:5", "l-diversity:5,kind=entropy", "l-diversity:5,kind=distinct"],
        "l",
        [2, 3, 4, 5, 6, 7],
        "l-diversity:{}",
    ),
    "t-closeness": Pictures(
        ["t-closeness:0.1", "t-closeness:0.2", "t-closeness:0.4"], "t", [0.2, 0.3, 0.4, 0.5, 0.6, 0.7], "t-closeness:{}"
    ),
    "beta-likeness": Pictures(
        ["beta-likeness:1", "beta-likeness:3", "beta-likeness:3,bound=basic"],
        "beta",
        [1, 2, 3, 4, 6, 8],
        "beta-likeness:{}",
    ),
    "delta-disclosure": Pictures(
        ["delta-disclosure:0.7", "delta-disclosure:1.5"], "delta", [1, 2, 3, 4, 5, 6], "delta-disclosure:{}"
    ),
    "f-privacy": Pictures(
        ["f-privacy:theta=2", "f-privacy:theta=8"], "theta", [2, 3, 4, 6, 8, 12, 16], "f-privacy:theta={}"
    ),
    "rho-privacy": Pictures(
        ["rho-privacy:rho1=0.01,rho2=0.1", "rho-privacy:rho1=0.05,rho2=0.5"],
        "rho2",
        [0.1, 0.2, 0.3, 0.5, 0.7, 0.9],
        "rho-privacy:rho1=0.05,rho2={}",
        steps=[0.0101, 0.05, 0.0501],
    ),
}


def largest_belief(model: PrivacyModel, share: float) -> float | None:
    """The most that a model lets a reader believe in a value of that share; None if not even the share itself."""
    count = round(share * PARTS)
    prior = np.array([count * OTHERS, *[PARTS - count] * OTHERS], dtype=np.int64)
    low, high = count, PARTS
    if _holds(model, prior, high):
        return 1.0
    if not _holds(model, prior, low):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _holds(model, prior, middle) else (low, middle)
    return low / PARTS


def _holds(model: PrivacyModel, prior: np.ndarray[Any, Any], belief: int) -> bool:
    """Whether one group keeps the model that has the value in so many of a million parts."""
    weights = np.array([belief * OTHERS, *[PARTS - belief] * OTHERS], dtype=np.int64)
    values = np.flatnonzero(weights).astype(np.int32)
    texts = np.array([f"v{code}" for code in range(OTHERS + 1)], dtype=object)
    attribute = Attribute(name=SENSITIVE, role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
    exposure = Exposure(
        adversary=READS_RELEASE,
        form="grouped",
        column=Domain(attribute, ValueType.STRING, texts, False, 0.0, 0.0, OTHERS + 1, False),
        prior=prior,
        starts=np.array([0, len(values)]),
        values=values,
        weights=weights[values],
        sizes=np.array([weights.sum()]),
    )
    return model.holds(model.level(exposure))


def allowed(name: str) -> charts.Chart:
    """The highest certainty by the value's share."""
    rows = [{"share": share, "belief": share, "promise": "the table's share"} for share in SHARES]
    for text in MODELS[name].allowed:
        model = parse_model(text)
        found = ((share, largest_belief(model, share)) for share in sorted([*SHARES, *MODELS[name].steps]))
        rows += [{"share": share, "belief": belief, "promise": text} for share, belief in found if belief is not None]
    return charts.lines(
        rows,
        "share",
        "belief",
        "promise",
        title="What it allows",
        x_title="share of a value in the whole table",
        y_title="highest certainty in the value",
        log_x=True,
        log_y=True,
    )


def cost(name: str) -> charts.Chart:
    """The loss by the parameter."""
    of = MODELS[name]
    rows = []
    for method in METHODS:
        for number in of.sweep:
            made = la.publish(
                sample_table(),
                qi=QUASI,
                sensitive=SENSITIVE,
                model=of.promise.format(number),
                algorithm=method,
                seed=1,
            )
            rows.append({of.letter: number, "loss": made.losses["gcp"], "method": method})
    return charts.lines(
        rows,
        of.letter,
        "loss",
        "method",
        title="What it costs",
        x_title=of.letter if name != "alpha-k" else "alpha, with k = 5",
        y_title="loss (GCP)",
        log_x=of.log,
    )


def main(names: Sequence[str]) -> None:
    for name in names or list(MODELS):
        charts.write_svg(allowed(name), PAGES / f"{name}.svg")
        charts.write_svg(cost(name), PAGES / f"{name}-loss.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
