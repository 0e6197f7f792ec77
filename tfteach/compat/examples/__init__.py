"""Example data: MNIST as TensorFlow's tutorials read it, and synthetic digits."""

from tfteach.compat.examples.synthetic import synthetic_mnist as synthetic_mnist
from tfteach.compat.examples.synthetic import (
    write_synthetic_mnist as write_synthetic_mnist,
)
