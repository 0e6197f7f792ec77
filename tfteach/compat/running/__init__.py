"""`python -m tfteach run`: old scripts and notebooks as they are."""
