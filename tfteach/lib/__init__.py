"""TensorFlow's libraries on top of graphs and variables: layers, training, files..."""
