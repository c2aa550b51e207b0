"""k-anonymity by freeform generalisation (FF): its story, and what no experiment decides.

losses   what its matchings lose
times    how long they take
"""

from __future__ import annotations

from lookalike.apps.papers.claims import Claim, Statement
from lookalike.apps.papers.experiments import Paper
from lookalike.apps.papers.ff.losses import LOSSES, RING_PARTS
from lookalike.apps.papers.ff.times import PARTS, TIMES

PAPER = Paper(
    letters="FF",
    title="k-Anonymization by freeform generalization",
    authors="Katerina Doka, Mingqiang Xue, Dimitrios Tsoumakos, Panagiotis Karras (ASIACCS 2015)",
    claimed="Published rows need not form groups. FF lets each row have its own ranges and asks only that each person "
    "fits k rows, each with the same chance. It claims far smaller losses than groups and rings for the same promise, "
    "up to 41 %, and matchings that come close to the optimum.",
    holds="Freeform loses far less than groups. On tables so small that the optimum can be computed, the Hungarian "
    "matching comes close to it, and it loses about a fifth less than our rings. The proofs hold: every person fits "
    "exactly k rows, each with chance 1/k.",
    fails="The greedy matchings lose about as much as our rings and up to a fifth more than the optimum, so not all "
    "three are clearly better than earlier methods. The text that we have ends before the experiments, so we can only "
    "compare the claim of 41 % with our own figures. Whether freeform is faster is open, because our ring is quicker "
    "than the published one.",
    instead="`freeform` where rows may differ from each other and only identities need protection. `groups` where "
    "recipients want plain groups, or where values need protection too.",
    main={
        "ff-k-census": (
            "Freeform loses significantly less than earlier methods: than groups, made by Mondrian.",
            "Freeform loses significantly less than earlier methods: than rings.",
            "Freeform gains up to 41 % in utility.",
            "Freeform comes close to the least possible loss.",
        ),
        "ff-parts": ("In parts, freeform is faster than earlier, simpler methods.",),
    },
    statements=(
        Statement(
            "1", "The problem is a network flow, and an integer program solves it exactly.",
            "By construction. Test: tests/algorithms/test_freeform.py, on tables of up to 16 rows.",
        ),
        Statement(
            "1, abstract", "The integer program loses no more than any heuristic.", "By construction, if it is solved "
            "to its end.",
        ),
        Statement(
            "2.1, figure 3",
            "The star keeps 2-concealment and not 2-anonymity: some matches have chance 3/4, others 1/4.",
            "A worked example. Test: tests/models/test_worked_examples.py.",
        ),
        Statement(
            "2.1, figure 1",
            "A k-regular graph is enough for k-anonymity.", "Cited; the audit checks it in every release."
        ),
        Statement(
            "2.1",
            "Earlier randomization costs O(k n^2); an earlier agglomerative method generalizes more than it needs.",
            "Cited.",
        ),
        Statement(
            "2.2", "Lemmas 2.1 and 2.2, theorem 2.3: a k-regular graph has k disjoint assignments.",
            "Proofs; the audit takes every release apart.",
        ),
        Statement(
            "2.2", "Each of a person's k matches has chance 1/k, also for someone who knows the method.",
            "By construction of the draw. Drawing from all assignments alike would not do: chances of 5/13 instead of "
            "1/3 occur.",
        ),
        Statement(
            "2.2",
            "Someone who knows c matches faces k - c candidates in symmetric graphs, and possibly fewer in others.",
            "Cited from Choromanski and others.",
        ),
    ),
    claims=(
        Claim(
            "2.2", "All three matchings can be made symmetric.",
            why="The text that we have does not say how. `freeform:reciprocal=yes` makes symmetric graphs by pairing "
            "records up, which is our own method; it refuses the matchers greedy, sorted and hungarian.",
        ),
    ),
)  # fmt: skip

EXPERIMENTS = (LOSSES, RING_PARTS, TIMES, PARTS)
