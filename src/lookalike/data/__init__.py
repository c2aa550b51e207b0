"""The nouns: schema, taxonomy, microdata, release, exposure, requirement, and the contracts between families."""
