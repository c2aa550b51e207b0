"""Heterogeneous l-diversity and beta-likeness by bipartite matching (HG): its story, and all its experiments.

methods                  the methods, the tables and the parameters
published_heterogeneous  the method as printed, for study
plain_curve              BuReL on a curve of another scale
privacy, worlds          what releases give away, exactly for tiny tables
diversity, scaling       losses and times under l-diversity
likeness                 losses and times under beta-likeness
queries, learning        errors of count queries, naive Bayes
synthetic                PrivBayes, which these are compared with
readings, advantages     tests that only this paper's claims need
"""

from __future__ import annotations

from lookalike.apps.papers.claims import Claim, Statement
from lookalike.apps.papers.experiments import Paper
from lookalike.apps.papers.hg import diversity, learning, likeness, privacy, queries, scaling

_CONSTRUCTION, _ARITHMETIC, _PROOF, _CITED = "by construction", "arithmetic", "proof", "cited from other work"

EXPERIMENTS = (
    *privacy.EXPERIMENTS,
    *diversity.EXPERIMENTS,
    *scaling.EXPERIMENTS,
    *likeness.EXPERIMENTS,
    *queries.EXPERIMENTS,
    *learning.EXPERIMENTS,
)

PAPER = Paper(
    letters="HG",
    title="Heterogeneous l-diversity and beta-likeness by bipartite matching",
    authors="The text that we have has neither title nor authors; this title is ours. The authors published their "
    "program and their tables.",
    claimed="Every published row gets its own ranges instead of one set of ranges per group. That keeps more detail, "
    "for l-diversity and for beta-likeness. A random matching assigns the values, so that even an attacker who knows "
    "the method learns no more than promised. The paper compares the method with an older one (NH), with BuReL and "
    "with PrivBayes.",
    holds="Under beta-likeness HG loses less than BuReL on every table, for every beta and at every skew. On Zipf 0.5 "
    "it loses 27 to 60 % less, depending on how buckets are filled and on BuReL's curve (printed: 33 %). Its gain over "
    "our NH grows with l and with skew. Matching in parts saves time and costs some detail. Naive Bayes learns nothing "
    "beyond the most frequent value.",
    fails="The random matching breaks the promise: one value can be in several of a person's rows, and an attacker "
    "several times as sure as promised. Theorems 3 and 7 fail. For small l NH loses less. Counts "
    "as printed are off by 200 to 400 %, several times as far as with PrivBayes. On the authors' own "
    "releases BuReL answers better at every beta, in a hundredth of the time.",
    instead="`groups`, or `heterogeneous`, which exchanges whole columns instead of mixing them and so keeps the "
    "promise against an attacker who knows the method.",
    main={
        "hg-theorem3": ("In a release with l-diversity nobody can be more than 1/l sure of a value.",),
        "hg-theorem7": ("A release with beta-likeness keeps beta.",),
        "hg-bayes-l": ("An attacker who knows the algorithm and its parameters gains nothing.",),
        "hg-2a": (
            "On CENSUS all three methods lose less than NH.",
            "NH loses up to 3.5 times as much as HG at l = 10 on CENSUS and Zipf.",
        ),
        "hg-4a": ("The time that the methods take on top is small.",),
        "hg-6a": ("On CENSUS HG loses less than BuReL for every beta.",),
        "hg-abstract": ("The methods have up to 77 % more utility than others.",),
        "hg-8a": (
            "On CENSUS the error of the three methods is below BuReL's at every beta.",
            "On CENSUS the error of the three methods is below PrivBayes's at every beta.",
        ),
        "hg-11a": ("The three methods resist the classifier better than PrivBayes.",),
    },
    statements=(
        Statement(
            "1",
            "15 attributes identify 99.98 % of people, differential privacy fails with correlated records, the "
            "geometric mechanism is optimal for single counts only, and l-diversity lets an attacker's certainty grow "
            "without limit.",
            _CITED,
        ),
        Statement("1", "Epsilon 19.61 allows a factor of about 328 million.", f"{_ARITHMETIC}: e^19.61 = 3.28e8"),
        Statement(
            "1, table 1",
            "Each of 8 records fits three published rows, and each row fits three records.",
            "worked example; tests/algorithms/test_freeform.py has it",
        ),
        Statement(
            "1 and 2",
            "Groups are a special case, so ranges per row can only be as good or better at the optimum.",
            f"{_CONSTRUCTION}; the methods are not optimal, so it says nothing about them",
        ),
        Statement("2, lemmas 1 and 2, theorem 1", "An l-regular graph has l disjoint assignments.", _PROOF),
        Statement(
            "2 and 3.5",
            "If one of l disjoint assignments is drawn at random, each of a record's rows is its own with the same "
            "chance.",
            f"{_PROOF}: each match is in exactly one of them. It says nothing about values, which several rows can "
            "share, or about which tables could have led to the release (hg-theorem3, hg-bayes-l)",
        ),
        Statement(
            "3, tables 3 to 6",
            "Matching round by round can end in a dead end (6 and 15 records); the buckets of the 15 records.",
            "checked: test_dead_ends_of_matching_round_by_round, test_the_buckets_of_the_15_records",
        ),
        Statement(
            "3.4, theorem 2",
            "Inside the buckets a matching without a repeated value always exists.",
            f"{_PROOF}; test_published_slots_hold_different_values. Greedy matchers alone get stuck and need a repair "
            "that the paper does not mention",
        ),
        Statement(
            "4.1 and 4.2",
            "The strict condition is enough; 0-likeness needs pure buckets; corollary 1.",
            f"{_PROOF}; enough only if columns are exchanged as a whole (hg-theorem7)",
        ),
        Statement("4.3", "Finding the best buckets is NP-hard; buckets of 1 lose all, one bucket nothing.", _PROOF),
        Statement(
            "4.4, tables 7 to 9",
            "For 25 records the least beta is 0.71, 0.66 and 0.71 with buckets of 4, 5 and 6.",
            f"{_ARITHMETIC}; test_the_25_records, which also shows that larger buckets do not always mean a larger "
            "beta. 0.667 is cut to 0.66; table 7 does not follow algorithm 3's order",
        ),
        Statement("3.1, 3.2, 4.5 and 5", "Costs from O(n + m log m) to O(n^3).", "analysis of the algorithms"),
        Statement("5", "HG minimizes the loss of each round, not over all rounds.", _CONSTRUCTION),
        Statement("5 and 5.2", "Epsilon = ln(1 + beta) gives the same factor; 1.386 for beta 3.", _ARITHMETIC),
        Statement(
            "6",
            "Beta-likeness bounds how likely a quasi-identifier is given a value.",
            "follows from beta-likeness, which the releases do not keep (hg-theorem7)",
        ),
        Statement(
            "6",
            "Beta-likeness curbs the deFinetti attack; noise hardly stops a learner; Pufferfish needs all "
            "distributions; nothing resists all correlations; publishing several times allows composition attacks.",
            _CITED,
        ),
        Statement("5.1", "NH's merging does not run in parallel; the threshold costs extra distances.", _CONSTRUCTION),
        Statement(
            "algorithms 1 to 3",
            "The printed loops never empty a list, run past the end and leave out the last bucket.",
            "slips of the paper, listed in docs/errata.md; not claims",
        ),
    ),
    claims=(
        Claim(
            where="5",
            says="The versions with a threshold (tau) are open to the minimality attack.",
            why="The paper does not print the formula of the threshold, so nobody can weigh what an attacker who knows "
            "it would conclude.",
        ),
    ),
)
