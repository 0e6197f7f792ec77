"""Operation types, one block each: signature, shape, kernel and gradient together.

A kernel is a plain function of arrays: `Relu().compute(np, x)`.  The packages import
one way, in the order in pyproject.toml.  Where a gradient needs a module that in turn
imports its own, the import stands in the method; where it needs control flow or
`tf.gradients` itself, those rooms register it (`gradient_of` in autodiff).
"""
