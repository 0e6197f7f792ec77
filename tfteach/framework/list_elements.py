"""Static types and shapes of the elements of tensor lists.

A list is a variant scalar, so its own static shape says nothing about its elements.
Source: core/framework/shape_inference.h (shapes and types of handles).
"""

from __future__ import annotations

from typing import NamedTuple

from tfteach.framework import shape as shapes
from tfteach.framework.constant_values import known_values
from tfteach.framework.dtypes import DType
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import Shape


class ListElements(NamedTuple):
    """The element type of a tensor list, and what is known of the elements' shape."""

    dtype: DType
    shape: Shape


def list_elements(handle: Tensor) -> ListElements | None:
    """The type and static shape of a list's elements; None if nothing is known.

    They are those of the op that created the list: the ops that change elements, or
    their number, have the same. The result is cached, because a program may build
    thousands of such ops in a row.
    """
    cached = known_values(handle.op.graph).lists
    path = []
    while handle not in cached:
        path.append(handle)
        op = handle.op
        if op.spec.must_be_fed:
            outer = op.graph.captured_from(handle)
            found = None if outer is None else list_elements(outer)
        elif handle.value_index:
            found = None  # an element of a list of lists
        elif op.spec.passes_list:
            handle = op.inputs[0]
            continue
        else:
            found = op.spec.list_elements(op)
        break
    else:
        found = cached[handle]
    for passed in reversed(path):
        if found is None and not passed.value_index and passed.op.spec.passes_list:
            found = passed.op.spec.list_elements(passed.op)
        cached[passed] = found
    return found


def merged_elements(
    a: ListElements | None, b: ListElements | None
) -> ListElements | None:
    """What two lists of the same elements state together.

    Raises:
      ValueError: their shapes are incompatible.
    """
    if a is None or b is None:
        return b if a is None else a
    return ListElements(a.dtype, shapes.merge(a.shape, b.shape))
