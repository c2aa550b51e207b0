"""Several releases of the same people: what may come after what, who was in which group before, the ledger."""
