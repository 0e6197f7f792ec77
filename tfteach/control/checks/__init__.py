"""Checks of values, ranks, types and order: `tf.assert_equal` and its family.

What follows from the graph alone is checked while building; the rest becomes an Assert,
which runs only if something depends on it.
"""
