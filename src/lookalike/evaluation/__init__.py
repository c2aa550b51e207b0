"""How good a release is and what it withstands, held against its original: attacks, queries, fidelity, trade-off."""
