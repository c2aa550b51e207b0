"""What several algorithms use: the base method, buckets, axes, matchings and bounds on the loss."""
