"""`tf.contrib.checkpoint`: checkpoints of objects, and further objects in them."""
