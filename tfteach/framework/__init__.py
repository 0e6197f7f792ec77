"""The graph: types, shapes, operations and how they are built; imports no package.

Read in this order: dtypes, shape, errors, op (one op type), operation (nodes and
tensors), graph, scope (scopes around new ops), convert and build (from `Op.__call__` to
a node), constant_values (values known before a run), graphdef/ and protos/ (files).
"""
