"""What an attacker who knows the published draw can conclude, and one who knows ours."""

from __future__ import annotations

from fractions import Fraction

from lookalike.apps.papers.hg.worlds import Tiny, worst_gain


def test_the_attacker_who_knows_the_method_learns_from_the_published_draw_alone() -> None:
    points = [0, 1, 3, 7, 8, 20]
    diverse = Tiny("aabbcc", ("aa", "bb", "cc"), Fraction(0))
    assert worst_gain(diverse, points, aligned=False).worst == 2
    aligned = worst_gain(diverse, points, aligned=True)
    assert aligned.worst == aligned.above == 0
    like = Tiny("aaabbc", ("aa", "ab", "bc"), Fraction(1))
    assert worst_gain(like, points, aligned=False).worst > 1
    assert worst_gain(like, points, aligned=True).worst == 1
