"""`for_stmt`: a `for` loop.

Source: python/autograph/operators/control_flow.py (API).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfteach.control.branch import cond
from tfteach.control.tensor_array import TensorArray
from tfteach.framework.constant_values import constant_value
from tfteach.framework.operation import Tensor
from tfteach.lib.autograph.operators.checks import (
    Names,
    check_defined_before_loop,
    check_loop_variables,
)
from tfteach.lib.autograph.operators.py_builtins import len_
from tfteach.lib.autograph.operators.state import (
    GetState,
    SetState,
    ignore_state,
    no_state,
)
from tfteach.lib.autograph.operators.tensors import is_range_tensor, is_tensor
from tfteach.lib.autograph.operators.while_loops import tf_while
from tfteach.ops.math.compare import logical_and, logical_or

Variables = tuple[Any, ...]


class ForLoop(NamedTuple):
    """A `for` loop without what it iterates over.

    Attributes:
      extra_test: whether to go on, given the variables; None for always.
      body: the variables after an iteration, given the item and those before it.
      get_state, set_state: read and restore what it assigns beside variables.
      init_vars: the variables before the loop.
      variable_names: their names; None for no check.
      state_names: the names of the other state.
    """

    extra_test: Callable[..., Any] | None
    body: Callable[..., Variables]
    get_state: GetState
    set_state: SetState
    init_vars: Variables
    variable_names: tuple[str | None, ...] | None
    state_names: tuple[str | None, ...]

    def goes_on(self, has_item: Any, variables: Variables) -> Any:
        """Whether there is an item, a bool Tensor, and the loop goes on."""
        test = self.extra_test
        if test is None:
            return has_item
        return cond(has_item, lambda: test(*variables), lambda: False)


def for_stmt(
    iter_: Any,
    extra_test: Callable[..., Any] | None,
    body: Callable[..., Variables],
    get_state: GetState = no_state,
    set_state: SetState = ignore_state,
    init_vars: Variables = (),
    basic_symbol_names: Sequence[str] | None = None,
    composite_symbol_names: Sequence[str] | None = None,
) -> Variables:
    """Run a loop: as ops, if it iterates over a Tensor, a dataset or its iterator.

    An object with a method `_converted_for` runs its own loop, given a `ForLoop`. One
    with `_autograph_for_loop` does so, too, given the test, the body and the variables.

    Args:
      iter_: what to iterate over.
      extra_test: returns whether to go on, given the variables; None for always.
      body: returns the variables after an iteration, given an item and those before.
      get_state, set_state: read and restore what it assigns beside variables.
      init_vars: the variables before the loop.
      basic_symbol_names: their names.
      composite_symbol_names: the names of the other state.

    Returns:
      The variables after the loop.

    Raises:
      TypeError, ValueError: see `tf.while_loop`; the message names the variable.
    """
    names = None if basic_symbol_names is None else tuple(basic_symbol_names)
    loop = ForLoop(
        extra_test,
        body,
        get_state,
        set_state,
        init_vars,
        names,
        tuple(composite_symbol_names or ()),
    )
    if is_tensor(iter_):
        check_defined_before_loop(init_vars)
        return (_over_range if is_range_tensor(iter_) else _over_rows)(iter_, loop)
    own_loop = getattr(iter_, "_converted_for", None)
    if own_loop is not None:
        check_defined_before_loop(init_vars)
        found: Variables = own_loop(loop)
        return found
    custom = getattr(iter_, "_autograph_for_loop", None)
    if custom is not None:
        check_defined_before_loop(init_vars)
        made: Variables = custom(extra_test, body, init_vars)
        return made
    return _over_items(iter_, loop)


def _over_items(items: Any, loop: ForLoop) -> Variables:
    """A loop of Python."""
    variables = loop.init_vars
    for item in items:
        if loop.extra_test is not None and not loop.extra_test(*variables):
            break
        variables = loop.body(item, *variables)
    return variables


def _over_rows(rows: Any, loop: ForLoop) -> Variables:
    """A loop over the first dimension of a Tensor.

    A TensorArray copies the rows; their gradient is cheaper than that of slices.
    """
    size = len_(rows)
    array = TensorArray(rows.dtype, size=size).unstack(rows)

    def body(index: Tensor, *variables: Any) -> Variables:
        new = loop.body(array.read(index), *variables)
        check_loop_variables(variables, new, loop.variable_names)
        return (index + 1, *new)

    def test(index: Tensor, *variables: Any) -> Any:
        return loop.goes_on(index < size, variables)

    return _counted(test, body, 0, loop, None)


def _over_range(numbers: Tensor, loop: ForLoop) -> Variables:
    """A loop over a `tf.range`, which does not compute it."""
    start, limit, delta = numbers.op.inputs

    def body(number: Tensor, *variables: Any) -> Variables:
        new = loop.body(number, *variables)
        return (number + delta, *new)

    def test(number: Tensor, *variables: Any) -> Any:
        step = constant_value(delta)
        if step is None:
            has_number: Any = logical_or(
                logical_and(delta >= 0, number < limit),
                logical_and(delta < 0, number > limit),
            )
        else:
            has_number = number < limit if step >= 0 else number > limit
        return loop.goes_on(has_number, variables)

    names = _all_names(loop)
    return _counted(test, body, start, loop, None if names is None else (None, *names))


def _counted(
    test: Callable[..., Any],
    body: Callable[..., Variables],
    start: Any,
    loop: ForLoop,
    names: Names,
) -> Variables:
    """A loop with a further variable, in front of those of the program."""
    values = (start, *loop.init_vars)
    return tf_while(test, body, loop.get_state, loop.set_state, values, names)[1:]


def _all_names(loop: ForLoop) -> Names:
    if loop.variable_names is None:
        return None
    return (*loop.variable_names, *loop.state_names)
