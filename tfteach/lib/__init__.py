"""TensorFlow's libraries based on graphs and variables: layers, training, files..."""
