"""For code written against real TensorFlow: its import paths, old names, switches."""
