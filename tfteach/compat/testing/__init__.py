"""`tf.test`: test cases for graphs, and gradients checked by numbers."""
