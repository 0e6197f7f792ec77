"""AutoGraph: Python's control flow over Tensors as ops.

`syntax/` rewrites a function so that each `if`, loop and call is a call of an operator;
`operators/` are these: over Tensors they build ops, over other values they do what
Python does.  `conversion.py` combines the two, `calls.py` decides what is converted.
"""
