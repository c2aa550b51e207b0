"""Calls of the library's functions that cannot be carried out, said with what to write.

Python's own errors say which argument is wrong, and not what was meant: `publish(table, k=5)` lacks a model and knows
no argument k. Functions that read a table hand unknown arguments on to its reader, so names are checked beforehand.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from lookalike.errors import RecipeError, quoted
from lookalike.models import MODELS
from lookalike.models.shared.spelling import find_meant
from lookalike.pipeline.backends import SPARK, Backend

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

_OTHER_NAMES = {
    "qi": "quasi quasi_identifier quasi_identifiers quasi_ids qid qids qis quasi_columns keys",
    "sensitive": "sa sensitive_attribute sensitive_attributes sensitive_column sensitive_columns sensitives target",
    "carry": "carried other insensitive keep_columns",
    "model": "models promise promises privacy privacy_model criterion criteria",
    "models": "model promise promises",
    "algorithm": "method algo algorithms",
    "algorithms": "method methods algorithm",
    "control": "holdout hold_out control_group",
    "numeric": "numerical numerics continuous",
    "categorical": "categories categoricals",
    "person": "people patient subject person_id persons individual",
    "seed": "random_state random_seed rng",
    "out": "output folder path directory outdir to",
    "missing": "na na_values null_values nulls",
    "delimiter": "sep separator",
    "original": "table data",
    "schema": "columns roles schema_file",
    "overwrite": "force exist_ok replace",
}
_EXAMPLES = {
    "model": 'what the release must keep, for example model="k-anonymity:10"',
    "models": 'what to compare, for example models=["k-anonymity:5", "l-diversity:3"]',
    "qi": 'what an attacker may know, for example qi=["age", "sex"]',
    "sensitive": 'what they must not learn, for example sensitive="diagnosis"',
}


def explain_arguments(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """The same function; a call with arguments that it lacks, or without those it needs, says what to write."""
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        if not _is_for_spark(args, kwargs):
            _check_names(function.__name__, signature, kwargs)
        _check_places(function.__name__, signature, args, kwargs)
        return function(*args, **kwargs)

    return call


def _is_for_spark(args: tuple[Any, ...], given: Mapping[str, Any]) -> bool:
    """Whether a table is read by Spark, whose reader has its own arguments."""
    table = args[0] if args else given.get("table")
    is_frame = type(table).__module__.startswith("pyspark.")
    return given.get("backend") == SPARK or is_frame or isinstance(table, Backend)


def _check_names(function: str, signature: inspect.Signature, given: Mapping[str, Any]) -> None:
    """Raise `RecipeError` for a name that neither the function nor the reader of tables knows."""
    known = [name for name, one in signature.parameters.items() if one.kind is not one.VAR_KEYWORD]
    unknown = [name for name in given if name not in known]
    if not unknown:
        return
    if len(known) < len(signature.parameters):
        from lookalike.files.tables.read import read_table

        known += [name for name in inspect.signature(read_table).parameters if name not in known]
        unknown = [name for name in unknown if name not in known]
    if unknown:
        listed = " and ".join(quoted(name) for name in unknown)
        noun = "argument" if len(unknown) == 1 else "arguments"
        raise RecipeError(f"{function} has no {noun} {listed}. {_find_remedy(function, unknown, given, known)}")


def _find_remedy(function: str, unknown: Collection[str], given: Mapping[str, Any], known: list[str]) -> str:
    """What was meant by names that a function lacks."""
    first = next(iter(unknown))
    folded = first.casefold().strip("_")
    right = [name for name in known if folded in _OTHER_NAMES.get(name, "").split()]
    if right:
        return f"Write {right[0]}= instead."
    asked = next((name for name in ("model", "models") if name in known), None)
    meant = []
    for name in unknown if asked is not None else ():
        text = f"{name}={given[name]}" if isinstance(given[name], int | float | str) else ""
        meant += find_meant(text, MODELS) if text else []
    if meant:
        listed = ", ".join(quoted(one) for one in meant)
        return f"A promise is given by {asked}: write {asked}={listed if len(meant) == 1 else f'[{listed}]'}."
    if folded in ("round", "rounding", "prepare", "top", "bottom") and "coarsen" in known:
        rule = folded if folded in ("top", "bottom") else "round"
        return f'Sensitive and carried numbers are made coarser by coarsen={{"salary": {{"{rule}": 1000}}}}.'
    if folded in ("epsilon", "eps", "dp") and asked is not None:
        return "Differential privacy is a promise of synthetic data: see lookalike.synthesize."
    right = difflib.get_close_matches(folded, known, n=1, cutoff=0.7)
    if right:
        return f"Write {right[0]}= instead."
    return f"See help(lookalike.{function})."


def _check_places(
    function: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Raise `RecipeError` for an argument without a name that needs one, and for one that is left out."""
    parameters = signature.parameters.values()
    in_place = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    named = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    if len(args) > len(in_place):
        first = [*(name for name in ("qi", "sensitive", "model", "models") if name in named), *named][:3]
        raise RecipeError(
            f"{function} takes {len(in_place)} argument{'s' if len(in_place) != 1 else ''} without a name "
            f"({', '.join(in_place)}) and was given {len(args)}. Write the others with their names: "
            f"{function}({', '.join([*in_place, *(f'{name}=...' for name in first)])})."
        )
    given = {*in_place[: len(args)], *kwargs}
    lacking = [one.name for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    for name in lacking:
        if name not in given:
            raise RecipeError(f"{function} needs {name}: {_EXAMPLES.get(name, f'see help(lookalike.{function})')}.")
