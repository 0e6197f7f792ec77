"""Checks of values, ranks, types and order: `tf.assert_equal` and its family.

What the graph alone can tell is checked at once; the rest becomes an Assert, which runs
only if something depends on it.
"""
