"""The table of a comparison: which columns it has, and how the loss of each form is written."""

from __future__ import annotations

import csv
import io

import pytest

from lookalike.data.contracts import ORIGINAL
from lookalike.data.release import FORMS
from lookalike.evaluation.compare import Comparison, Run
from lookalike.evaluation.compare.frontier import loss_axes, risk_axes
from lookalike.metrics import METRICS, QUERIES
from lookalike.metrics.average_group_size import AverageGroupSize
from lookalike.models import MODELS
from lookalike.models.t_closeness import TCloseness

FIGURES = {"gcp": 0.25, "msbs": 3.2, "values_changed": 0.891, "query_error": 0.1, "k": 5.0, "beta": 2.0, "seconds": 0.0}
USUAL = "promise algorithm against form result loss queries k beta certainty attack honest seconds"


def compared(x: str = "gcp", y: str = "beta", form: str = "grouped", **figures: float) -> Comparison:
    known = {"promise": "p", "algorithm": "a", "adversary": "reads-release"}
    done = Run(**known, status="done", form=form, figures={**FIGURES, **figures})  # type: ignore[arg-type]
    runs = (done, Run(**known, status="unfit"))
    return Comparison(runs=runs, made=frozenset(), reused=frozenset(), x=x, y=y, sensitive=(), notes=())


def shown(found: Comparison) -> dict[str, str]:
    done, unfit = found.rows()
    assert len(done) == len(unfit) == len(found.headings())
    return dict(zip(found.headings(), done, strict=True))


def test_the_usual_columns() -> None:
    assert list(shown(compared())) == ["", *USUAL.split()]


def test_a_level_that_is_infinite_is_shown_if_it_is_an_axis() -> None:
    assert "delta" not in shown(compared(delta=float("inf")))
    assert shown(compared(y="delta", delta=float("inf")))["delta"] == "infinite"


@pytest.mark.parametrize("x", loss_axes())
@pytest.mark.parametrize("y", risk_axes())
def test_both_axes_are_among_the_columns(x: str, y: str) -> None:
    across, upwards = loss_axes()[x], risk_axes()[y]
    form = next(iter(sorted(across.forms or FORMS)))
    row = shown(compared(x, y, form, **{across.figure: 0.5, upwards.figure: 0.75}))
    named = FORMS[form].headline[0] == across.figure
    assert row["loss" if named else across.share or x].strip("GCP MSB%changed") in ("0.5", "0.5000", "50", "50.0")
    assert row[upwards.share or y] in ("0.75", "75.0 %")


def test_axes_of_guests_are_among_the_columns(registries: None) -> None:
    METRICS["biggest_group"] = type("BiggestGroup", (AverageGroupSize,), {"name": "biggest_group", "axis": ""})
    MODELS["top-share"] = type("TopShare", (TCloseness,), {"name": "top-share", "letter": "top_share"})
    row = shown(compared("biggest-group", "top-share", biggest_group=373.0, top_share=0.5))
    assert list(row)[7:10] == ["biggest-group", "queries", "k"]
    assert (row["biggest-group"], row["top-share"]) == ("373", "0.5")


@pytest.mark.parametrize(
    ("form", "text"),
    [("grouped", "GCP 0.2500"), ("matched", "GCP 0.2500"), ("bucketized", "MSBS 3.2"), ("perturbed", "89 % changed")],
)
def test_the_loss_of_every_form(form: str, text: str) -> None:
    assert shown(compared(form=form))["loss"] == text
    assert shown(compared(form=form, suppressed=1200.0))["loss"] == f"{text}, 1,200 suppressed"


def test_the_csv_has_every_metric_and_level_whatever_the_runs_have() -> None:
    header = next(csv.reader(io.StringIO(compared(surprise=1.0).to_csv())))
    levels = ["k", "l_distinct", "l", "l_entropy", "t", "beta", "delta", "largest_belief", "attack"]
    measured = [*METRICS, *QUERIES, "query_coverage", *levels, "suppressed", "seconds", "peak_mb", "surprise"]
    known = ["promise", "algorithm", "adversary", "form", "status", "frontier"]
    assert header == [*known, *measured, "honest", "nearest", "reason"]


def test_the_error_of_queries_is_a_loss_like_the_others() -> None:
    assert [kind.needs for kind in QUERIES.values()] == [ORIGINAL]
    assert loss_axes()["query-error"].title == "median error of count queries"
