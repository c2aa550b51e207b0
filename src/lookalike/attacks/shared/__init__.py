"""What several attacks use: probabilities, judging an attacker, and where a record may be."""
