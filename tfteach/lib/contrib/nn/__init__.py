"""`tf.contrib.nn`: further sampled losses.  Source: contrib/nn/python/ops."""
