"""tf.contrib.training: loops, hyperparameters, buckets, samplers, state savers."""
