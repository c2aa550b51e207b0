"""Plain data as JSON, which has no infinity: that is written as text, and what is not a number as null."""

from __future__ import annotations

import json
import math
from typing import Any


def spell_infinity(content: Any) -> Any:
    """
    >>> spell_infinity({"loss": (float("inf"), 0.5, float("nan"))})
    {'loss': ['infinity', 0.5, None]}
    """
    if isinstance(content, dict):
        return {str(key): spell_infinity(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [spell_infinity(value) for value in content]
    if not isinstance(content, float) or math.isfinite(content):
        return content
    return None if math.isnan(content) else "infinity" if content > 0 else "-infinity"


def json_text(content: Any) -> str:
    return json.dumps(spell_infinity(content), indent=2, ensure_ascii=False, allow_nan=False)
