"""`tf.contrib.opt`: more optimizers.  Source: contrib/opt/python/training."""
