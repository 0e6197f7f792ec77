"""Moving averages of variables and tensors.  Source: training/moving_averages.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.export import export
from tfteach.framework.graph import Operation, get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.replicas import colocated_variables, current_mode
from tfteach.framework.scope import name_scope, open_init_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.training import slot_creator
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.math import division
from tfteach.ops.math.binary import minimum, pow
from tfteach.ops.math.cast import cast
from tfteach.ops.state import ref_variables
from tfteach.ops.state.ref_variables import assign, assign_sub
from tfteach.ops.state.resource_variables import VarHandleOp
from tfteach.variables.base import Variable, VariableSynchronization
from tfteach.variables.collections import (
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from tfteach.variables.initializers import Zeros
from tfteach.variables.scope import get_variable, get_variable_scope, variable_scope

_AVERAGED = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)
_VARIABLES = (ref_variables.Variable, ref_variables.VariableV2, VarHandleOp)


def assign_moving_average(
    variable: Any,
    value: Any,
    decay: Any,
    zero_debias: bool = True,
    name: str | None = None,
) -> Any:
    """Move a variable towards `value`: `v -= (1 - decay) * (v - value)`.

    Args:
      variable: a float Variable.
      value: a Tensor of its shape.
      decay: a number or scalar Tensor, the weight of the old value.
      zero_debias: whether `variable` started at 0, so that it is divided by `1 - decay
        ** steps`; creates two variables, "biased" and "local_step".
      name: the name scope of its ops.

    Returns:
      A Tensor of the new value.

    Source: python/training/moving_averages.py.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rest = convert(1.0 - decay, name="decay")
        dtype = variable.dtype.base_dtype
        if rest.dtype is not dtype:
            rest = cast(rest, dtype)

        def move(variable: Any, value: Any) -> Any:
            if zero_debias:
                return _assign_debiased(variable, value, rest)
            return assign_sub(variable, (variable - value) * rest, name=scope)

        mode = current_mode()
        if mode is None or mode.replica_context is None:
            return move(variable, value)
        if variable.synchronization is VariableSynchronization.ON_READ:
            return move(variable, value)  # each replica has its own

        def merge(strategy: Any, variable: Any, value: Any) -> Any:
            return move(variable, strategy.extended.reduce_to("MEAN", value, variable))

        return mode.replica_context.merge_call(merge, args=(variable, value))


def weighted_moving_average(
    value: TensorLike,
    decay: Any,
    weight: TensorLike,
    truediv: bool = True,
    collections: Any = None,
    name: str | None = None,
) -> Tensor:
    """The moving average of `value * weight` over that of `weight`.

    Args:
      value: a float Tensor of known shape.
      decay: a number, the weight of the old averages.
      weight: a Tensor of the shape of `value`, or one that broadcasts to it.
      truediv: whether integers are divided as floats.
      collections: those of the two variables, "value_x_weight" and "weight"; global
        variables if None.
      name: the name of the result, and of the variables' scope.

    Returns:
      A Tensor of the shape of `value`: the average after this value.

    Source: python/training/moving_averages.py.
    """
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    value = convert(value, name="value")
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:

        def zeros(variable_name: str, dtype: Any) -> Any:
            return get_variable(
                variable_name,
                shape=value.get_shape(),
                dtype=dtype,
                initializer=Zeros(),
                trainable=False,
                collections=collections,
            )

        products = zeros("value_x_weight", value.dtype)
        weights = zeros("weight", value.dtype)
        above = assign_moving_average(products, value * weight, decay, False)
        below = assign_moving_average(weights, weight, decay, False)
        return (division.truediv if truediv else division.div)(
            above, below, name=scope.name
        )


def _assign_debiased(variable: Any, value: Any, rest: Any) -> Any:
    """Set `variable` to an average that started at 0, divided by the sum of weights."""
    name = variable.name.removesuffix(":0")
    scope = variable_scope(name, values=[variable, value, rest])
    with scope, colocated_variables(variable):
        biased = _own_variable("biased", variable.get_shape(), variable)
        steps = _own_variable("local_step", [], variable)
    now = convert(assign_sub(biased, (biased - value) * rest))
    count = steps.assign_add(1)
    factor = 1 - pow(1.0 - rest, count)
    whole = get_default_graph().get_name_scope() + "/"
    return assign(variable, now / factor, name=whole)


def _own_variable(name: str, shape: Any, like: Any) -> Any:
    """A zero variable in the open scope, with a number if the name is taken."""
    scope = get_variable_scope()
    if not scope.reuse:
        every = get_default_graph().collection_list(GraphKeys.GLOBAL_VARIABLES)
        taken = {v.op.name for v in every}
        whole, number = f"{scope.name}/{name}", 0
        while whole + (f"_{number}" if number else "") in taken:
            number += 1
        name += f"_{number}" if number else ""
    return get_variable(
        name, shape, like.dtype.base_dtype, initializer=Zeros(), trainable=False
    )


@export("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Exponential moving averages of variables.

    `average -= (1 - decay) * (average - value)` at each step

    Args:
      decay: the weight of the old average, a number such as 0.999.
      num_updates: the number of steps so far; it limits the decay to `(1 + num_updates)
        / (10 + num_updates)`, which is lower in the first steps.
      zero_debias: whether to correct averages of Tensors for their start at 0.
      name: the name scope of the ops, and the averages' suffix to their variables'
        names.

    Example:
      >>> average = tf.train.ExponentialMovingAverage(0.999)
      >>> with tf.control_dependencies([train]):
      ...     train_and_average = average.apply([weights])
      >>> smooth = average.average(weights)

    Source: python/training/moving_averages.py.
    """

    def __init__(
        self,
        decay: TensorLike,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[int, tuple[Any, Any]] = {}  # id -> (value, its average)

    @property
    def name(self) -> str:
        """The name given to the constructor."""
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> Operation:
        """An op that updates the averages of variables or Tensors.

        Args:
          var_list: float Variables and Tensors; all trainable variables if None.

        Returns:
          The Operation to run in each step.

        Raises:
          TypeError: one of them is not a float; or in an eager program not a Variable.
        """
        values = list(trainable_variables() if var_list is None else var_list)
        if any(isinstance(value, EagerTensor) for value in values):
            raise TypeError(
                "tf.train.ExponentialMovingAverage does not support non-Variable "
                "tensors when eager execution is enabled."
            )
        debiased: set[int] = set()
        for value in values:
            if value.dtype.base_dtype not in _AVERAGED:
                raise TypeError(
                    f"The variables must be half, float, or double: {value.name}"
                )
            if id(value) not in self._averages:
                average = self._make(value)
                self._averages[id(value)] = value, average
                if self._zero_debias and not isinstance(value, Variable):
                    debiased.add(id(value))
        with name_scope(self._name) as scope:
            decay = convert(self._decay, name="decay")
            if self._num_updates is not None:
                count = cast(self._num_updates, dtypes.float32, name="num_updates")
                decay = minimum(decay, (1.0 + count) / (10.0 + count))
            updates = [
                assign_moving_average(
                    self._averages[id(value)][1], value, decay, id(value) in debiased
                )
                for value in values
            ]
            return group(*updates, name=scope)

    def _make(self, value: Any) -> Tensor:
        """Create the variable of an average."""
        graph = get_default_graph()
        with open_init_scope(graph):  # created once, without control dependencies
            if isinstance(value, Variable):
                start = value.initialized_value()
                average = slot_creator.create_slot(value, start, self._name)
                graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, value)
                return average
            return slot_creator.create_zeros_slot(
                value, self._name, is_beside=isinstance(value.op.spec, _VARIABLES)
            )

    def average(self, var: Any) -> Any:
        """The Variable with the average of `var`, or None if there is none."""
        return self._averages.get(id(var), (None, None))[1]

    def average_name(self, var: Any) -> str:
        """The name of the average of `var`, whether or not it exists yet.

        Args:
          var: a Variable.
        """
        average = self.average(var)
        if average is not None:
            return str(average.op.name)
        return get_default_graph().unique_name(
            f"{var.op.name}/{self._name}", mark_as_used=False
        )

    def variables_to_restore(
        self, moving_avg_variables: Iterable[Any] | None = None
    ) -> dict[str, Any]:
        """Checkpoint names that restore variables from their averages.

        Args:
          moving_avg_variables: the variables with averages; if None, all trainable ones
            and those passed to `apply`.

        Returns:
          A dict from names in the checkpoint to Variables, for `tf.train.Saver`.
        """
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = {v.name: v for v in moving_avg_variables}
        found = {self.average_name(v): v for v in averaged.values()}
        for v in global_variables():
            if v.name not in averaged and v.op.name not in found:
                found[v.op.name] = v
        return found
