"""What TensorFlow builds on graphs and variables: layers, losses, training, files..."""
