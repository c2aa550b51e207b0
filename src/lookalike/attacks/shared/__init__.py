"""What several attacks use: beliefs, judging an attacker, and where a record may be."""
