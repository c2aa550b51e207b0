"""Checks a request: the recipe, what its promises require of a table, and the algorithm that can keep them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lookalike import models
from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.algorithms.shared.fixed_cells import FixedCells
from lookalike.algorithms.shared.synthesis import Synthesizer
from lookalike.data.adversary import ADVERSARIES, KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Algorithm, PrivacyModel, Promise
from lookalike.data.ends import Ends, Step, round_ends
from lookalike.data.folding import fold_for, parse_folds
from lookalike.data.frequent_values import describe_frequent, set_cells, wants_frequent
from lookalike.data.knowledge import Knowledge, as_knowledge
from lookalike.data.microdata import Domains, Microdata, Table
from lookalike.data.person_doubts import note_units
from lookalike.data.person_settings import APART, LINKED, RANDOM, PersonSettings, StatedPersons
from lookalike.data.persons import number_pairs
from lookalike.data.release import RecordMap, Release
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Role, Schema, limit_sets
from lookalike.data.wording import Wording
from lookalike.errors import RecipeError, Unsupported, quoted
from lookalike.models.shared.model import example_of
from lookalike.models.shared.spelling import find_meant
from lookalike.pipeline.person_rows import describe_left_out, keep_rows, order_visits
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

ModelLike = PrivacyModel | Promise | str
_NO_PROMISE = (
    "No promise is given. Say what the release must keep, for example --model k-anonymity:10 (in Python: "
    'model="k-anonymity:10").'
)


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
    """Only to repeat a run. Anyone who knows it can undo the shuffling."""
    persons: PersonSettings = field(default_factory=PersonSettings)
    """How the rows of one person are published, where a column says whose rows they are."""
    for_scheme: bool = False
    """Whether a scheme is to be made of the release, so that the method must part its cells."""
    ends: Ends = field(default_factory=Ends)
    """How the ends of published ranges are rounded."""
    knowledge: Knowledge | None = None
    """Rules that everybody knows: promises are also held against someone who uses them."""
    knowledge_report_only: bool = False
    """Whether a release that does not withstand them is published all the same, and says so to its owner."""

    def __post_init__(self) -> None:
        self.persons.check(person=self.schema.unit is not None)
        if self.knowledge_report_only and self.knowledge is None:
            raise RecipeError("There are no rules to report on. Name their file (--knowledge FILE).")

    @classmethod
    def of(
        cls,
        *,
        model: ModelLike | Iterable[ModelLike],
        algorithm: Algorithm | str | None = None,
        adversary: str = READS_RELEASE,
        seed: int | None = None,
        persons: PersonSettings | None = None,
        for_scheme: bool = False,
        ends: Ends | None = None,
        frequent: Mapping[str, int] | None = None,
        longest_set: int | None = None,
        keep_identifiers: str | Iterable[str] = (),
        carry_anyway: str | Iterable[str] = (),
        knowledge: Knowledge | str | Path | None = None,
        knowledge_report_only: bool = False,
        **columns: Any,
    ) -> Recipe:
        """A recipe from what users write; `columns` are the arguments of `Schema.of`."""
        return cls(
            schema=set_cells(Schema.of(**columns), frequent, longest_set, keep_identifiers, carry_anyway),
            promises=parse_promises(model),
            algorithm=read_algorithm(algorithm),
            adversary=adversary,
            seed=seed,
            persons=persons or PersonSettings(),
            for_scheme=for_scheme,
            ends=ends or Ends(),
            knowledge=as_knowledge(knowledge),
            knowledge_report_only=knowledge_report_only,
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
    table: Microdata
    """`data` with the rows that are left out because a person has more than are published."""
    rows_by_order: bool = False
    """Whether the order of the table, which may depend on values, decides which rows of a person are published."""

    @property
    def adversary(self) -> str:
        """Whom the release is made for: at least the one asked for."""
        if self.rows_by_order:
            return self.recipe.adversary
        own = self.algorithm.adversary
        if refuse_persons(self.algorithm, self.promises, self.data, own) is not None:
            # Where persons have several rows, the method withstands no more than was asked for.
            own = self.recipe.adversary
        return stronger(self.recipe.adversary, own)

    def anonymize(self, rng: Randomness, progress: Progress = silent) -> tuple[Release, RecordMap]:
        """The release with rounded ends, as it is published."""
        release, record_map = self.anonymize_exactly(rng, progress)
        return self.round_ends(release)[0], record_map

    def anonymize_exactly(self, rng: Randomness, progress: Progress = silent) -> tuple[Release, RecordMap]:
        """The release as the method makes it."""
        return self.algorithm.anonymize(self.data, self.requirements, rng, progress)

    def round_ends(self, release: Release) -> tuple[Release, dict[str, Step]]:
        """The same release with rounded ends, and the steps by column; cells of a scheme are nobody's already."""
        if isinstance(self.algorithm, FixedCells):
            return release, {}
        return round_ends(release, self.recipe.ends, apart=self.recipe.for_scheme)


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
    if recipe.for_scheme:
        _refuse_others(recipe.schema)
        # Cells of a scheme do not overlap, and a cell that says nothing would overlap all others.
        recipe = replace(recipe, schema=limit_sets(recipe.schema, 0))
    given = recipe.schema
    if isinstance(table, Table):
        table = fold_for(recipe.schema, table, recipe.persons)
        data = Microdata.encode(table, recipe.schema)
    elif recipe.persons.fold is not None:
        raise Unsupported("Only a table that is published in one piece can be folded. Fold it before, or whole.")
    else:
        data = table
    whole = data
    data, recipe, left_out = select_rows(data, recipe, table if isinstance(table, Table) else None)
    used = _find_use_of_order(recipe.persons, whole, left_out=bool(left_out))
    if used is not None and recipe.adversary == KNOWS_METHOD:
        raise Unsupported(
            f"{used}, which may depend on sensitive values, and an attacker who knows the method may know that order. "
            "Name a quasi-identifier that orders the rows of each person and has another value in each (--order COLUMN)"
            f"{', or let rows be drawn (--keep random)' if used.startswith('keep') else ''}."
        )
    recipe.ends.check(data.domains.quasi)
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
        notes=(
            *(table.notes if isinstance(table, Table) else ()),
            *(note_units(table, given) if isinstance(table, Table) else ()),
            *describe_frequent(
                given, whole.domains.quasi, whole.schema.unit_name if whole.persons is not None else "row"
            ),
            *left_out,
            *reason,
        ),
        table=whole,
        rows_by_order=used is not None,
    )


def _refuse_others(schema: Schema) -> None:
    """Raise `Unsupported` where values of the table become "(other)": to a scheme these are values of other tables."""
    names = [quoted(one.name) for one in schema.quasi if wants_frequent(one) or (one.others and one.values is not None)]
    if names:
        raise Unsupported(
            f"No scheme can be made of {', '.join(names)}: values of this table become (other), which in a scheme "
            "stands for values that this table does not have. Name a tree of groups (taxonomy: {tree: ...}), or leave "
            "--scheme-out out."
        )


def _find_use_of_order(given: PersonSettings, data: Microdata, *, left_out: bool) -> str | None:
    """What the order of the table decides, beside which an attacker who knows the method is not withstood; or None.

    An order by quasi-identifiers is known to the attacker anyway, and says nothing about values.
    """
    if data.persons is None:
        return None
    names = [domain.name for domain in data.domains.quasi]
    if given.order in names:
        pairs = number_pairs(data.persons, data.quasi[:, names.index(given.order)])
        if len(np.unique(pairs)) == len(pairs):
            return None
    what = "the order of the table" if given.order is None else f"an order by {quoted(given.order)}"
    if left_out and given.keep != RANDOM:
        return f"keep={given.keep} takes rows by {what}"
    if given.rows == LINKED:
        return f"Linked rows are numbered by {what}"
    folds = [fold for fold in parse_folds(given.fold or ()) if fold.needs_order]
    return f"{folds[0]} folds rows by {what}" if folds else None


def stronger(one: str, other: str) -> str:
    """The stronger of two adversaries."""
    return max(one, other, key=ADVERSARIES.index)


def settle(promises: Sequence[Promise], data: Microdata) -> tuple[Promise, ...]:
    """Every promise with its column: one about values but without a column is made for each sensitive column."""
    if not promises:
        raise RecipeError(_NO_PROMISE)
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


def select_rows(
    data: Microdata, recipe: Recipe, table: Table | None = None
) -> tuple[Microdata, Recipe, tuple[str, ...]]:
    """The rows that are published of each person, the recipe with what was drawn for it, and sentences about it."""
    given, unit = recipe.persons, recipe.schema.unit
    if data.persons is None:
        if unit is None or data.whole is not None:
            return data, recipe, ()
        said = f"Column {quoted(unit.name)} has another value in every row: each row is one {unit.role}."
        if given.fold is not None:
            # What was folded has to be said, so that the original can be folded again. All rows are published.
            given = replace(given, rows=APART, keep=RANDOM, contribution=None)
            return data, replace(recipe, persons=given), (said,)
        return data, drop_persons(recipe), (said,)
    if given.rows == LINKED and data.individuals is not None:
        raise Unsupported(
            "Rows are linked by a number per person, and promises count households here. Leave --household out, or "
            "publish rows apart (--rows apart)."
        )
    if given.order is not None:
        data = replace(data, visits=order_visits(data, table, given.order))
    if given.most_rows is not None and given.keep == RANDOM and given.salt is None:
        given = replace(given, salt=Randomness(recipe.seed).child("kept rows").words(2).tobytes().hex())
    kept = keep_rows(data, given)
    return kept, replace(recipe, persons=given), describe_left_out(data, given.most_rows)


def state_persons(recipe: Recipe) -> StatedPersons | None:
    """What the release says about whose rows it has; None where nothing has to be said.

    The salt stays with the owner. Rows are drawn by their places in the table: in one sorted by diagnosis the salt
    would tell
    which of a person's diagnoses is published, and a seed that it comes from could be found by trying.
    """
    if recipe.schema.unit is None:
        return StatedPersons(settings=recipe.persons) if recipe.persons.rows_are_persons else None
    person, household = (
        None if unit is None else unit.name for unit in (recipe.schema.person, recipe.schema.household)
    )
    return StatedPersons(person=person, household=household, settings=recipe.persons).without_salt()


def drop_persons(recipe: Recipe) -> Recipe:
    """The recipe for a table in which no person repeats: as without the column, and nothing is said about it."""
    units = (recipe.schema.person, recipe.schema.household)
    attributes = (
        replace(attribute, role=Role.IDENTIFIER) if attribute in units else attribute
        for attribute in recipe.schema.attributes
    )
    kept = replace(recipe.persons, rows=APART, keep=RANDOM, contribution=None, order=None, number_known=True)
    return replace(recipe, schema=Schema(tuple(attributes)), persons=kept)


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
    if data.persons is not None and (reason := _refuse_distributions(promises)) is not None:
        raise Unsupported(f"{reason}.")
    candidates = [recipe.algorithm] if recipe.algorithm else [kind() for kind in among]
    if recipe.for_scheme and recipe.algorithm:
        refuse_scheme(recipe.algorithm)
    elif recipe.for_scheme:
        candidates = [candidate for candidate in candidates if candidate.cells_apart]
    refusals = []
    for candidate in candidates:
        algorithm = candidate.facing(recipe.adversary)
        reason = find_refusal(algorithm, recipe.adversary, promises, requirements, data.domains)
        reason = reason or refuse_persons(algorithm, promises, data, recipe.adversary)
        if data.visits is not None:
            reason = reason or algorithm.refuses_linked_rows(requirements)
        if reason is None:
            said = [] if recipe.algorithm else [f"Algorithm {algorithm} was chosen; name another with --algorithm."]
            return algorithm, said
        refusals.append(f"{algorithm.name}: {reason}")
    raise Unsupported(f"No algorithm serves this request. {'; '.join(refusals)}.")


def refuse_scheme(algorithm: Algorithm) -> None:
    """Raise `Unsupported` if no scheme can be made of what a method publishes."""
    if not algorithm.cells_apart:
        able = " or ".join(name for name, kind in ALGORITHMS.items() if kind().cells_apart)
        raise Unsupported(
            f"No scheme can be made of a release by {algorithm.name}: a scheme needs cells that cover the whole domain "
            f"and do not overlap. Use --algorithm {able}, or leave --scheme-out out."
        )


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
    strength = ADVERSARIES.index
    if strength(algorithm.adversary) < strength(adversary):
        weaker = Wording(adversary=algorithm.adversary).describe_adversary()
        return f"its releases are made for an attacker who {weaker} (--adversary {algorithm.adversary})"
    return algorithm.refuses_columns(domains)


def refuse_persons(algorithm: Algorithm, promises: Sequence[Promise], data: Microdata, adversary: str) -> str | None:
    """Why an algorithm cannot keep these promises for persons with several rows, or None."""
    if data.persons is None:
        return None
    return _refuse_distributions(promises) or algorithm.refuses_persons(promises, adversary)


def _refuse_distributions(promises: Sequence[Promise]) -> str | None:
    for promise in promises:
        if promise.model.by_distribution:
            return (
                f"{promise.model} is about whole distributions, in which a person has one value: "
                "publish one row per person (--rows one)"
            )
    return None


def parse_promises(model: ModelLike | Iterable[ModelLike]) -> tuple[Promise, ...]:
    """Models in any form a user may write them, as promises."""
    if isinstance(model, Mapping):
        raise RecipeError(_explain_model([f"{name}={value}" for name, value in model.items()], "a dictionary"))
    several = isinstance(model, Iterable) and not isinstance(model, str | type)
    listed: Sequence[Any] = list(model) if several else [model]  # type: ignore[arg-type]
    for one in (listed, *listed):
        match one:
            case [str() as name, int() | float() as number]:
                raise RecipeError(_explain_model([f"{name}={number}"], "a name beside a number"))
    promises = []
    for one in listed:
        if isinstance(one, str):
            promises.append(models.parse_promise(one))
        elif isinstance(one, Promise):
            promises.append(one)
        elif isinstance(one, PrivacyModel) and not isinstance(one, type):
            promises.append(Promise(one))
        elif one is None:
            raise RecipeError(_NO_PROMISE)
        elif isinstance(one, Mapping):
            raise RecipeError(_explain_model([f"{name}={value}" for name, value in one.items()], "a dictionary"))
        else:
            known = getattr(one, "name", None) if isinstance(one, type) else None
            text = example_of(models.MODELS[str(known)]) if known in models.MODELS else "k-anonymity:10"
            met = f"the class {one.__name__}" if isinstance(one, type) else f"a value of type {type(one).__name__}"
            raise RecipeError(
                f"A promise is a text or an object such as KAnonymity(10), not {met}. Write model={quoted(text)}."
            )
    return tuple(promises)


def _explain_model(texts: Sequence[str], met: str) -> str:
    """What to write instead of something that names models and numbers, but is no promise."""
    meant = [one for text in texts for one in find_meant(text, models.MODELS)]
    listed = ", ".join(quoted(one) for one in meant or ["k-anonymity:10"])
    example = "" if meant else ", for example"
    return f"A promise is not {met}. Write{example} model={listed if len(meant) < 2 else f'[{listed}]'}."


def read_algorithm(algorithm: object) -> Algorithm | None:
    if isinstance(algorithm, str):
        return parse_algorithm(algorithm)
    if algorithm is None or (isinstance(algorithm, Algorithm) and not isinstance(algorithm, type)):
        return algorithm
    if isinstance(algorithm, type) and (name := getattr(algorithm, "name", None)) in ALGORITHMS:
        raise RecipeError(
            f"{algorithm.__name__} is a class. Write {algorithm.__name__}(), or its text: {quoted(str(name))}."
        )
    otherwise = "An algorithm is an object such as Mondrian() or its text, mondrian:cuts=1."
    raise Unsupported(algorithm.refusal() if isinstance(algorithm, Synthesizer) else otherwise)
