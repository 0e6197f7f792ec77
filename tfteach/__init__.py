"""TensorFlow 1's graphs and sessions on NumPy and CuPy, made to be seen."""

__version__ = "0.1.0"
