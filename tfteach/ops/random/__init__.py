"""Random numbers: the same as TensorFlow's for the same seeds."""
