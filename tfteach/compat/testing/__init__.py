"""`tf.test`: test cases for graphs, and numerical checks of gradients."""
