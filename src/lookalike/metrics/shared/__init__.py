"""What several metrics use: expected losses and workloads of queries."""
