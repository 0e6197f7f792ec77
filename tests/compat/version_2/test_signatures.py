"""`tf.compat.v2` has TensorFlow 1.15's names and signatures, as far as it exists."""
