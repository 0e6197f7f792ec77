"""tf.contrib.predictor: a SavedModel as a function of dicts of arrays."""
