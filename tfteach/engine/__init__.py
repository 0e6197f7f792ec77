"""From fetches and feeds to numbers.  Knows `Op` and arrays, no operation by name.

Read in this order: prune (what is needed), step (the graph of one run), place and
partition (where, and the copies between devices), optimize/, compile (to instructions,
later to Python source), execute (the loop), context and devices (what kernels touch).
"""
