"""Traced functions: their calls, and why they trace again."""
