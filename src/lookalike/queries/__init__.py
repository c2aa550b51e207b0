"""Count queries by the thousand, and what each form of release answers."""
