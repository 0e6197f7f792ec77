"""Variables, tables, TensorArrays, checkpoints: what outlives a run."""
