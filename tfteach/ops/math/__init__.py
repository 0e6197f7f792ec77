"""Element-wise arithmetic, comparisons, reductions and running sums."""
