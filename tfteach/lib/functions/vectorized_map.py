"""`vectorized_map`: a traced function of each element along the first axis.

TensorFlow rewrites the ops of the function to ops of all elements; here they run in a
loop.
Source: python/ops/parallel_for/control_flow_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.functional import map_fn
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import Structure, TensorLike
from tfteach.lib.functions.eager_defun import defun


@export("vectorized_map")
def vectorized_map(fn: Callable[[Any], Structure], elems: TensorLike) -> Structure:
    """`fn` applied to each element along the first axis, as by `tf.map_fn`.

    The types of the results need not be those of `elems`. `fn` is called once, with
    symbolic tensors, also in eager programs.

    Args:
      fn: accepts one element in the structure of `elems`, returns tensors.
      elems: a Tensor [n, ...], or a nested structure of them.

    Returns:
      Tensors [n, ...] in the structure that `fn` returns.

    Raises:
      NotImplementedError: `fn` returns an Operation.

    Example:
      >>> tf.vectorized_map(lambda x: tf.reduce_sum(x), tf.ones([2, 3]))  # [3, 3]

    Source: python/ops/parallel_for/control_flow_ops.py.
    """
    elems = nest.map_structure(convert, elems)
    if get_default_graph().is_eager:
        return defun(lambda: _mapped(fn, elems))()
    return _mapped(fn, elems)


def _mapped(fn: Callable[[Any], Structure], elems: Any) -> Any:
    element = nest.map_structure(lambda t: TensorSpec(t.shape[1:], t.dtype), elems)
    function: Any = defun(fn)
    traced = function.get_concrete_function(element)
    found = traced.structured_outputs
    if any(isinstance(value, Operation) for value in nest.flatten(found)):
        raise NotImplementedError("vectorized_map: `fn` returns an Operation")
    types = nest.map_structure(lambda t: t.dtype, found)
    return map_fn(lambda x: traced(*nest.flatten(x)), elems, types)
