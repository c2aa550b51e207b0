"""Beta-likeness, BUREL and perturbation (BL): the paper's story, what it states without measuring, and its experiments.

methods             methods, tables, and what is said about both
narrowest_mondrian  a Mondrian that cuts its narrowest attribute, held against BUREL
closeness           figure 4: held against t-closeness
losses              figures 5 to 7: information loss and time
doubts              whether the paper's own records could turn two verdicts on losses
queries             figures 8 and 9: errors of count queries
attacks             section 7: the table of t and l, Naive Bayes, deFinetti
guarantees          similar values, an attacker who knows BUREL, theorem 3
"""

from __future__ import annotations

from lookalike.apps.papers.bl import attacks, closeness, doubts, guarantees, losses, queries
from lookalike.apps.papers.claims import Statement
from lookalike.apps.papers.experiments import Paper

_EXAMPLES = "tests/models/test_worked_examples.py"
PAPER = Paper(
    letters="BL",
    title="Publishing microdata with a robust privacy guarantee",
    authors="Jianneng Cao and Panagiotis Karras, PVLDB 5, 2012",
    claimed="Beta-likeness limits how much more certain a reader may become about each single value, where "
    "t-closeness limits an average distance. The paper says that its method BUREL loses about half as much "
    "information as cuts in the way of Mondrian, takes half the time and answers queries better, and that perturbing "
    "values beats publishing only the table's shares.",
    holds="The model does what it promises: at the same t, methods for t-closeness let the certainty about some "
    "values grow many times more. DMondrian hardly cuts the table at all. BUREL loses less as beta grows if it splits "
    "groups further, as the authors' program does. Perturbation answers queries better than the plain shares in all "
    "four figures.",
    fails="LMondrian as described loses far less than BUREL from beta 2 on; which is faster is open. As printed, "
    "without the split that only the authors' program has, BUREL's loss goes up and down with beta. An attacker who "
    "knows BUREL can become certain of a value. The printed perturbation breaks its promise where one value is "
    "frequent. A group of similar values can make a kind of disease certain.",
    instead="For tables of generalised rows, `groups` with beta-likeness. For exact quasi-identifiers, "
    "`perturbation`, whose matrix is corrected here.",
    main={
        "bl-4a": (
            "At the t of BUREL's release, BUREL reaches a smaller beta than SABRE.",
            "At the t of BUREL's release, BUREL reaches a smaller beta than tMondrian.",
        ),
        "bl-5a": (
            "The loss of BUREL as the paper prints it, without the further split, falls as beta grows.",
            "BUREL loses less information than LMondrian.",
            "BUREL loses less information than DMondrian.",
            "BUREL takes about half the time of both Mondrians.",
        ),
        "bl-8b": ("BUREL answers queries better than LMondrian.", "BUREL answers queries better than DMondrian."),
        "bl-9b": ("Perturbation answers queries better than Baseline.",),
        "bl-nb": ("The success of Naive Bayes stays remarkably close to the share of the most frequent value.",),
        "bl-minimality": ("BUREL is immune to an attacker who knows the method (minimality attack).",),
        "bl-theorem3": ("The printed perturbation always keeps beta-likeness.",),
    },
    statements=(
        Statement(
            "2",
            "Two groups with the same earth mover's distance of 0.1 raise a certainty by 25 % in one case and by 1000 "
            "% in the other.",
            f"Arithmetic ({_EXAMPLES}).",
        ),
        Statement(
            "2",
            "The divergences of Kullback and Leibler (0.0290, 0.0133) and of Jensen and Shannon (0.0073, 0.0038) rank "
            "these two cases the wrong way round.",
            f"Arithmetic, in bits, from the table to the group ({_EXAMPLES}).",
        ),
        Statement(
            "2",
            "An absolute bound treats growth from 60 to 80 % like growth from 1 to 21 %: 33 % against 2000 % of "
            "itself.",
            "Arithmetic.",
        ),
        Statement("2", "10-diversity allows a hundredfold gain for a value of 0.1 %.", "Arithmetic: 10 % over 0.1 %."),
        Statement(
            "3, lemma 1",
            "The gain of a union of groups is at most the larger gain of its parts; the enhanced bound has four "
            "properties.",
            f"Proof; property tests in tests/models/test_beta_likeness.py and {_EXAMPLES}.",
        ),
        Statement(
            "3",
            "Delta-disclosure asks for every value in every group and may allow certainty, beta-likeness the reverse.",
            f"By definition; printed with 'former' and 'latter' exchanged ({_EXAMPLES}).",
        ),
        Statement(
            "4.2 to 4.4",
            "Examples 1 and 2, theorem 1 and lemma 2: buckets, tree and leaves.",
            "Proof and arithmetic (tests/algorithms/test_burel.py); the printed rounding must round down.",
        ),
        Statement(
            "4.4",
            "A bucket whose size is a prime other than 2 forces one group of the whole table if groups are strictly "
            "proportional.",
            "Wrong as printed, by arithmetic: buckets of 3, 3 and 3 records make three groups.",
        ),
        Statement("4.3, 4.5", "Cost of finding buckets and of retrieval.", "Analysis of the algorithm."),
        Statement(
            "5",
            "A value of one record needs, for beta = 1, a group of half the table.",
            "Arithmetic: 2 / n over 1 / s.",
        ),
        Statement(
            "5, theorem 2 and lemma 3",
            "A condition that is sufficient for the bound, and a value is likeliest to be kept.",
            "Proof, for probabilities to keep a value above 0; theorem 3 does not ensure these, and is tested.",
        ),
        Statement("5", "Uniform perturbation maximizes utility.", "Cited."),
        Statement(
            "1, 5, 6.3, 7",
            "Perturbation keeps quasi-identifiers, redraws each record by itself, resists corruption attacks and "
            "handles outliers better.",
            "By construction: no quasi-identifier is generalised and draws are independent "
            "(tests/algorithms/test_perturbation.py). The paper measures nothing about outliers.",
        ),
        Statement(
            "6",
            "beta = 1 allows at most 9.7 % of a group; beta = 4 allows 5 p up to a share of 1.8 %, and no class above "
            "20 %.",
            "Arithmetic from the largest share, 4.8402 %: 9.68 % and 19.5 %.",
        ),
        Statement(
            "6.2", "DMondrian's delta makes its releases keep beta-likeness.", "Theorem; every release here is audited."
        ),
        Statement(
            "6.2, figure 7a",
            "More records reveal more sensitive values, therefore their number has no clear effect on the loss.",
            "An explanation. With shares of 0.2 % or more, all 50 values are there in 100,000 records already, so it "
            "cannot be the reason.",
        ),
        Statement("6.3", "Baseline does not depend on beta.", "By construction; only the draw of queries moves it."),
        Statement(
            "7",
            "Pr[t | v] is at most (1 + min(beta, -ln p)) Pr[t].",
            "Theorem; Eq. (17) has a misprint in its last term.",
        ),
        Statement(
            "3, 7",
            "Skewness attacks are bounded; perturbation is not open to attacks on groups; composition and repeated "
            "publication are not covered.",
            "By definition; perturbation has no groups; the last is no claim.",
        ),
        Statement(
            "7",
            "The deFinetti attack on Anatomy is right for less than 50 % at l = 5 and less than 30 % at l = 7; "
            "minimality attacks can be averted; arbitrary correlations defeat every method.",
            "Cited results of others.",
        ),
    ),
)
EXPERIMENTS = (
    *closeness.EXPERIMENTS,
    *losses.EXPERIMENTS,
    *doubts.EXPERIMENTS,
    *queries.EXPERIMENTS,
    *attacks.EXPERIMENTS,
    *guarantees.EXPERIMENTS,
)
