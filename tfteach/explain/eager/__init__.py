"""Code that runs eagerly."""
