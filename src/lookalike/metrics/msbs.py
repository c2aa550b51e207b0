"""MSBS: how large buckets are, where large ones count more."""

from __future__ import annotations

from lookalike.metrics.shared.group_sizes import OfGroups


class MeanSquaredBucketSize(OfGroups):
    """MSBS: the sum of (size - 1)^2 over the groups, divided by n - 1; 0 if every record stands alone."""

    name = "msbs"
    title = "Mean squared bucket size (MSBS)"
    axis = "mean squared bucket size"

    def of_sums(self, n_groups: int, n_rows: int, squares: int) -> float:
        return (squares - 2 * n_rows + n_groups) / max(n_rows - 1, 1)
