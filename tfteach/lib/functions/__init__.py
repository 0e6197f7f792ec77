"""Functions of graphs: `tf.function`, `Defun`, and the ops that call them."""

# They state how arguments of these classes are flattened to tensors.
from tfteach.framework import indexed_slices_spec as _slices
from tfteach.ops.sparse import sparse_tensor_spec as _sparse

__all__ = ["_slices", "_sparse"]
