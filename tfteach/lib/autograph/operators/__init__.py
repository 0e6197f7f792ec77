"""What converted functions call in place of Python's statements and operators."""
