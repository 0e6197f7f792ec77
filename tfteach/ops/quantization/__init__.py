"""Fake quantization: floats rounded to the values that a few bits can represent."""
