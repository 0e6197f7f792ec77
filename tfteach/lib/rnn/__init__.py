"""Recurrent nets: cells, and the ways of running a cell over a sequence.

A cell takes (input, state) and returns (output, state).  `cell.py` is the base class,
`cells.py` the cells, `wrappers.py` what goes around one; `static.py` writes the steps
out one after the other, `dynamic.py` and `raw.py` run them in a while loop.  Read them
in this order.
"""
