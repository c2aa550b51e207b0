"""What Spark raises, told apart without its words.

A message of Spark's may quote the record it stumbled over, so none is handed on: callers look at the condition that
Spark names, or search the message for words of their own, and say the rest themselves.
"""

from __future__ import annotations

from typing import Any


def spark_failures() -> tuple[type[Exception], ...]:
    """The exceptions that a call of Spark may raise, for an `except` clause."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ImportError:  # a client of Spark Connect alone
        return (PySparkException,)
    return (PySparkException, Py4JError)


def condition_of(error: Any) -> str:
    """Spark's name for what went wrong, such as PATH_NOT_FOUND; empty if it has none."""
    condition = getattr(error, "getCondition", None)
    return (condition() or "") if condition is not None else ""
