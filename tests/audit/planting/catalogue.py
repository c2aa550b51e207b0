"""Where plants are registered, by name: single changes to an honest release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tests.audit.planting.cases import Case

Plant = Callable[[np.random.Generator, Case], Case | None]
PLANTS: dict[str, Plant] = {}


def plant(name: str) -> Callable[[Plant], Plant]:
    def register(function: Plant) -> Plant:
        PLANTS[name] = function
        return function

    return register


def with_release(case: Case, **changed: Any) -> Case:
    return replace(case, release=replace(case.release, **changed))
