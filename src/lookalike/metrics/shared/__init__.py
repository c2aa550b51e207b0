"""What several metrics use: losses of cells, sizes of groups, expected distributions, and trees."""
