"""Several releases of the same people: who was in which group before, what all releases say together, the ledger."""
