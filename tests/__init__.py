"""Mirrors the package; golden/ holds files that real TensorFlow wrote."""
