"""tf.contrib.image: rotated, translated and otherwise transformed images."""
