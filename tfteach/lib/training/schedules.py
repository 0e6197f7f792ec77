"""Learning rates as functions of the step.

In an eager program each returns a function without arguments, which an optimizer calls
at every step.

Source: python/training/learning_rate_decay.py,
python/keras/optimizer_v2/learning_rate_schedule.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ParamSpec

from tfteach.control.branch import cond
from tfteach.control.case import case
from tfteach.framework.convert import convert, convert_n_to_tensor
from tfteach.framework.dtypes import int32, int64
from tfteach.framework.export import export
from tfteach.framework.graph import Tensor, get_default_graph
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.constant import constant
from tfteach.ops.math.binary import add, minimum, pow
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.division import divide
from tfteach.ops.math.exponential import exp
from tfteach.ops.math.multiply import multiply
from tfteach.ops.math.rounding import ceil, floor
from tfteach.ops.math.unary import negative

P = ParamSpec("P")


def schedule(rate: Callable[P, Tensor]) -> Callable[P, Any]:
    """Decorator: calls in an eager program return a function that computes the rate."""

    @functools.wraps(rate)
    def called(*args: P.args, **kwargs: P.kwargs) -> Tensor | Callable[[], Tensor]:
        if get_default_graph().is_eager:
            return functools.partial(rate, *args, **kwargs)
        return rate(*args, **kwargs)

    return called


def _need_step(step: Any, name: str) -> None:
    if step is None:
        raise ValueError(f"None values not supported. {name} needs a global_step.")


def decay_scope(name: str | None) -> Any:
    """A name scope for schedules, whose names must be strings.

    Raises:
      ValueError: `name` is not a string.
    """
    if not isinstance(name, str):
        raise ValueError(f"name for name_scope must be a string. Got {name!r}")
    return name_scope(name)


@contextmanager
def _scope(name: str | None, default: str, rate: Any) -> Iterator[tuple[str, Tensor]]:
    """The schedule's name scope, and the learning rate as a Tensor in it."""
    with decay_scope(name or default) as scope:
        yield scope, convert(rate, name="initial_learning_rate")


@export("train.exponential_decay")
@schedule
def exponential_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate * decay_rate ** (global_step / decay_steps)`

    Args:
      learning_rate: the rate at step 0, a number or scalar float Tensor.
      global_step: an integer variable, Tensor or number.
      decay_steps: the number of steps in which `decay_rate` is applied once.
      decay_rate: the factor.
      staircase: round `global_step / decay_steps` down.
      name: the name scope of the ops.

    Returns:
      A scalar Tensor of `learning_rate`'s type, in an eager program a function that
      returns it.

    Raises:
      ValueError: `global_step` is None.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> rate = tf.train.exponential_decay(0.1, step, 1000, 0.96)

    Source: python/training/learning_rate_decay.py.
    """
    _need_step(global_step, "exponential_decay")
    with _scope(name, "ExponentialDecay", learning_rate) as (scope, initial):
        dtype = initial.dtype.base_dtype
        steps, factor = cast(decay_steps, dtype), cast(decay_rate, dtype)
        progress = cast(global_step, dtype) / steps
        if staircase:
            progress = floor(progress)
        return multiply(initial, pow(factor, progress), name=scope)


@export("train.natural_exp_decay")
def natural_exp_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate * exp(-decay_rate * global_step / decay_steps)`

    Arguments and result as for `tf.train.exponential_decay`.
    """
    factor = exp(negative(decay_rate))
    return exponential_decay(  # type: ignore[no-any-return]
        learning_rate, global_step, decay_steps, factor, staircase, name
    )


@export("train.inverse_time_decay")
@schedule
def inverse_time_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`

    Arguments and result as for `tf.train.exponential_decay`.
    """
    _need_step(global_step, "inverse_time_decay")
    with _scope(name, "InverseTimeDecay", learning_rate) as (scope, initial):
        dtype = initial.dtype.base_dtype
        steps, factor = cast(decay_steps, dtype), cast(decay_rate, dtype)
        progress = cast(global_step, dtype) / steps
        if staircase:
            progress = floor(progress)
        one = cast(constant(1), dtype)
        result: Tensor = divide(
            initial, add(one, multiply(factor, progress)), name=scope
        )
        return result


@export("train.polynomial_decay")
@schedule
def polynomial_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """From `learning_rate` down to `end_learning_rate` in `decay_steps` steps.

    `(learning_rate - end) * (1 - min(step, decay_steps) / decay_steps) ** power + end`

    Args:
      learning_rate: the rate at step 0, a number or scalar float Tensor.
      global_step: an integer variable, Tensor or number.
      decay_steps: the number of steps of the decay.
      end_learning_rate: the final rate.
      power: the exponent; 1.0 is linear.
      cycle: restart, with a multiple of `decay_steps`, whenever the end is reached.
      name: the name scope of the ops.

    Returns:
      A scalar Tensor of `learning_rate`'s type, in an eager program a function that
      returns it.

    Raises:
      ValueError: `global_step` is None.
    """
    _need_step(global_step, "polynomial_decay")
    with _scope(name, "PolynomialDecay", learning_rate) as (scope, initial):
        dtype = initial.dtype.base_dtype
        end, exponent = cast(end_learning_rate, dtype), cast(power, dtype)
        step, steps = cast(global_step, dtype), cast(decay_steps, dtype)
        if cycle:
            times = cond(equal(step, 0), lambda: 1.0, lambda: ceil(step / decay_steps))
            steps = multiply(steps, times)
        else:
            step = minimum(step, decay_steps)
        progress = divide(step, steps)
        span = initial - end
        return add(multiply(span, pow(1 - progress, exponent)), end, name=scope)


@export("train.piecewise_constant", "train.piecewise_constant_decay")
def piecewise_constant(
    x: TensorLike,
    boundaries: Sequence[Any],
    values: Sequence[Any],
    name: str | None = None,
) -> Tensor:
    """`values[i]` while `boundaries[i - 1] < x <= boundaries[i]`

    Args:
      x: the step, a scalar variable, Tensor or number.
      boundaries: increasing numbers of `x`'s type.
      values: one more than `boundaries`, all of one type.
      name: the name scope of the ops.

    Returns:
      A scalar Tensor of the values' type, in an eager program a function that returns
      it.

    Raises:
      ValueError: the types or the numbers of values do not match.

    Example:
      >>> rate = tf.train.piecewise_constant(step, [1000, 2000], [0.1, 0.01, 0.001])
    """
    bounds, levels = convert_n_to_tensor(boundaries), convert_n_to_tensor(values)
    step = convert(x)
    kind = step.dtype.base_dtype
    for i, bound in enumerate(bounds):
        own = bound.dtype.base_dtype
        if own is int32 and kind is int64:
            bounds[i] = cast(bound, kind)
        elif own is not kind:
            raise ValueError(
                f"Boundaries ({own}) must have the same dtype as x ({kind})."
            )
    first = levels[0].dtype.base_dtype
    for level in levels[1:]:
        if level.dtype.base_dtype is not first:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({first} vs {level.dtype.base_dtype})."
            )
    if len(bounds) != len(levels) - 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of values"
        )
    rate: Tensor = _level(x, bounds, levels, name)
    return rate


@schedule
def _level(
    x: TensorLike, bounds: Sequence[Tensor], levels: Sequence[Tensor], name: str | None
) -> Tensor:
    with decay_scope(name or "PiecewiseConstant"):
        step = convert(x)
        choices = [
            (step <= bounds[0], lambda: levels[0]),
            (step > bounds[-1], lambda: levels[-1]),
        ]
        for low, high, level in zip(bounds, bounds[1:], levels[1:-1], strict=False):
            inside = (step > low) & (step <= high)
            choices.append((inside, lambda level=level: level))  # type: ignore[misc]
        result: Tensor = case(choices, lambda: levels[0], exclusive=True)
        return result
