"""Chains of element-wise ops as one pass over memory."""
