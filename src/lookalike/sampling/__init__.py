"""Plain tables drawn from a release: what stands in it, with a value in the place of every range, set and bucket."""
