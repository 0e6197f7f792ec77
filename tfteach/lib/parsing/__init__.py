"""`tf.parse_example` and its siblings, and the descriptions of features."""
