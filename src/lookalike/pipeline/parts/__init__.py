"""Releases made in parts: the same methods and the same promise for tables that no machine holds.

    coding.py      domains, counts and a coding, from each column's different values
    methods.py     which methods distribute, and why the promise then holds for the whole
    cutting.py     where to cut: cells.py (boxes of quasi-identifiers) or slices.py (parts like the whole)
    work.py        what is done to one part
    publishing.py  all of it in order

A back end (`contracts.Backend`) says where the table lies: `backends.local` or `backends.spark`.
"""
