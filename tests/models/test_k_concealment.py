from __future__ import annotations

from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.k_concealment import KConcealment
from tests.models.building import identities


def test_rows_that_no_assignment_gives_are_no_lookalikes() -> None:
    exposure = identities([4, 3, 3], concealed=[4, 1, 3])
    assert KConcealment(1).level(exposure).value == 1
    assert KAnonymity(1).level(exposure).value == 1
    assert KConcealment(3).level(identities([4, 3])).value == 3
