"""`recompute_grad`: gradients that compute a function again instead of storing.

Source: contrib/layers/python/layers/rev_block_lib.py.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence, Set
from typing import Any

from tfteach.autodiff.custom_gradient import custom_gradient
from tfteach.autodiff.gradient_tape import GradientTape
from tfteach.framework import nest
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.lib.contrib.framework.arguments import arg_scope, current_arg_scope
from tfteach.ops.core.control_flow_ops import tuple_
from tfteach.ops.core.identity_reshape import identity
from tfteach.variables.base import Variable
from tfteach.variables.scope import get_variable_scope, variable_scope

Function = Callable[..., Any]
_OTHER_VARIABLES = (
    "The variables used on recompute were different than the variables originally "
    "used. Did the function open a scope with a default name, and was it called twice "
    "in the same scope? Call it in a scope of its own each time."
)
_DEFAULT = "__rev_block_lib_default"


@export("contrib.layers.recompute_grad")
def recompute_grad(
    fn: Function | None = None,
    use_data_dep: bool | str = _DEFAULT,
    tupleize_grads: bool = False,
) -> Function:
    """A decorator: the function is called again where its gradient is computed.

    Nothing that it computes is stored in between.  Its variables must be resource
    variables; `tf.get_variable` finds them again.

    Args:
      fn: a function of Tensors, given by position, that returns one or a sequence.  If
        it has an argument `is_recomputing`, that says whether it is called again.
      use_data_dep: of no effect: where the second call waits for the gradients by
        control dependencies, as here, TensorFlow needs none of data.
      tupleize_grads: whether no gradient is used before all are computed.

    Returns:
      The function, or a decorator if `fn` is None.

    Raises:
      ValueError: it uses a Tensor or a variable of the function around it; an argument
        is no Tensor; or the second call uses other variables.

    Example:
      >>> @tf.contrib.layers.recompute_grad
      ... def layer(x):
      ...     return tf.layers.dense(x, 2, activation=tf.nn.relu)
      >>> with tf.variable_scope("first", use_resource=True):
      ...     y = layer(tf.ones([1, 3]))

    Source: contrib/layers/python/layers/rev_block_lib.py.
    """
    if fn is None:
        return functools.partial(
            recompute_grad, use_data_dep=use_data_dep, tupleize_grads=tupleize_grads
        )
    _check_closure(fn)

    @functools.wraps(fn)
    def wrapped(*args: Any) -> Any:
        if not all(isinstance(arg, Tensor) for arg in args):
            raise ValueError("All inputs to function must be Tensors")
        return custom_gradient(functools.partial(_forward, fn, tupleize_grads))(*args)

    return wrapped


def _check_closure(fn: Function) -> None:
    for name, value in inspect.getclosurevars(fn).nonlocals.items():
        if isinstance(value, Tensor | Variable):
            raise ValueError(
                f"fn decorated with @recompute_grad closes over Tensor {value.name} "
                f"(local variable name: {name}). The decorated fn must not close over "
                "Tensors or Variables because gradients will NOT be computed for them "
                "through fn. To ensure correct gradients, make the Tensor an input to "
                "fn."
            )


def _call(fn: Function, args: Sequence[Tensor], again: bool) -> Any:
    takes_flag = "is_recomputing" in inspect.signature(fn).parameters
    return fn(*args, **({"is_recomputing": again} if takes_flag else {}))


def _forward(fn: Function, tupleize: bool, *args: Tensor) -> tuple[Any, Function]:
    """The outputs of the first call, and the function of their gradients."""
    scope, defaults = get_variable_scope(), current_arg_scope()
    with GradientTape() as first:
        outputs = _call(fn, args, again=False)
    used = set(first.watched_variables())

    def grad(output_grads: Sequence[Tensor], variables: Sequence[Any]) -> Any:
        inputs = [identity(x) for x in args]
        waits = [g for g in output_grads if g is not None]
        with (
            control_dependencies(waits),
            arg_scope(defaults),
            variable_scope(scope, reuse=True),
            GradientTape() as tape,
        ):
            tape.watch(inputs)
            found = nest.flatten(_call(fn, inputs, again=True))
        if not used == set(variables) == set(tape.watched_variables()):
            raise ValueError(_OTHER_VARIABLES)
        sources = [*inputs, *variables]
        grads: Any = tape.gradient(found, sources, output_gradients=[*output_grads])
        if tupleize:
            grads = tuple_(grads)
        return grads[: len(inputs)], grads[len(inputs) :]

    return outputs, with_variables(grad, used)


def with_variables(
    grad: Callable[[Sequence[Tensor], Sequence[Any]], tuple[Any, Any]], used: Set[Any]
) -> Function:
    """A function of gradients for `custom_gradient`.

    Args:
      grad: from the gradients of the outputs, and variables, to the gradients of the
        inputs and of the variables.
      used: the variables that were used: if there are none, the function does not have
        the argument `variables`.
    """
    if not used:
        return lambda *grads: grad(grads, ())[0]

    def with_some(*grads: Tensor, variables: Sequence[Any]) -> Any:
        return grad(grads, variables)

    return with_some
