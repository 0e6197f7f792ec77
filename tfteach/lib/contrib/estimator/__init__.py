"""tf.contrib.estimator: heads, and what wraps estimators and optimizers."""
