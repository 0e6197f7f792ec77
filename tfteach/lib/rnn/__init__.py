"""Recurrent networks: cells, and functions that run a cell over a sequence.

A cell maps (input, state) to (output, state).  `cell.py` has the base class, `cells.py`
the cells, `wrappers.py` cells around other cells; `static.py` unrolls the steps,
`dynamic.py` and `raw.py` run them in a while loop.  Read them in this order.
"""
