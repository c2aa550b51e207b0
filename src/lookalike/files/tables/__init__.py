"""Tables at the border: files and frames in. The frame library lives here and in `packages`.

Reading gives a `Table` of dictionary-encoded columns and sentences about whatever was guessed:

    encoding -> dialect -> structure -> (polars) -> inference      text files, block by block
    reading  -> typed (pandas_frames)                              files and frames that have types

`read_table` is loaded on first use, so that importing this package does not load polars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike.files.tables.read import read_table

__all__ = ["read_table"]


def __getattr__(name: str) -> Any:
    if name == "read_table":
        from lookalike.files.tables.read import read_table

        return read_table
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
