"""tf.data.experimental and tf.contrib.data: transformations to `apply`."""
