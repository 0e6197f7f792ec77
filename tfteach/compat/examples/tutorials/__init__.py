"""The data that TensorFlow's tutorials use."""
