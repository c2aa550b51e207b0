"""lookalike: publish tables about people so that nobody can be singled out, and prove it."""

__version__ = "0.1.0"
