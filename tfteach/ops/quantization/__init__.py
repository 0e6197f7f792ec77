"""Fake quantization: floats rounded to what a few bits can hold."""
