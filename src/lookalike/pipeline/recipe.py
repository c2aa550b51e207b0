"""Checks a request: the recipe, what its promises require of a table, and the algorithm that can keep them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lookalike import models
from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.algorithms.shared.synthesis import Synthesizer
from lookalike.data.adversary import ADVERSARIES, READS_RELEASE
from lookalike.data.contracts import Algorithm, PrivacyModel, Promise
from lookalike.data.microdata import Domains, Microdata, Table
from lookalike.data.person_settings import LAST, RANDOM, PersonSettings
from lookalike.data.persons import rank_rows
from lookalike.data.release import RecordMap, Release
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError, Unsupported, counted, quoted
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

ModelLike = PrivacyModel | Promise | str


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What was asked."""

    schema: Schema
    promises: tuple[Promise, ...]
    """A promise without a column, if its model is about values, is made for every sensitive column."""
    algorithm: Algorithm | None = None
    """None: the best suited is chosen and named."""
    adversary: str = READS_RELEASE
    seed: int | None = None
    """Only to repeat a run. Whoever knows it can undo the shuffling."""
    persons: PersonSettings = field(default_factory=PersonSettings)
    """How the rows of one person are published, where a column says whose rows they are."""

    @classmethod
    def of(
        cls,
        *,
        model: ModelLike | Iterable[ModelLike],
        algorithm: Algorithm | str | None = None,
        adversary: str = READS_RELEASE,
        seed: int | None = None,
        persons: PersonSettings | None = None,
        **columns: Any,
    ) -> Recipe:
        """A recipe from what users write; `columns` are the arguments of `Schema.of`."""
        return cls(
            schema=Schema.of(**columns),
            promises=parse_promises(model),
            algorithm=read_algorithm(algorithm),
            adversary=adversary,
            seed=seed,
            persons=persons or PersonSettings(),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared:
    """A recipe made definite for one table: nothing is left to decide, and nothing is done yet."""

    recipe: Recipe
    data: Microdata
    promises: tuple[Promise, ...]
    """Each with its column."""
    requirements: tuple[Requirement, ...]
    """What every group must satisfy."""
    algorithm: Algorithm
    notes: tuple[str, ...]
    """What was guessed and chosen, in sentences."""

    @property
    def adversary(self) -> str:
        """Whom the release is made for: at least the one asked for."""
        own = self.algorithm.adversary
        if refuse_persons(self.algorithm, self.promises, self.data, own) is not None:
            # Where persons have several rows, the method withstands no more than was asked for.
            own = self.recipe.adversary
        return stronger(self.recipe.adversary, own)

    def anonymize(self, rng: Randomness, progress: Progress = silent) -> tuple[Release, RecordMap]:
        return self.algorithm.anonymize(self.data, self.requirements, rng, progress)


def prepare(
    recipe: Recipe,
    table: Table | Microdata,
    *,
    among: Iterable[type[Algorithm]] | None = None,
    eligible: bool = True,
) -> Prepared:
    """Decide everything that a run needs; raises if no release, or no algorithm, can keep the promises.

    `among`: the algorithms that may be chosen where the recipe names none; all, if left out. `eligible`: whether the
    table must allow some release of its own records that keeps the promises; not so where rows are made up.
    """
    data = table if isinstance(table, Microdata) else Microdata.encode(table, recipe.schema)
    data, recipe, left_out = select_rows(data, recipe)
    promises = settle(recipe.promises, data)
    requirements = require(promises, data, eligible=eligible)
    kinds = ALGORITHMS.values() if among is None else among
    algorithm, reason = _choose(recipe, promises, requirements, data, kinds)
    return Prepared(
        recipe=recipe,
        data=data,
        promises=promises,
        requirements=requirements,
        algorithm=algorithm,
        notes=(*(table.notes if isinstance(table, Table) else ()), *left_out, *reason),
    )


def stronger(one: str, other: str) -> str:
    """The stronger of two adversaries."""
    return max(one, other, key=list(ADVERSARIES).index)


def settle(promises: Sequence[Promise], data: Microdata) -> tuple[Promise, ...]:
    """Every promise with its column: one about values but without a column is made for each sensitive column."""
    if not promises:
        raise RecipeError("No promise is given. Say what the release must keep, for example --model k-anonymity:10.")
    names = [domain.name for domain in data.domains.sensitive]
    settled: list[Promise] = []
    for promise in promises:
        if promise.model.about_identity:
            columns: list[str | None] = [None]
        elif promise.column is not None:
            data.domains.sensitive_index(promise.column)
            columns = [promise.column]
        elif names:
            columns = [*names]
        else:
            raise RecipeError(
                f"{promise.model} protects a sensitive column, but none is named. Name it (--sensitive S), or promise "
                "k-anonymity."
            )
        settled.extend(Promise(promise.model, column) for column in columns)
    return tuple(dict.fromkeys(settled))


def select_rows(data: Microdata, recipe: Recipe) -> tuple[Microdata, Recipe, tuple[str, ...]]:
    """The rows that are published of each person, the recipe with what was drawn for it, and a sentence about it."""
    given = recipe.persons
    if data.persons is None:
        return data, recipe, ()
    if given.most_rows is not None and given.keep == RANDOM and given.salt is None:
        given = replace(given, salt=Randomness(recipe.seed).child("kept rows").words(2).tobytes().hex())
    kept = keep_rows(data, given)
    return kept, replace(recipe, persons=given), describe_left_out(data, given.most_rows)


def describe_left_out(data: Microdata, most_rows: int | None) -> tuple[str, ...]:
    """How many rows of how many persons are left out if nobody has more than so many; nothing if none are."""
    if data.persons is None or most_rows is None:
        return ()
    n_over = np.maximum(np.bincount(data.persons) - most_rows, 0)
    n_left, n_cut = int(n_over.sum()), int(np.count_nonzero(n_over))
    if not n_left:
        return ()
    verb = "is" if n_left == 1 else "are"
    limit = counted(most_rows, "row")
    return (f"{counted(n_left, 'row')} of {counted(n_cut, 'person')} {verb} left out: at most {limit} per person.",)


def bound_contribution(
    data: Microdata, settings: PersonSettings, seed: int | None
) -> tuple[Microdata, int | None, tuple[str, ...]]:
    """The records that are learned from, the most of them per person, and a sentence about those that are left out.

    The limit is the one that was asked for, also where nobody has so many records: a limit that was read off the table
    would tell of the person with the most. None: every record is a person.
    """
    if settings.contribution is None:
        if data.persons is not None and not settings.rows_are_persons:
            named = "The column of persons" if data.schema.unit is None else f"Column {quoted(data.schema.unit.name)}"
            raise RecipeError(
                f"{named} repeats: epsilon would be that of one record, and a person with several would have several "
                "times as much. State the most records per person (--contribution C; epsilon is then per person, and "
                "further records are left out at random), or state that every row is a different person "
                "(--rows-are-persons)."
            )
        return replace(data, persons=None, individuals=None), None, ()
    if data.schema.unit is None:
        raise RecipeError(
            "A limit of records per person needs the column that says whose record it is (--person COLUMN)."
        )
    salt = Randomness(seed).child("kept rows").words(2).tobytes().hex()
    kept = keep_rows(data, replace(settings, keep=RANDOM, salt=salt))
    left_out = describe_left_out(data, settings.contribution)
    return replace(kept, persons=None, individuals=None), settings.contribution, left_out


def keep_rows(data: Microdata, given: PersonSettings) -> Microdata:
    """The rows of each person that are published, chosen by the order of the table or by the salt, never by values."""
    persons = data.persons
    if persons is None:
        return data
    data = replace(data, number_known=given.number_known)
    if given.most_rows is None:
        return data
    order = np.arange(data.n_rows)
    if given.keep == LAST:
        order = order[::-1]
    elif given.keep == RANDOM:
        assert given.salt is not None, "Rows are drawn by a salt."
        order = Randomness(int(given.salt, 16)).child("kept rows").permutation(data.n_rows)
    chosen = data.take(np.flatnonzero(rank_rows(persons, order) < given.most_rows))
    return chosen if given.most_rows > 1 else replace(chosen, persons=None, individuals=None)


def require(promises: Sequence[Promise], data: Microdata, *, eligible: bool = True) -> tuple[Requirement, ...]:
    """What every group must satisfy; raises `Infeasible` if no release can keep a promise (unless not `eligible`)."""
    requirements = []
    for promise in promises:
        index = None if promise.column is None else data.domains.sensitive_index(promise.column)
        prior, domain = data.prior(index), None if index is None else data.domains.sensitive[index]
        if eligible:
            promise.model.check_eligible(prior, domain)
        requirements.append(promise.model.requirement(prior, domain, index))
    return tuple(requirements)


def _choose(
    recipe: Recipe,
    promises: Sequence[Promise],
    requirements: Sequence[Requirement],
    data: Microdata,
    among: Iterable[type[Algorithm]],
) -> tuple[Algorithm, list[str]]:
    """The algorithm asked for if it can serve every promise, or the first that can; with a sentence for the user."""
    if recipe.adversary not in ADVERSARIES:
        raise RecipeError(f"adversary must be one of {', '.join(ADVERSARIES)}, not {quoted(recipe.adversary)}.")
    candidates = [recipe.algorithm] if recipe.algorithm else (kind() for kind in among)
    refusals = []
    for candidate in candidates:
        algorithm = candidate.facing(recipe.adversary)
        reason = find_refusal(algorithm, recipe.adversary, promises, requirements, data.domains)
        reason = reason or refuse_persons(algorithm, promises, data, recipe.adversary)
        if reason is None:
            said = [] if recipe.algorithm else [f"Algorithm {algorithm} was chosen; name another with --algorithm."]
            return algorithm, said
        refusals.append(f"{algorithm.name}: {reason}")
    raise Unsupported(f"No algorithm serves this request. {'; '.join(refusals)}.")


def find_refusal(
    algorithm: Algorithm,
    adversary: str,
    promises: Sequence[Promise],
    requirements: Sequence[Requirement],
    domains: Domains,
) -> str | None:
    """Why an algorithm with these settings cannot serve these promises for these columns, or None."""
    for promise, requirement in zip(promises, requirements, strict=True):
        reason = promise.model.refuses_form(algorithm.form) or algorithm.refuses(promise, requirement)
        if reason:
            return reason
    strength = list(ADVERSARIES).index
    if strength(algorithm.adversary) < strength(adversary):
        return f"its releases are made for an adversary who {ADVERSARIES[algorithm.adversary]}"
    return algorithm.refuses_columns(domains)


def refuse_persons(algorithm: Algorithm, promises: Sequence[Promise], data: Microdata, adversary: str) -> str | None:
    """Why an algorithm cannot keep these promises for persons with several rows, or None."""
    if data.persons is None:
        return None
    for promise in promises:
        if promise.model.by_distribution:
            return (
                f"{promise.model.name} compares whole distributions, which are kept for one row per person only "
                "(--rows one)"
            )
    return algorithm.refuses_persons(promises, adversary)


def parse_promises(model: ModelLike | Iterable[ModelLike]) -> tuple[Promise, ...]:
    """Models in any form a user may write them, as promises."""
    several = isinstance(model, Iterable) and not isinstance(model, str)
    listed: Sequence[Any] = list(model) if several else [model]  # type: ignore[arg-type]
    promises = []
    for one in listed:
        if isinstance(one, str):
            promises.append(models.parse_promise(one))
        elif isinstance(one, Promise):
            promises.append(one)
        elif isinstance(one, PrivacyModel):
            promises.append(Promise(one))
        else:
            raise RecipeError(f"A model is an object such as KAnonymity(10) or its text, not a {type(one).__name__}.")
    return tuple(promises)


def read_algorithm(algorithm: object) -> Algorithm | None:
    if isinstance(algorithm, str):
        return parse_algorithm(algorithm)
    if algorithm is None or isinstance(algorithm, Algorithm):
        return algorithm
    otherwise = "An algorithm is an object such as Mondrian() or its text, mondrian:cuts=1."
    raise Unsupported(algorithm.refusal() if isinstance(algorithm, Synthesizer) else otherwise)
