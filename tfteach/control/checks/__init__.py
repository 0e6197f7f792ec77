"""Assertions on values, ranks, types and order: `tf.assert_equal` and its family.

Conditions decided by the graph alone are checked while building; others become an
Assert, which runs only if another op depends on it.
"""
