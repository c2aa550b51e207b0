"""What several models use: exact numbers, exposures, and how a model is written and read."""
