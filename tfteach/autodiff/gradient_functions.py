"""Functions that return gradients of functions, by a tape around the call.

Source: python/eager/backprop.py (API and messages).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.autodiff.gradient_tape import GradientTape
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Structure
from tfteach.ops.core.identity_reshape import identity

Params = Sequence[int | str] | None
Differentiated = Callable[..., Structure]

NO_KEYWORDS = "Functions to be differentiated cannot receive keyword arguments."


@export("contrib.eager.gradients_function")
def gradients_function(f: Differentiated, params: Params = None) -> Differentiated:
    """A function that returns the gradients of `f` at its arguments.

    Args:
      f: a function of Tensors.
      params: the arguments to differentiate by, by number or name; all if None.

    Returns:
      A function of the same arguments, and of `dy`, the weight of the result, which
      returns a list of Tensors.

    Raises:
      ValueError: (when called) `f` returns None, an argument is given by name, or
        `params` names none of its arguments.

    Example:
      >>> tf.contrib.eager.gradients_function(lambda x: x * x)(3.0)  # [6.0]
    """
    both = val_and_grad_function(f, params)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


@export("contrib.eager.value_and_gradients_function")
def val_and_grad_function(f: Differentiated, params: Params = None) -> Differentiated:
    """`gradients_function` for a function that returns (value, gradients)."""

    def decorated(*args: Any, **kwargs: Any) -> Structure:
        dy = kwargs.pop("dy", None)
        if kwargs:
            raise ValueError(NO_KEYWORDS)
        value, vjp = make_vjp(f, params)(*args)
        return value, vjp(dy)

    return decorated


def make_vjp(
    f: Differentiated, params: Params = None, persistent: bool = True
) -> Differentiated:
    """A function that returns the value of `f`, and its vector-Jacobian product.

    Args:
      f: a function of Tensors.
      params: the arguments to differentiate by, by number or name; all if None.
      persistent: whether the product can be computed several times.

    Returns:
      A function of the same arguments that returns (value, vjp); `vjp(dy)` are the
      gradients of the sum of the value, weighted by `dy`.

    Raises:
      ValueError: (when called) as for `gradients_function`.
    """

    def decorated(*args: Any, **kwargs: Any) -> Structure:
        if kwargs:
            raise ValueError(NO_KEYWORDS)
        values = list(args)
        tape = GradientTape(persistent)
        sources: list[Any] = []
        for i in _positions(f, params, len(args)):
            if not isinstance(values[i], Tensor) and not _is_variable(values[i]):
                values[i] = convert(values[i])
            if any(values[i] is other for other in values[:i]):
                values[i] = identity(values[i])  # an argument of its own
            sources.append(values[i])
        with tape:
            tape.watch(sources)
            result = _result(f, values)
            targets = [convert(x) for x in nest.flatten(result)]

        def vjp(dy: Any = None) -> Structure:
            weights = None if dy is None else [convert(x) for x in nest.flatten(dy)]
            return tape.gradient(targets, sources, weights)

        return nest.pack_sequence_as(result, targets), vjp

    return decorated


@export("contrib.eager.implicit_value_and_gradients")
def implicit_val_and_grad(f: Differentiated) -> Differentiated:
    """A function that returns the value of `f`, and gradients of variables it reads.

    Args:
      f: a function that returns a Tensor, and reads trainable variables.

    Returns:
      A function of the same arguments that returns (value, [(gradient, variable), ...])
      with pairs as for `Optimizer.apply_gradients`.

    Raises:
      ValueError: (when called) `f` returns None, or reads no trainable variable.
    """

    def decorated(*args: Any, **kwargs: Any) -> Structure:
        tape = GradientTape()
        with tape:
            result = _result(f, args, **kwargs)
        variables = list(tape.watched_variables())
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being "
                "computed."
            )
        grads = tape.gradient(result, variables)
        return result, list(zip(grads, variables, strict=True))

    return decorated


@export("contrib.eager.implicit_gradients")
def implicit_grad(f: Differentiated) -> Differentiated:
    """`implicit_val_and_grad` for a function that returns only the gradients."""
    both = implicit_val_and_grad(f)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


def _result(f: Differentiated, args: Sequence[Any], **kwargs: Any) -> Structure:
    found = f(*args, **kwargs)
    if found is None:
        name = getattr(f, "__name__", f)
        raise ValueError(
            "Cannot differentiate a function that returns None; did you forget to "
            f"return a value from {name}?"
        )
    return found


def _is_variable(value: Any) -> bool:
    return hasattr(value, "handle")


def _positions(f: Differentiated, params: Params, count: int) -> list[int]:
    """The numbers of the arguments to differentiate by."""
    if params is None:
        return list(range(count))
    names = [p for p in inspect.signature(f).parameters if isinstance(p, str)]
    found = [names.index(p) if isinstance(p, str) else p for p in params]
    for number in found:
        if not 0 <= number < count:
            raise IndexError(f"list index out of range: no argument {number}")
    return found
