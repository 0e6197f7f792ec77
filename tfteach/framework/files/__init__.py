"""File formats of TensorFlow, and where their bytes are kept."""
