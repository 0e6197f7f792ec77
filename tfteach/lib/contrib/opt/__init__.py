"""`tf.contrib.opt`: further optimizers.  Source: contrib/opt/python/training."""
