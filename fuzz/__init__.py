"""Hostile input: one target for each door through which bytes come in.

A target is a module of `targets` with a function `run(data: bytes)`, small honest inputs to start from (`SEEDS`) and
words that its format knows (`WORDS`). Either what it opens works, or it is refused as `judging` demands; anything else
is a `Fault`. `python -m fuzz` drives the targets with Atheris for as long as one likes, the tests with Hypothesis for a
moment; inputs that once were faults are kept in tests/fuzz/cases and tried again.
"""
