"""Attacks on releases. None is built yet; `contracts.Attack` says what one has to offer."""
