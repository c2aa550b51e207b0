"""Several releases of a table that changes: what may come after what."""
