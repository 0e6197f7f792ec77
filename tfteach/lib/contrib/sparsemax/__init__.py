"""tf.contrib.sparsemax: a softmax with exact zeros."""
