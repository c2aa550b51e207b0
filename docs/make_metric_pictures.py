"""Draws the picture of every metric's page (docs/metrics/NAME.svg): the metric under a stricter and stricter promise.

    python docs/make_metric_pictures.py

The bundled hospital table under k-anonymity, in groups (Mondrian) and in buckets (two-size), k from 2 to 100; perturbed
values by beta. All pictures come from the same releases, so that they can be compared. Takes about a minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import lookalike as la
from lookalike.evaluation import charts
from lookalike.metrics.query_error import RangeWorkload, draw_queries, query_error
from lookalike.samples import sample_table

PAGES = Path(__file__).parent / "metrics"
QUASI, SENSITIVE = ["age", "sex", "zip code"], "diagnosis"
SIZES = (2, 5, 10, 20, 50, 100)
BETAS = (1, 2, 3, 4, 6, 8)
FORMS = {"groups": "mondrian", "buckets": "two-size"}
N_QUERIES = 1000
WORDS = {
    "gcp": "loss",
    "ail": "loss",
    "discernibility": "sum of squared group sizes",
    "average_group_size": "records a group",
    "msbs": "mean squared bucket size",
    "marginal_distance": "distance of single columns",
    "pair_distance": "distance of pairs of columns",
    "correlation_difference": "largest change of a correlation",
    "propensity_pmse": "pMSE",
    "propensity_ratio": "pMSE over that of chance",
    "accuracy_loss": "predictions lost",
    "query_error": "median relative error",
}
SHARED = {"gcp": ("gcp", "ail"), "ail": ("gcp", "ail")}
"""Pages whose picture shows two metrics, of groups."""


def published(model: str, algorithm: str) -> la.Publication:
    return la.publish(sample_table(), qi=QUASI, sensitive=SENSITIVE, model=model, algorithm=algorithm, seed=1)


def measured(made: la.Publication) -> dict[str, float]:
    """Every metric of a release."""
    from lookalike.metrics import FIDELITY

    original = made.made.data
    found = {name: metric().measure(original, made.release) for name, metric in FIDELITY.items()}
    asked = draw_queries(RangeWorkload(columns=2, selectivity=0.1), original, N_QUERIES, np.random.default_rng(1))
    return {**made.losses, **found, "query_error": query_error(asked, made.release).median}


def rows() -> Iterator[dict[str, Any]]:
    for form, algorithm in FORMS.items():
        for size in SIZES:
            yield {"k": size, "form": form, **measured(published(f"k-anonymity:{size}", algorithm))}


def main() -> None:
    found = list(rows())
    for name, words in WORDS.items():
        pairs = [
            {"k": row["k"], "value": row[metric], "series": metric if name in SHARED else row["form"]}
            for metric in SHARED.get(name, (name,))
            for row in found
            if row["form"] == "groups" or name not in SHARED
        ]
        chart = charts.lines(
            pairs, "k", "value", "series", title=name, x_title="k of k-anonymity", y_title=words, log_x=True
        )
        charts.write_svg(chart, PAGES / f"{name}.svg")
    changed = [
        {"beta": beta, "value": published(f"beta-likeness:{beta}", "perturbation").losses["values_changed"]}
        for beta in BETAS
    ]
    chart = charts.lines(
        changed, "beta", "value", title="values_changed", x_title="beta of beta-likeness", y_title="share changed"
    )
    charts.write_svg(chart, PAGES / "values_changed.svg")


if __name__ == "__main__":
    main()
