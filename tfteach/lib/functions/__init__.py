"""Functions of graphs: `tf.function`, `Defun`, and the ops that call them."""

# They state how arguments of these classes are flattened to tensors.
from tfteach.framework import indexed_slices_spec as _slices
from tfteach.lib.data import element_specs as _specs

__all__ = ["_slices", "_specs"]
