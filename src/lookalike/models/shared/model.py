"""What all models share: how they print, and that they read every form unless they say otherwise."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Domain
from lookalike.data.parameters import part_text


class WrittenModel:
    """The base of every model."""

    name: ClassVar[str]
    about_identity: ClassVar[bool] = False

    @property
    def value_by_value(self) -> bool:
        return False

    def __str__(self) -> str:
        return part_text(self)

    def cautions(self, prior: NDArray[np.int64], column: Domain | None) -> list[str]:
        return []

    def refuses_form(self, form: str) -> str | None:
        return None
