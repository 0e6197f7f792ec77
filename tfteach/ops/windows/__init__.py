"""Convolution, pooling, patches and morphology: ops over sliding windows."""
