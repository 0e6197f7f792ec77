"""The graph: types, shapes, operations, how they are built.  Imports nothing of ours.

Read in this order: dtypes, shape, errors, op (what one op type is), operation (nodes
and tensors), graph, scope (what surrounds a new op), convert and build (from
`Op.__call__` to a node), static (what is known before a run), graphdef (files).
"""
