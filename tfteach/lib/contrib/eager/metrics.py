"""`tf.contrib.eager.metrics`: means and accuracies as objects, in both modes.

Source: contrib/eager/python/metrics_impl.py.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.branch import smart_cond
from tfteach.control.checks.values import assert_equal
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import bool_, float64, int64
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.trackable import Trackable
from tfteach.framework.type_aliases import (
    DTypeLike,
    Initializer,
    ShapeLike,
    Structure,
    TensorLike,
)
from tfteach.lib.contrib.summary.summaries import scalar
from tfteach.lib.functions.eager_defun import defun
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.reduce_functions import argmax, reduce_sum
from tfteach.variables.initializers import Zeros
from tfteach.variables.scope import get_variable, variable_scope


@export("contrib.eager.metrics.Metric")
class Metric(Trackable):
    """Base of metrics: `build` makes variables, `call` updates them.

    Calling it updates it: at once in an eager program, else when the ops that the call
    returns run.

    Args:
      name: its name, and that of its variables' scope; that of the class if None.
      use_global_variables: whether they are global instead of local variables.

    Attributes:
      name: the name, with a number if it was taken.
      variables: the variables, once it was called.
      evaluator: the name of the evaluator that has it, or None.

    Example:
      >>> mean = tf.contrib.eager.metrics.Mean("loss")
      >>> update = mean([1.0, 3.0])
      >>> result = mean.result()  # 2.0

    Source: contrib/eager/python/metrics_impl.py.
    """

    def __init__(
        self, name: str | None = None, use_global_variables: bool = False
    ) -> None:
        self._built = False
        self.evaluator: str | None = None
        self._vars: list[Any] = []
        self._initial_values: list[Any] = []
        self._use_global_variables = use_global_variables
        name = name or type(self).__name__
        scope_name = re.sub("[^A-Za-z0-9.]", "_", name)
        with variable_scope(scope_name, use_resource=True, reuse=False) as scope:
            end = scope.name.rfind(scope_name) + len(scope_name)
            self._name, self._scope = name + scope.name[end:], scope
        self.build = self._noting(self.build)  # type: ignore[method-assign]
        self._graph = get_default_graph()
        if not self._graph.is_eager:  # the updates run in the order of the program
            self.call = defun(self.call)  # type: ignore[method-assign]

    def _noting(self, build: Callable[..., None]) -> Callable[..., None]:
        """`build`, which a program may call itself: `__call__` does not again."""

        @functools.wraps(build)
        def built(*args: Any, **kwargs: Any) -> None:
            build(*args, **kwargs)
            self._built = True

        return built

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Update the metric; the arguments are those of `call`."""
        if not self._built:
            with self._graph.as_default(), variable_scope(self._scope):
                self.build(*args, **kwargs)
        return self.call(*args, **kwargs)

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def variables(self) -> list[Any]:
        """The variables."""
        return self._vars

    def init_variables(self) -> Operation:
        """Set the variables to their initial values: an Operation in a graph."""
        if get_default_graph().is_eager:
            for variable, value in zip(self._vars, self._initial_values, strict=True):
                variable.assign(value)
        return group(*[variable.initializer for variable in self._vars])

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Make the variables; called before the first `call`, with its arguments."""
        raise NotImplementedError("Metrics must define a build() member function")

    def call(self, *args: Any, **kwargs: Any) -> Structure:
        """Update the variables."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Structure:
        """The value of the metric, a Tensor."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Structure:
        """The result; in an eager program the function that computes it."""
        return self.result if get_default_graph().is_eager else self.result()

    def aggregate(self, metrics: Sequence[Metric]) -> None:
        """Add the variables of other metrics.

        Args:
          metrics: metrics of the same class.

        Raises:
          TypeError: one is of another class.
          ValueError: its variables have other names.
        """
        for metric in metrics:
            if type(metric) is not type(self):
                raise TypeError(
                    f"All metrics must be the same type, '{type(self)}' != "
                    f"'{type(metric)}'."
                )
        for i, variable in enumerate(self._vars):
            others = [metric._vars[i] for metric in metrics]
            if any(other.name != variable.name for other in others):
                raise ValueError("All metrics must have variables in the same order.")
            variable.assign_add(add_n(others))

    def add_variable(
        self,
        name: str,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | None = None,
        initializer: Initializer | type[Any] | None = None,
    ) -> Any:
        """A variable of the metric, for `build`.

        Args:
          name, shape, dtype, initializer: as for `tf.get_variable`.

        Raises:
          RuntimeError: outside of `build`.
        """
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        is_global = self._use_global_variables
        kind = GraphKeys.GLOBAL_VARIABLES if is_global else GraphKeys.LOCAL_VARIABLES
        made = self._add_variable_with_custom_getter(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            getter=get_variable,
            overwrite=True,
            trainable=False,
            collections=[kind, GraphKeys.METRIC_VARIABLES],
            use_resource=True,
        )
        self._vars.append(made)
        if get_default_graph().is_eager:
            self._initial_values.append(made.value())
        return made


@export("contrib.eager.metrics.Mean")
class Mean(Metric):
    """The mean of values, weighted.

    Args:
      name, use_global_variables: as for `Metric`.
      dtype: the type of the mean.

    Example:
      >>> mean = tf.contrib.eager.metrics.Mean()
      >>> update = mean([1.0, 3.0, 5.0], weights=[1.0, 1.0, 0.0])
      >>> result = mean.result()  # 2.0

    Source: contrib/eager/python/metrics_impl.py.
    """

    def __init__(
        self,
        name: str | None = None,
        dtype: DTypeLike = float64,
        use_global_variables: bool = False,
    ) -> None:
        super().__init__(name, use_global_variables)
        self.dtype = dtype

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Make the variables of the sum and of the weights."""
        self.numer = self.add_variable("numer", (), self.dtype, Zeros)
        self.denom = self.add_variable("denom", (), self.dtype, Zeros)

    def call(self, values: TensorLike, weights: TensorLike | None = None) -> Structure:
        """Add values; returns the arguments.

        Args:
          values: a Tensor of numbers.
          weights: a Tensor that broadcasts to it, or None for ones.
        """
        if weights is None:
            self.denom.assign_add(cast(size(values), self.dtype))
            total = reduce_sum(values)
            self.numer.assign_add(cast(total, self.dtype))
            return total
        weights = cast(weights, self.dtype)
        self.denom.assign_add(reduce_sum(weights))
        weighted = cast(values, self.dtype) * weights
        self.numer.assign_add(reduce_sum(weighted))
        return weighted, weights

    def result(self, write_summary: TensorLike = True) -> Tensor:
        """The mean of all values so far.

        Args:
          write_summary: whether to record it as a scalar of the metric's name, if
            summaries are recorded; see `tf.contrib.summary`.
        """
        write_summary = convert(write_summary)
        mean: Tensor = self.numer / self.denom

        def record() -> Tensor:
            scalar(self.name, mean)
            return mean

        smart_cond(write_summary, record, lambda: mean, name="")
        return mean

    def _add_matches(self, labels: Any, predictions: Any, weights: Any) -> Any:
        matches = cast(equal(labels, predictions), self.dtype)
        Mean.call(self, matches, weights)
        found = labels, predictions
        return found if weights is None else (*found, weights)


_UNEQUAL = "Shapes of labels and predictions are unequal"


class _Accuracy(Mean):
    def __init__(self, name: str | None = None, dtype: DTypeLike = float64) -> None:
        super().__init__(name, dtype)


@export("contrib.eager.metrics.Accuracy")
class Accuracy(_Accuracy):
    """How often predictions are the labels.

    Args:
      name: as for `Metric`.
      dtype: the type of the result.

    Example:
      >>> accuracy = tf.contrib.eager.metrics.Accuracy()
      >>> update = accuracy([1, 2, 3, 4], [0, 2, 3, 4])
      >>> result = accuracy.result()  # 0.75

    Source: contrib/eager/python/metrics_impl.py.
    """

    def call(  # type: ignore[override]
        self,
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
    ) -> Structure:
        """Add labels and predictions of the same shape; returns the arguments."""
        assert_equal(shape(labels), shape(predictions), message=_UNEQUAL)
        return self._add_matches(labels, predictions, weights)


@export("contrib.eager.metrics.CategoricalAccuracy")
class CategoricalAccuracy(_Accuracy):
    """How often the largest prediction is that of the label's one.

    Args:
      name: as for `Metric`.
      dtype: the type of the result.

    Source: contrib/eager/python/metrics_impl.py.
    """

    def call(  # type: ignore[override]
        self,
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
    ) -> Structure:
        """Add one-hot labels and predictions of the same shape."""
        assert_equal(shape(labels), shape(predictions), message=_UNEQUAL)
        return self._add_matches(argmax(labels, -1), argmax(predictions, -1), weights)


@export("contrib.eager.metrics.BinaryAccuracy")
class BinaryAccuracy(Mean):
    """How often predictions above a threshold have the label 1, and others 0.

    Args:
      threshold: such as 0.5 for probabilities, 0 for logits.
      name: as for `Metric`.
      dtype: the type of the result.

    Source: contrib/eager/python/metrics_impl.py.
    """

    def __init__(
        self, threshold: float, name: str | None = None, dtype: DTypeLike = float64
    ) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def call(  # type: ignore[override]
        self,
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
    ) -> Structure:
        """Add labels and predictions of the same shape."""
        assert_equal(shape(labels), shape(predictions), message=_UNEQUAL)
        above = convert(predictions) > self.threshold
        return self._add_matches(cast(labels, bool_), above, weights)


@export("contrib.eager.metrics.SparseAccuracy")
class SparseAccuracy(_Accuracy):
    """How often the largest prediction is that of the label, a number.

    Args:
      name: as for `Metric`.
      dtype: the type of the result.

    Source: contrib/eager/python/metrics_impl.py.
    """

    def call(  # type: ignore[override]
        self,
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
    ) -> Structure:
        """Add labels, and predictions with one axis more."""
        message = "First axis of labels and predictions is unequal"
        assert_equal(shape(labels), shape(predictions)[0], message=message)
        return self._add_matches(cast(labels, int64), argmax(predictions, -1), weights)
