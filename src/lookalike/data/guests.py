"""Guests are held to their contract: the annotations that a type checker reads are checked at run time.

When a guest is registered, its attributes are checked. Those of its methods that lookalike calls are replaced by ones
that check what they return, and that name the guest if it fails.
"""

from __future__ import annotations

import functools
import inspect
import sys
import traceback
from collections.abc import Callable, Collection, Sequence
from dataclasses import is_dataclass
from numbers import Integral, Real
from types import FunctionType, UnionType
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import numpy as np

from lookalike.errors import LookalikeError, RecipeError

_PASSED_ON = (LookalikeError, MemoryError, EOFError, BrokenPipeError)
"""Errors that speak for themselves, and those by which the progress of the studio ends a run."""
_WIDER: dict[Any, Any] = {float: Real, int: Integral, bool: bool | np.bool_}


def name_guest(kind: Any, family: str) -> str:
    return f"The {family} {kind.name} (class {kind.__module__}.{kind.__qualname__})"


def explain_fault(kind: type, family: str) -> str:
    """Who has to fix a member that breaks its contract."""
    if _is_guest(kind):
        return f"{name_guest(kind, family)} is at fault, and no part of lookalike. Report this to its author."
    return "This is a fault of the software. Please report it."


def check_attributes(thing: Any, contract: type, who: str) -> None:
    """Refuse a class or an object with an attribute of another type than its contract says."""
    for name in _list_members(contract):
        value, (hint, text) = getattr(thing, name), _read_hint(contract, name)
        if inspect.isroutine(vars(contract).get(name)):
            hint, text = Callable, "a method"
        if not isinstance(value, property | functools.cached_property) and not _fits(value, hint):
            raise RecipeError(f"{who} has {_describe(value)} as `{name}`. It must be {text}.")


def guard_methods(kind: type, contract: type, family: str, passed_on: Collection[str] = ()) -> None:
    """Replace the methods of a guest that lookalike calls; errors from the packages `passed_on` stay as they are."""
    known = [owner for owner in (*kind.__mro__, contract) if not _is_guest(owner)]
    declared = {name: owner for owner in known for name in _list_members(owner)}
    for owner in filter(_is_guest, kind.__mro__):
        for name, member in [*vars(owner).items()]:
            method = _function_of(member)
            if name in declared and method is not None and _is_guest(method):
                guarded = _guard(method, name, declared[name], family, passed_on)
                setattr(owner, name, guarded if method is member else type(member)(guarded))


def _guard(
    method: FunctionType, name: str, contract: type, family: str, passed_on: Collection[str]
) -> Callable[..., Any]:
    @functools.wraps(method)
    def guarded(guest: Any, *given: Any, **named: Any) -> Any:
        who = name_guest(guest if isinstance(guest, type) else type(guest), family)
        try:
            found = method(guest, *given, **named)
        except _PASSED_ON:
            raise
        except Exception as error:
            if type(error).__module__.partition(".")[0] in passed_on:
                raise
            raise RecipeError(f"{who} failed in `{name}` with {_locate(error, method)}") from error
        hint, text = _read_hint(contract, name)
        if not _fits(found, hint):
            raise RecipeError(f"{who} returns {_describe(found)} from `{name}`. It must return {text}.")
        for one in found if isinstance(found, list | tuple) else [found]:
            if is_dataclass(one) and type(one).__module__ == "lookalike.data.contracts":
                check_attributes(one, type(one), f"{who} returns a {type(one).__name__} that")
        return found

    return guarded


def _locate(error: Exception, method: FunctionType) -> str:
    """Which error, and where, but not what it says: that could quote the data."""
    code = inspect.unwrap(method).__code__
    frames = traceback.extract_tb(error.__traceback__)
    lines = [code.co_firstlineno, *(frame.lineno for frame in frames if frame.filename == code.co_filename)]
    return f"{type(error).__name__}: {code.co_filename}, line {lines[-1]}. Fix it there, or report it to its author."


def _is_guest(kind: type | FunctionType) -> bool:
    return kind.__module__.partition(".")[0] != "lookalike"


def _list_members(contract: type) -> list[str]:
    return [name for name in {**inspect.get_annotations(contract), **vars(contract)} if not name.startswith("_")]


def _function_of(member: Any) -> FunctionType | None:
    """The function behind a method, a property or a class method."""
    found = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    return found if isinstance(found, FunctionType) and not isinstance(member, staticmethod) else None


@functools.cache
def _read_hint(contract: type, name: str) -> tuple[Any, str]:
    """The type that a contract asks of an attribute, or of what a method returns, and how it is written there."""
    method = _function_of(vars(contract).get(name))
    declaring, key = (contract, name) if method is None else (method, "return")
    # Modules that only type checkers import are here by the time that something of theirs is returned.
    names = {**sys.modules, **vars(sys.modules[contract.__module__])}
    try:
        hint = get_type_hints(declaring, names).get(key, Any)
    except NameError:
        hint = Any
    text = str(inspect.get_annotations(declaring).get(key, ""))
    return hint, text[len("ClassVar[") : -1] if text.startswith("ClassVar[") else text


def _fits(value: Any, hint: Any) -> bool:
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind is ClassVar:
        return _fits(value, parts[0])
    if kind is UnionType:
        return any(_fits(value, part) for part in parts)
    if kind is tuple:
        wanted = parts[:1] * len(value) if parts[-1] is ... and isinstance(value, tuple) else parts
        return isinstance(value, tuple) and len(value) == len(wanted) and all(map(_fits, value, wanted))
    if kind is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype.kind == np.dtype(get_args(parts[1])[0]).kind
    if kind is dict:
        return isinstance(value, dict) and all(_fits(one, parts[1]) for one in value.values())
    if kind in (list, frozenset, Sequence, Collection):
        is_several = isinstance(value, Collection) and not isinstance(value, str | bytes | dict)
        return is_several and all(_fits(one, parts[0]) for one in value)
    kind = _WIDER.get(kind, kind)
    return kind is Any or not isinstance(kind, type | UnionType) or isinstance(value, kind)


def _describe(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[{', '.join(map(_describe, value[:3]))}]"
    return f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
