"""The time and the memory of a run."""
