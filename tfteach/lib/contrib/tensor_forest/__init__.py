"""tf.contrib.tensor_forest: random forests that learn from batches."""
