"""`switch_case`: branches selected by index.

Source: python/ops/control_flow_ops.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.control.branch import Branch
from tfteach.control.cond_v2 import switch_case_v2
from tfteach.framework import dtypes
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope


@export("switch_case")
def switch_case(
    branch_index: Tensor,
    branch_fns: Any,
    default: Branch | None = None,
    name: str = "switch_case",
) -> Any:
    """The results of the function with index `branch_index`.

    It is one Case node with a function of the graph's library for each branch.

    Args:
      branch_index: an int32 scalar Tensor.
      branch_fns: a list of functions without arguments, a list of pairs (index,
        function), or a dict by index; the indices are 0, 1, 2 ...
      default: the function for all other indices (the last one if None).
      name: the name scope of the new operations.

    Returns:
      Tensors in the structure that the functions return.  In an eager program whatever
      the chosen function returns, the only one that is called.

    Raises:
      TypeError: `branch_index` is not an int32 Tensor, an entry of `branch_fns` is not
        a function, or the functions return different structures or types.
      ValueError: there are no functions, or the indices have gaps.

    Example:
      >>> k = tf.constant(1)
      >>> tf.switch_case(k, [lambda: tf.constant(10), lambda: tf.constant(20)])  # 20

    Source: python/ops/control_flow_ops.py, switch_case.
    """
    actions = _checked_branches(branch_index, branch_fns)
    if default is not None:
        actions.append(default)
    if get_default_graph().is_eager:
        index = int(branch_index)  # type: ignore[call-overload]
        with name_scope(name):
            return actions[index if 0 <= index < len(actions) else -1]()
    return switch_case_v2(branch_index, actions, name)


def _checked_branches(index: Any, branches: Any) -> list[Branch]:
    if not isinstance(index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(index)}")
    if not index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {index.dtype!r}")
    if index.dtype.base_dtype is not dtypes.int32 and not get_default_graph().is_eager:
        raise TypeError(
            f"Input 'branch_index' of 'Case' Op has type {index.dtype.name} that does "
            "not match expected type of int32."
        )
    if not branches:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branches, list | tuple | dict):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    items = list(branches.items() if isinstance(branches, dict) else branches)
    if all(callable(item) for item in items):
        items = list(enumerate(items))
    for item in items:
        if not isinstance(item, tuple) or len(item) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        key, function = item
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
        if not callable(function):
            raise TypeError(f"fn for key {key} must be callable.")
    keys = sorted(key for key, _ in items)
    if keys != list(range(len(keys))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) "
            f"but found {{{','.join(map(str, keys))}}}"
        )
    return [function for _, function in sorted(items, key=lambda item: item[0])]
