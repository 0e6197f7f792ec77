"""`tf.while_loop` in eager programs: a loop of Python.

Source: python/ops/control_flow_ops.py, while_loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.type_spec import type_spec_from_value


def run_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    may_be_bare: bool = False,
) -> Any:
    """The loop variables after the last iteration, as `body` returned them.

    Args:
      cond: see `tf.while_loop`.
      body: see `tf.while_loop`.
      loop_vars: a list or tuple.
      may_be_bare: whether `body` may return its only variable without a list.
    """
    structure = nest.map_structure(type_spec_from_value, list(loop_vars))
    is_bare = False
    while cond(*loop_vars):
        loop_vars = body(*loop_vars)
        is_bare = may_be_bare and not isinstance(loop_vars, list | tuple)
        if is_bare:
            loop_vars = (loop_vars,)
        nest.assert_same_structure(structure, list(loop_vars))
    found = nest.map_structure(_tensor, loop_vars, expand_composites=True)
    return found[0] if is_bare else found


def _tensor(value: Any) -> Any:
    return value if isinstance(value, TensorArray) else convert(value)
