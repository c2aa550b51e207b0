"""Advice with numbers: which promises a table can support, what to promise first, which column costs most and what
would save it.

    promises    the strongest eligible parameters of each model, the probabilities they leave, and a promise to start
    with
    trials      what each column costs and what a change would save, by trial runs
    advice      all of it together, and which column sets records apart, alone and in pairs
    reviewing   the same after the fact, from an outcome, without trial runs

No model is defined a second time here: eligibility, ceilings and levels are the models' own. Advice is for the person
who publishes: it names values of sensitive columns with their shares, and no record.
"""

from lookalike.evaluation.advise.advice import Advice, advise
from lookalike.evaluation.advise.reviewing import Review, review

__all__ = ["Advice", "Review", "advise", "review"]
