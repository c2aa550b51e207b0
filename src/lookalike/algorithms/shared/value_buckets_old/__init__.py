"""What methods that draw groups from buckets of values have in common.

A bucket is a set of values whose records may stand for each other in a group. `drawing.py` settles how many records a
group takes of each bucket, from counts alone; `retrieval.py` which ones, from quasi-identifiers alone.
"""
