"""Random numbers: TensorFlow's, for TensorFlow's seeds."""
