"""Text tables: encoding, dialect, structure, types, and the reader that uses them."""
