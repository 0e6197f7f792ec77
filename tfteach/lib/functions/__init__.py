"""Functions defined in Python: `Defun`."""
