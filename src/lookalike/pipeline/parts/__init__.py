"""Releases made in parts: the same methods and the same promise for very large tables.

    survey.py   domains, counts and a coding, from the distinct values of each column
    cut.py      where to cut: boxes.py (of quasi-identifiers) or slices.py (parts like the whole), as the method says
    publish.py  all of it in order, and what is done to each part
    verify.py   the audit of a release in parts

A back end (`data.contracts.Backend`) gives access to the table: `pipeline.backends.local` or `pipeline.backends.spark`.
"""
