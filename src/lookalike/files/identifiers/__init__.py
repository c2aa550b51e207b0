"""Finds e-mail addresses, phone numbers, names and other identifiers among the values of columns."""
