"""MA: how much an attacker gains who knows how a release was made, and methods that resist.

data          the table, its positive values
readings      tests that several claims share
worlds        what the attacker can infer, exactly or by sampling
risk          figures 3a, 3b and 4: greedy and random grouping
closeness     figures 3c and 3d: t-closeness
exact         claims without a figure: limits by arithmetic, Mondrian, divided groups, simple diversity
queries       figure 5: what is measured
comparisons   figure 5: how methods are compared
answers       figure 5: what is claimed
"""

from __future__ import annotations

from lookalike.apps.papers.claims import Claim, Statement
from lookalike.apps.papers.experiments import Paper
from lookalike.apps.papers.ma.answers import ANSWERS
from lookalike.apps.papers.ma.closeness import CLOSENESS
from lookalike.apps.papers.ma.exact import DIVIDED, LIMITS, MONDRIAN, SIMPLE
from lookalike.apps.papers.ma.risk import GREEDY, RANDOMIZED

_STATEMENTS = (
    Statement(
        "1, 2.4, appendix B",
        "Two worked examples, GG and strict Mondrian at l = 2, reveal values with certainty.",
        "worked examples; tests/attacks/minimality has them",
    ),
    Statement("appendix B", "Anatomy on the same two tables allows no inference.", "by construction"),
    Statement(
        "3.1, claim 4; abstract",
        "Methods that look only at sensitive values (Anatomy, Koudas) cannot be attacked in this way.",
        "by proof: exchanging quasi-identifiers changes nothing",
    ),
    Statement(
        "2.4, footnote 1",
        "Leaving out the records at the end, which form no group, only makes GG easier to attack.",
        "by construction: groups are attacked one by one, and these records would be in none",
    ),
    Statement(
        "3.1",
        "Methods that look only at quasi-identifiers cannot either, and can promise k-anonymity only.",
        "by proof",
    ),
    Statement(
        "3.1",
        "Anatomy inside an l-diverse group gives parts of about l records, each l-diverse.",
        "by construction of Anatomy; whether it is safe is counted (ma-divided)",
    ),
    Statement(
        "3.2, theorem 5; abstract",
        "If a group is split evenly, the probability of any value is at most 1/(l - 1/2).",
        "by proof, for one refused split per group and children of at least l records; the bound is damaged in the "
        "text that we have, and enumeration meets it exactly. Whether every algorithm that splits evenly keeps it is "
        "counted (ma-mondrian)",
    ),
    Statement(
        "3.2, appendix C.3", "SG is effectively immune.", "follows from theorem 5; its risk is shown with figure 5"
    ),
    Statement(
        "appendix C.3",
        "Merging from the bottom up gives the same groups as SG's splitting from the top down.",
        "by proof: two l-diverse groups are l-diverse together, so both ways end at the same groups",
    ),
    Statement(
        "abstract; 1; 6",
        "The effect of the attack can be removed almost entirely.",
        "by proof, for SG (theorem 5) and for methods that look only at sensitive values (claim 4). For randomization "
        "it is false (ma-4b)",
    ),
    Statement(
        "5.3",
        "Divided, groups of Base and RGG are of similar size, very close to l.",
        "by construction of Anatomy, which makes groups of l records",
    ),
    Statement("3.2, figure 1", "54 records split evenly into groups of 6, 7, 14, 9, 9 and 9.", "by arithmetic"),
    Statement(
        "4.1",
        "Groups of GG have a multiple of l records.",
        "by proof for simple diversity; for binary diversity the least size l must be asked for",
    ),
    Statement(
        "4.2, theorem 6; appendix D; abstract",
        "The probability in any group of GG is below e/l, and highest in the first bucket.",
        "by proof; sharper is (l/(l-1))^(l-1)/l. In the proof of theorem 8, r - c + 1 should read r - c - 1",
    ),
    Statement("4.2", "Groups of two buckets have exactly 2/l.", "by arithmetic"),
    Statement(
        "4.2",
        "The worst case of simple l-diversity is one frequent value among values that occur once.",
        "a conjecture that the paper argues; what follows from it is counted (ma-simple)",
    ),
    Statement(
        "5.1",
        "If any bucket is unsafe, the largest risk is at least 2/l and at most e/l.",
        "by theorem 6; what sampling gives is counted (ma-3b)",
    ),
    Statement(
        "1, 2.4",
        "With larger l the attack gives higher probabilities but no certainty.",
        "by arithmetic: (l/(l-1))^(l-1)/l falls from 1 at l = 2 to 0.258 at l = 10",
    ),
    Statement(
        "4.3",
        "Publishing by the toss of a coin changes nothing, and a very rare voluntary merge hardly helps.",
        "by arithmetic",
    ),
    Statement(
        "4.3, appendix C.4",
        "RGG with p = 0 is GG; with p = 1 the bound may stay near e/l.",
        "the first by construction; the second is about the bound: exact probabilities tend to the group's share",
    ),
    Statement(
        "4.3, theorem 7",
        "The probability in the first bucket of RGG is below e/l for every p.",
        "follows from theorem 6; the paper's formula for it is right for two buckets only",
    ),
    Statement(
        "5.1",
        "A smaller t gives larger groups of GG.",
        "by construction: from the same record on, a group that keeps a smaller t is as long or longer; ma-3c has the "
        "sizes",
    ),
    Statement(
        "5.3",
        "Group size alone does not decide how well counts are answered.",
        "follows from two counted claims: RGG(Ana) and Base(Ana) have groups of the same size and different errors",
    ),
    Statement(
        "appendix A",
        "Its constraints are weaker than those of Xiao and others, so its utility may be better.",
        "a possibility that the paper does not test",
    ),
    Statement(
        "5.1", "More records may be vulnerable for larger l because groups are larger.", "a guess, marked as such"
    ),
    Statement(
        "5.3",
        "Base(Ana) is Anatomy; small groups of similar people answer better; Base would do if groups were like the "
        "table.",
        "by definition, and intuition",
    ),
    Statement(
        "1, 6, appendix A",
        "Others attacked strict Mondrian, Incognito and Zhang's method, proposed Mask and transparent methods, and "
        "found the deFinetti attack, strongest for groups of 2 to 4.",
        "cited",
    ),
    Statement(
        "appendix A",
        "Only attackers are considered who take all possible worlds as equally likely.",
        "a limit of the study, not a result",
    ),
)

PAPER = Paper(
    letters="MA",
    title="Minimizing minimality and maximizing utility: analyzing method-based attacks on anonymized data",
    authors="Cormode, Srivastava, Li, Li (PVLDB 2010)",
    claimed="A method that merges records only as far as it must reveals something by stopping there: which values "
    "forced it to go on. The paper asks how much an attacker gains by that. It reports that the gain is bounded, that "
    "randomization (RGG) and even halves (SG) remove it, and that such groups answer counts better than Anatomy.",
    holds="The mathematics holds: for greedy groups the attacker's probability stays below e times the promise, and "
    "even halves, or methods that look only at sensitive values, reveal almost nothing. For a rare value, few records "
    "are vulnerable. Groups of similar people do answer counts better than Anatomy alone.",
    fails="Two reported risks, 2.52 and 2.70, exceed what is possible at l = 6. Randomization leaves some "
    "records of the paper's table vulnerable at p = 0.65, and groups nearly triple. For a value almost as frequent as "
    "l allows, many records are vulnerable. Dividing greedy groups by Anatomy strengthens the attack. Even splits are "
    "not safe: relaxed Mondrian that tries a second column can reveal a value with certainty.",
    instead="`groups` with `--adversary knows-method`, or `symmetric-grouping`, with `recode=permute,anatomize=true` "
    "where counts matter.",
    main={
        "ma-3a": (
            "In most cases less than 10 % of the records are vulnerable.",
            "At l = 6 the largest risk for Craft-Repair is 2.70/l.",
        ),
        "ma-3c": ("Distances are at most 2 t in all experiments.",),
        "ma-4a": (
            "At p = 0.65 nobody is vulnerable for either value.",
            "The average group size does not grow by very much.",
        ),
        "ma-5a": (
            "RGG has smaller errors than SG in all experiments.",
            "RGG has smaller errors than Base in all experiments.",
            "Grouping similar people is tangibly more useful than Anatomy alone, at equal privacy.",
        ),
        "ma-simple": ("The limit e/l also holds in experiments with simple l-diversity.",),
        "ma-divided": ("Groups of GG and RGG can be divided by Anatomy without harm to privacy.",),
        "ma-mondrian": ("Relaxed Mondrian is effectively immune: no probability above 1/(l - 1/2).",),
    },
    statements=_STATEMENTS,
    claims=(
        Claim(
            "5, footnote 2",
            "Results on other data are similar.",
            why="The paper neither names the other data nor shows any result on them.",
        ),
        Claim(
            "2.2",
            "Diversity by entropy behaves like simple diversity in practice.",
            why="The paper does not say in what respect, and measures neither beside the other.",
        ),
        Claim(
            "3.2",
            "Theorem 5 holds for other kinds of l-diversity too.",
            why="The paper says that their analyses are similar and gives none.",
        ),
    ),
)

EXPERIMENTS = (GREEDY, CLOSENESS, RANDOMIZED, ANSWERS, LIMITS, SIMPLE, DIVIDED, MONDRIAN)
