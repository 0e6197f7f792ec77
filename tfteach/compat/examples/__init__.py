"""Data to learn with: MNIST as TensorFlow's tutorials read it, and drawn digits."""

from tfteach.compat.examples.synthetic import synthetic_mnist as synthetic_mnist
from tfteach.compat.examples.synthetic import (
    write_synthetic_mnist as write_synthetic_mnist,
)
