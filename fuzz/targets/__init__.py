"""The doors, by name. Each is loaded on its own: a run of one needs no other."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

NAMES = (
    "delimited",
    "packed",
    "workbooks",
    "typed",
    "frames",
    "databases",
    "schemas",
    "taxonomies",
    "recipes",
    "questions",
    "cells",
    "manifests",
    "releases",
    "private",
    "commands",
    "pages",
)


def target(name: str) -> ModuleType:
    return import_module(f"fuzz.targets.{name}")
