"""Operation types, one module per family: signature, shape, kernel, gradient together.

A kernel is a plain function of arrays: `Relu().compute(np, x)`.  Families import only
those before them: constant, math, array, nn, random, state, ... (see pyproject.toml).
"""
