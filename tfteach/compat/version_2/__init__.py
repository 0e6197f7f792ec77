"""`tf.compat.v2`: functions that TensorFlow 2 calls otherwise than TensorFlow 1.

Each is the function of `tf.compat.v1` under another signature: arguments in another
order, older names of arguments gone, other defaults.  Their names in `tf.compat.v2` are
arguments of their `@export`; names that mean the same in both are listed in
`compat/names_v2.txt`.  All are imported on first use.
"""
