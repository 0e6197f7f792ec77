"""`x[i]` and `x[i] = y`.

Source: python/autograph/operators/slices.py (API and messages).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.control.list_ops import tensor_list_get_item, tensor_list_set_item
from tfteach.framework.dtypes import string, variant
from tfteach.lib.autograph.operators.tensors import is_tensor, is_tensor_array
from tfteach.ops.array.scatter_nd import tensor_scatter_update
from tfteach.ops.text.string_ops import substr


class GetItemOpts(NamedTuple):
    """What is known of a container.

    Attributes:
      element_dtype: the type of its elements, or None.
    """

    element_dtype: Any


def get_item(target: Any, i: Any, opts: GetItemOpts) -> Any:
    """`target[i]`; a character of a string Tensor, an element of a tensor list.

    Raises:
      ValueError: it is a tensor list, and the type of its elements is unknown.
    """
    if is_tensor_array(target):
        return target.read(i)
    if is_tensor(target):
        if target.dtype == variant:
            if opts.element_dtype is None:
                raise ValueError(
                    "cannot retrieve from a list without knowing its element type; use "
                    "set_element_type to annotate it"
                )
            return tensor_list_get_item(target, i, opts.element_dtype)
        if target.dtype == string and target.shape.ndims == 0:
            return substr(target, i, 1)
    return target[i]


def set_item(target: Any, i: Any, x: Any) -> Any:
    """The container after `target[i] = x`, a new one unless it is Python's."""
    if is_tensor_array(target):
        return target.write(i, x)
    if is_tensor(target):
        if target.dtype == variant:
            return tensor_list_set_item(target, i, x)
        return tensor_scatter_update(target, ((i,),), (x,))
    target[i] = x
    return target
