"""Generalised bucketization for flexible privacy settings (GB): its story, and what no experiment decides.

tables   its two tables and its ceilings
losses   figures 3 and 4
errors   figure 5
times    figures 6 and 7
search   the number of settings, and two rules of the search
"""

from __future__ import annotations

from lookalike.apps.papers.claims import Claim, Statement
from lookalike.apps.papers.experiments import Paper
from lookalike.apps.papers.gb.errors import ERRORS
from lookalike.apps.papers.gb.losses import LOSSES, NEEDS
from lookalike.apps.papers.gb.search import COUNT, RULES
from lookalike.apps.papers.gb.times import ROW_TIMES, VALUE_TIMES

_SIZES = "tests/algorithms/shared/test_bucket_sizes.py"

PAPER = Paper(
    letters="GB",
    title="Generalized bucketization scheme for flexible privacy settings",
    authors="Ke Wang, Peng Wang, Ada Waichee Fu, Raymond Chi-Wing Wong (Information Sciences, 2016)",
    claimed="One limit for all sensitive values often cannot be kept: rare values need a low one, and frequent values "
    "exceed it. GB gives each value its own ceiling and puts records into buckets of different sizes. Quick searches "
    "are said to find sizes that lose far less than the equal buckets of Anatomy, and hardly more than the best "
    "possible.",
    holds="In almost all of the paper's settings one limit for all values cannot be kept; our table is nearly the "
    "paper's own. Buckets of two or more sizes lose less than Anatomy's would in every setting. The pruned search "
    "takes milliseconds, even for half a million records, and count queries are answered with small errors.",
    fails="The gain over Anatomy is not large in every setting, and the quick searches do not stay close to the "
    "optimum: at some settings they lose far more. Two printed steps are wrong: the rule that picks the first "
    "candidate, and the one that moves records. With a current solver the integer program does not take exponential "
    "time.",
    instead="`optimal-buckets` for up to some dozens of sensitive values: it loses least, and takes seconds. "
    "`multi-size` beyond that. Both use the corrected search.",
    main={
        "gb-3-occ": ("One setting for all values often cannot be kept.",),
        "gb-4-occ": (
            "Anatomy's MSBS is higher than that of the other methods at every theta.",
            "TwoSize loses only slightly more than MultiSize.",
            "MultiSize loses only slightly more than Optimal.",
        ),
        "gb-5-occ": ("Most errors of counts are below 10 %.", "MSBS is a good guide to the errors of counts."),
        "gb-6-occ": ("Full-pruning's time does not depend on the number of records.",),
        "gb-7-occ": ("Optimal's time grows exponentially with the number of values.",),
        "gb-rule": ("The search for two sizes finds the best setting on the paper's own tables.",),
    },
    statements=(
        Statement(
            "3.3, 7.1", "Ceilings can be kept exactly if each is at least its value's share, so at every theta.",
            "Lemma 1; theta times the share plus 0.02 is above the share.",
        ),
        Statement(
            "3.1, 4.1, 5.1", "Examples 2 and 3, table 4, lemma 2 and theorem 1.",
            f"Worked examples and proofs. Tests: {_SIZES}.",
        ),
        Statement(
            "3.2",
            "Counts on public columns alone are exact.", "By construction: buckets leave those columns as they are."
        ),
        Statement(
            "3.2", "MSBS lies between 0 and the number of records less 1, and losses of parts add up.",
            "Arithmetic. Test: tests/metrics/test_msbs.py.",
        ),
        Statement(
            "3.1, 3.3", "Anatomy's buckets have l or l + 1 records.",
            "By construction, while there are as many buckets as records left over. Sections 3.2 and 7.2 print l or "
            "l - 1, which is a slip.",
        ),
        Statement(
            "7.2.1, figure 4", "Optimal loses at most what MultiSize does, and that at most what TwoSize does.",
            "By construction: each starts from the setting of the one before. Test: "
            "tests/algorithms/test_optimal_buckets.py.",
        ),
        Statement(
            "6.1", "The integer program finds the least loss.",
            "By construction, if it is solved to its end. The printed bound u_ij is called a constant; it depends on "
            "the number of buckets.",
        ),
        Statement(
            "7.2", "Anatomy cannot be asked for counts where l-diversity cannot be kept.", "It follows from figure 3."
        ),
        Statement(
            "5.1 to 5.3", "Lemmas 3 to 7 and corollary 2: candidates are ordered by loss, and their conditions are "
            "monotone.",
            "Proofs, and right. The step from them to the left-most candidate is not: see gb-rule.",
        ),
        Statement("4.3, 5.4", "Corollary 1 and theorem 2: the complexities.", "Analysis."),
        Statement(
            "1, 2, 8", "Buckets need no taxonomy, and standard mining applies to them.", "A property of the form."
        ),
        Statement(
            "1.1", "Ratios of noisy counts approach the true ratio as a table grows.", "Cited; about another approach."
        ),
    ),
    claims=(
        Claim(
            "2", "Buckets of different sizes resist the deFinetti attack better, as more sensitive values are in "
            "larger ones.",
            why="The paper has no experiment. A comparison needs a setting that both methods can keep. The only "
            "printed one is OCC at theta = 32, and there our records allow no Anatomy.",
        ),
    ),
)  # fmt: skip

EXPERIMENTS = (NEEDS, LOSSES, ERRORS, ROW_TIMES, VALUE_TIMES, COUNT, RULES)
