"""tf.contrib.training: loops, hyperparameters, buckets, samplers."""
