"""`tf.contrib.eager`: what eager programs used before it had public names."""
