"""How an audit reads: plain data, text, HTML."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from lookalike.audit import Audit, Check, Verdict, verify
from lookalike.audit.verdicts import format_number
from lookalike.data.contracts import Promise
from lookalike.errors import RecipeError, SchemaError
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from tests.audit.making import grouped, number_table


def an_audit(**changes):
    parts = {
        "form": "grouped",
        "adversary": "reads-release",
        "level": "group",
        "checks": (Check("number of rows", True, "3 rows"),),
        "verdicts": (Verdict("a promise", "beta<3>", "s<b>", "beta", Fraction(1, 8), Fraction(1, 3), True),),
        "measured": (),
        "n_records": 3,
        "n_rows": 3,
        "n_suppressed": 0,
        "n_dummies": 0,
    }
    return Audit(**{**parts, **changes})


def test_plain_numbers_are_exact():
    plain = json.loads(json.dumps(an_audit().to_plain()))
    verdict = plain["verdicts"][0]
    assert verdict["asked"] == "0.125"
    assert "asked_exact" not in verdict
    assert verdict["reached"].startswith("0.3333333")
    assert verdict["reached_exact"] == "1/3"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(-5, 4), "-1.25"),
        (Fraction(0), "0"),
        (Fraction(10), "10"),
        (Fraction(2, 7), "0.285714"),
        (float("inf"), "inf"),
        (float("nan"), "-"),
    ],
)
def test_numbers_for_people(number, text):
    assert format_number(number) == text


def test_html_is_escaped():
    text = an_audit()._repr_html_()
    assert "s<b>" not in text
    assert "s&lt;b&gt;: beta&lt;3&gt;" in text


def test_text_names_checks_and_promises():
    text = str(an_audit(checks=(Check("number of rows", False, "2 rows for 3 records"),)))
    assert "FAILED" in text
    assert "2 rows for 3 records" in text
    assert "0.333333" in text


def test_a_check_that_was_not_run_is_no_pass():
    unrun = Check.not_run("level B", "too large", decides=False)
    assert not unrun.passed
    assert an_audit(checks=(unrun,)).passed
    assert not an_audit(checks=(Check.not_run("a row for every record", "too large", decides=True),)).passed


def test_wrong_questions_are_refused():
    data = number_table([[0], [0]], [0, 1])
    release = grouped(data, [0, 0], [1, 0])
    with pytest.raises(RecipeError, match="sensitive column"):
        verify(data, release, [Promise(LDiversity(2))])
    with pytest.raises(SchemaError, match='"t"'):
        verify(data, release, [Promise(LDiversity(2), "t")])
    with pytest.raises(RecipeError, match="adversary"):
        verify(data, release, [], adversary="nobody")


def test_a_model_that_says_nothing_about_a_form_is_not_passed():
    from tests.audit.making import mixing_matrix, perturbed

    rng = np.random.default_rng(0)
    data = number_table(rng.integers(0, 9, (60, 2)), rng.integers(0, 3, 60))
    release = perturbed(rng, data, [mixing_matrix(3, 4, 6)], rng.permutation(60))
    verdict = verify(data, release, [Promise(KAnonymity(1))]).verdicts[0]
    assert verdict.passed is False
    assert verdict.reached is None
    assert verdict.detail


def test_progress_is_told():
    data = number_table([[0], [0]], [0, 1])
    told = []
    verify(
        data,
        grouped(data, [0, 0], [1, 0]),
        [Promise(BetaLikeness(1), "s")],
        progress=lambda step, share, note="": told.append((step, share)),
    )
    assert [step for step, _ in told] == ["audit"] * len(told)
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_package_loads_neither_numba_nor_scipy():
    import subprocess
    import sys

    code = "import sys, lookalike.audit; print(*sorted({'numba', 'scipy', 'polars'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""
