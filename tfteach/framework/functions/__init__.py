"""Functions in graphs: bodies with captured inputs, their definitions, their calls."""
