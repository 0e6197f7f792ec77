"""The optimizers' update rules."""
