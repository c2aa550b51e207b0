"""A stable sort for kernels. NumPy's sorts would do, but take longer to compile than the kernels that need them."""

from __future__ import annotations

from lookalike.kernels import inner

_RUN = 16
"""Places that are sorted by insertion before runs are merged."""


@inner
def sort_by_key(places, keys, spare):  # type: ignore[no-untyped-def]
    """Put `places` into the rising order of keys[place], equal ones as they stand; `spare` is as long and is used."""
    n_places = len(places)
    for start in range(0, n_places, _RUN):
        for at in range(start + 1, min(start + _RUN, n_places)):
            place = places[at]
            hole = at
            while hole > start and keys[places[hole - 1]] > keys[place]:
                places[hole] = places[hole - 1]
                hole -= 1
            places[hole] = place
    run = _RUN
    while run < n_places:
        for start in range(0, n_places, 2 * run):
            middle, stop = min(start + run, n_places), min(start + 2 * run, n_places)
            left, right = start, middle
            for at in range(start, stop):
                if right == stop or (left < middle and keys[places[left]] <= keys[places[right]]):
                    spare[at] = places[left]
                    left += 1
                else:
                    spare[at] = places[right]
                    right += 1
        for at in range(n_places):
            places[at] = spare[at]
        run *= 2
