"""One way from a table to an audited release: the recipe, the run, the same in parts, and back ends."""
