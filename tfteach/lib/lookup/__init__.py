"""Lookup tables: `tf.lookup`, and their names in `tf.contrib.lookup`.

Inputs are key tensors and an initializer of the table; results are values.
`table_initializers.py` has the initializers, `tables.py` the static tables,
`id_tables.py` those with buckets for unknown words, `mutable_tables.py` the mutable
ones, `vocabulary.py` conversions between words and indices.
"""
