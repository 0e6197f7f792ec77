"""Sparse tensors, sets and edit distances."""
