"""What an analyst does with a release: counts, cross tables and intervals, from the release folder alone.

Nothing is imported here: the estimators are used where nobody reads files.
"""
