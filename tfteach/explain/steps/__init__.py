"""A run op by op, with its values."""
