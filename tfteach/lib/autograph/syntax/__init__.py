"""The rewriting of functions.  It knows Python's syntax, and nothing of Tensors."""
