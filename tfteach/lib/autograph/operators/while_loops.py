"""`while_stmt`: a `while` loop.

Source: python/autograph/operators/control_flow.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.loop import while_loop
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import get_default_graph
from tfteach.lib.autograph.operators.checks import (
    Names,
    check_defined_before_loop,
    check_loop_variables,
)
from tfteach.lib.autograph.operators.state import (
    GetState,
    SetState,
    ignore_state,
    no_state,
)
from tfteach.lib.autograph.operators.tensors import is_dense_tensor
from tfteach.lib.autograph.verbosity import warn

# More iterations of a loop of Python are taken for an endless one.
PYTHON_MAX_ITERATIONS = 100_000_000
# After so many, a loop of Python that adds ops is warned of; the next ones are watched.
INEFFICIENT_UNROLL_MIN_ITERATIONS = 3000
_WATCHED = 3


def while_stmt(
    test: Callable[..., Any],
    body: Callable[..., tuple[Any, ...]],
    get_state: GetState = no_state,
    set_state: SetState = ignore_state,
    init_vars: tuple[Any, ...] = (),
    basic_symbol_names: Sequence[str] | None = None,
    composite_symbol_names: Sequence[str] | None = None,
    opts: dict[str, Any] | None = None,
) -> tuple[Any, ...]:
    """Run a loop: by `tf.while_loop`, if its condition is a Tensor.

    Args:
      test: returns the condition, given the variables.
      body: returns the variables after an iteration, given those before it.
      get_state, set_state: read and restore what it assigns beside variables.
      init_vars: the variables before the loop.
      basic_symbol_names: their names.
      composite_symbol_names: the names of the other state.
      opts: further arguments for `tf.while_loop`.

    Returns:
      The variables after the loop.

    Raises:
      TypeError, ValueError: see `tf.while_loop`; the message names the variable.
    """
    # A graph that is thrown away: which kind of loop it is depends on the condition.
    with FuncGraph("tmp").as_default():
        goes_on = test(*init_vars)
    if is_dense_tensor(goes_on):
        names: Names = None
        if basic_symbol_names is not None:
            names = [*basic_symbol_names, *(composite_symbol_names or ())]
        return tf_while(test, body, get_state, set_state, init_vars, names, opts)
    if not goes_on:
        return init_vars
    return _python_while(test, body, body(*init_vars))


def tf_while(
    test: Callable[..., Any],
    body: Callable[..., tuple[Any, ...]],
    get_state: GetState,
    set_state: SetState,
    init_vars: tuple[Any, ...],
    names: Names,
    opts: dict[str, Any] | None = None,
) -> tuple[Any, ...]:
    """`tf.while_loop` with variables and other state; see `while_stmt`.

    Args:
      names: of the variables and the state; None for no check of them.
    """
    check_defined_before_loop(init_vars)
    count = len(init_vars)

    def test_with_state(*values: Any) -> Any:
        set_state(values[count:])
        return test(*values[:count])

    def body_with_state(*values: Any) -> tuple[Any, ...]:
        set_state(values[count:])
        new = body(*values[:count]) + get_state()
        check_loop_variables(values, new, names)
        return new

    found = while_loop(
        test_with_state,
        body_with_state,
        init_vars + get_state(),
        return_same_structure=True,
        **opts or {},
    )
    set_state(found[count:])
    return tuple(found[:count])


def _python_while(
    test: Callable[..., Any], body: Callable[..., tuple[Any, ...]], values: Any
) -> tuple[Any, ...]:
    iterations = 0
    watched_until = INEFFICIENT_UNROLL_MIN_ITERATIONS + _WATCHED
    variables: tuple[Any, ...] = values
    while test(*variables):
        is_watched = INEFFICIENT_UNROLL_MIN_ITERATIONS < iterations <= watched_until
        before = _ops() if is_watched else []
        variables = body(*variables)
        iterations += 1
        if iterations > PYTHON_MAX_ITERATIONS:
            raise ValueError("iteration limit exceeded")
        if is_watched:
            new = tuple(_ops()[len(before) :])
            if new:
                watched_until = 0  # one warning
                warn(
                    "TensorFlow ops are being created in a Python loop with large "
                    "number of iterations. This can lead to slow startup. Did you mean "
                    "to use a TensorFlow loop? For example, `while True:` is a Python "
                    "loop, and `while tf.constant(True):` is a TensorFlow loop. The "
                    "following ops were created after iteration %s: %s",
                    iterations,
                    new,
                )
    return variables


def _ops() -> list[Any]:
    graph = get_default_graph()
    return [] if graph.is_eager else graph.get_operations()
