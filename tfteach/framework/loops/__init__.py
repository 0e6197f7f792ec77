"""Loops over arrays, written as Python functions, as machine code."""
