"""MSBS: how large buckets are, where large ones count more."""

from __future__ import annotations

from lookalike.metrics.shared.group_sizes import OfGroups


class MeanSquaredBucketSize(OfGroups):
    """MSBS: the sum of (size - 1)^2 over the groups, divided by n - 1; 0 if every record is alone in its group.

    In one group of all n records a record costs (n - 1)^2 / n: that is what a suppressed one costs.
    """

    name = "msbs"
    title = "Mean squared bucket size (MSBS)"
    axis = "mean squared bucket size"

    def of_sums(self, n_groups: int, n_rows: int, squares: int, n_suppressed: int) -> float:
        n = n_rows + n_suppressed
        return (squares - 2 * n_rows + n_groups) / max(n - 1, 1) + n_suppressed * (n - 1) / n
