"""`if_stmt`: an `if` statement, or a conditional expression.

Source: python/autograph/operators/control_flow.py (API).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.branch import cond as tf_cond
from tfteach.lib.autograph.operators.checks import (
    check_branch_results,
    check_defined_in_branch,
)
from tfteach.lib.autograph.operators.state import (
    GetState,
    SetState,
    ignore_state,
    no_state,
)
from tfteach.lib.autograph.operators.tensors import is_dense_tensor
from tfteach.ops.core.constant import constant


def if_stmt(
    cond: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    get_state: GetState = no_state,
    set_state: SetState = ignore_state,
    basic_symbol_names: Sequence[str] | None = None,
    composite_symbol_names: Sequence[str] | None = None,
) -> Any:
    """Run one of two branches: by `tf.cond`, if the condition is a Tensor.

    Args:
      cond: the condition.
      body, orelse: the branches, which return the values of the variables that they
        assign: one, or a tuple.
      get_state, set_state: read and restore what they assign beside variables, such as
        attributes.
      basic_symbol_names: the variables; None for an expression.
      composite_symbol_names: the names of the other state.

    Returns:
      The results of the branch.

    Raises:
      TypeError: the condition is a Tensor, and the branches differ in the structures or
        types of what they return.
      ValueError: it is a Tensor, and a branch leaves a variable without a value.
    """
    if not is_dense_tensor(cond):
        return body() if cond else orelse()
    is_without_results = basic_symbol_names is not None and not basic_symbol_names
    names = None
    if basic_symbol_names is not None:
        names = [*basic_symbol_names, *(composite_symbol_names or ())]
    is_single = basic_symbol_names is not None and len(basic_symbol_names) == 1
    built: dict[str, list[Any]] = {}  # branch -> its results

    def build(branch: str, function: Callable[[], Any]) -> Any:
        before = get_state()
        results = function()
        is_tuple = isinstance(results, tuple) and not is_single
        values = results if is_tuple else (results,)
        if is_without_results:
            values = ()
        check_defined_in_branch(values, branch)
        if results is None and is_without_results:
            results = constant(1)  # a branch of a graph returns something
        state = get_state()
        set_state(before)
        built[branch] = [*values, *state]
        if len(built) == 2:
            check_branch_results(built["if"], built["else"], names)
        return results, state

    results, state = tf_cond(
        cond, lambda: build("if", body), lambda: build("else", orelse)
    )
    set_state(state)
    return None if is_without_results else results
