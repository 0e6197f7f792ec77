"""Steps with branches and loops: dataflow, and the structure recovered from it."""
