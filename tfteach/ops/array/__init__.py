"""Ops that rearrange, select, pad or count elements."""
