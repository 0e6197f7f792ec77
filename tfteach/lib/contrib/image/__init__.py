"""tf.contrib.image: rotated, shifted and otherwise transformed images."""
