"""`tensorflow.examples.tutorials.mnist`: the import path of most course notes."""

from tfteach.compat.examples.tutorials.mnist import input_data as input_data
