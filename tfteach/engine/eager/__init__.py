"""Eager execution: each op runs as soon as it is called."""
