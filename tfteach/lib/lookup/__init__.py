"""Lookup tables: `tf.lookup`, and the names that `tf.contrib.lookup` gives them.

What enters are keys, as tensors, and a way to fill the table; what leaves are values.
`table_initializers.py` says with what a table is filled, `tables.py` has the tables
themselves, `vocabulary.py` the short ways from a word to its index and back.
"""
