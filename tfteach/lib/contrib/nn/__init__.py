"""`tf.contrib.nn`: more losses over drawn classes.  Source: contrib/nn/python/ops."""
