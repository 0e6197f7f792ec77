"""`Layer`: the calls of all layers, and their scopes.

The first call opens a variable scope with the layer's name and creates the variables;
later calls reuse them.  The ops are created in that scope's name scope.
Source: python/layers/base.py, python/keras/engine/base_layer.py.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, bool_, float32
from tfteach.framework.export import export
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope, open_init_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.trackable import Trackable
from tfteach.framework.type_aliases import (
    Constraint,
    DTypeLike,
    Initializer,
    Partitioner,
    Regularizer,
    ShapeLike,
    TensorLike,
)
from tfteach.lib.layers import activations_by_name
from tfteach.lib.layers.call_context import call_context, entered
from tfteach.lib.layers.layer_names import snake_case, unique_layer_name
from tfteach.lib.layers.losses_and_updates import (
    LossesAndUpdates,
    collect,
    runs_at_once,
)
from tfteach.lib.layers.specs import check_inputs
from tfteach.lib.layers.weights import Weights
from tfteach.ops.core.placeholder import placeholder_with_default
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import cast
from tfteach.variables.base import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from tfteach.variables.creation import makes_eager_variables
from tfteach.variables.partitioned import PartitionedVariable
from tfteach.variables.scope import VariableScope, get_variable, variable_scope


@export("layers.Layer")
class Layer(LossesAndUpdates, Weights, Trackable):
    """Base of all layers: `build` creates the variables, `call` the ops.

    Args:
      trainable: whether its variables are added to `tf.GraphKeys.TRAINABLE_VARIABLES`.
      name: the name of its scope; derived from the class's name if None.
      dtype: the variables' type; the first input's if None.
      activity_regularizer: a function from an output to a loss.
      _scope: a variable scope (or its name) to enter immediately.
      _reuse: True: the variables must exist; tf.AUTO_REUSE: create or share them.

    Attributes:
      name: the given name, or the class's name and a number.
      scope_name: the name of the variable scope, once the layer has been called.
      dtype: the variables' type as a name; None before the first call.
      built: whether the variables have been created.
      trainable_weights, non_trainable_weights, weights (and ..._variables, variables).
      updates: operations that a training step should run, such as moving averages.
      losses: Tensors of the regularizers.

    Example:
      >>> class Scale(tf.layers.Layer):
      ...     def build(self, input_shape):
      ...         self.factor = self.add_variable("factor", [])
      ...         super().build(input_shape)
      ...     def call(self, inputs):
      ...         return inputs * self.factor
      >>> Scale()(tf.ones([2, 3]))
      <tf.Tensor 'scale/mul:0' shape=(2, 3) dtype=float32>
    """

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self.activity_regularizer = activations_by_name.function(
            "regularizer", kwargs.pop("activity_regularizer", None)
        )
        if kwargs.pop("autocast", False):
            raise NotImplementedError("autocast is for Keras' layers.")
        for unknown in kwargs:
            raise TypeError("Keyword argument not understood:", unknown)
        LossesAndUpdates.__init__(self, trainable)
        Weights.__init__(self)
        self.built = False
        self.input_spec: Any = None
        self._dtype = None if dtype is None else as_dtype(dtype).name
        self._set_name(name)
        self._current_scope: Any = None
        self._scope: VariableScope | None = None
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    def _set_name(self, name: str | None) -> None:
        self._base_name = getattr(name, "name", name)
        self._name: Any = name
        if not name or not isinstance(name, str):
            kind = snake_case(type(self).__name__)
            self._name = unique_layer_name(kind, zero_based=False)
            if not name:
                self._base_name = kind

    # ---- properties

    @property
    def name(self) -> str:  # type: ignore[override]
        result: str = self._name
        return result

    @property
    def graph(self) -> None:
        """None: layers are used in any graph.

        Raises:
          RuntimeError: in an eager program.
        """
        if get_default_graph().is_eager:
            raise RuntimeError("Layer.graph not supported when executing eagerly.")

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def scope_name(self) -> str:
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" '
                "has not been used yet. The scope name  is determined the first time "
                "the layer instance is called. You must therefore call the layer "
                "before querying `scope_name`."
            )
        return self._scope.name

    # ---- for subclasses

    def build(self, input_shape: TensorShape) -> None:
        """Create the variables; called once, before the first `call`."""
        self.built = True

    def call(self, inputs: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Create the ops of one call; returns the layer's output."""
        return inputs

    def compute_output_shape(self, input_shape: TensorShape) -> Any:
        """The static shape of the output for an input of a static shape."""
        raise NotImplementedError

    def add_weight(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        initializer: Initializer | None = None,
        regularizer: Regularizer | None = None,
        trainable: bool | None = None,
        constraint: Constraint | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        partitioner: Partitioner | None = None,
        **kwargs: Any,
    ) -> Any:
        """A variable of this layer, created by `tf.get_variable` in its scope.

        Args:
          name: its name in the layer's scope.
          shape: its shape.
          dtype: its type; the layer's if None.
          initializer: an initializer or its name; the scope's, or Glorot's, if None.
          regularizer: a function from the variable to a loss.
          trainable, constraint, use_resource, synchronization, aggregation,
          partitioner: as in `tf.get_variable`.

        Returns:
          A Variable.

        Raises:
          ValueError: it exists and the layer does not reuse, or vice versa.
        """
        for unknown in kwargs:
            raise TypeError("Unknown keyword argument:", unknown)
        if synchronization == VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError(
                    "Synchronization value can be set to "
                    "VariableSynchronization.ON_READ only for non-trainable variables. "
                    "You have specified trainable=True and "
                    "synchronization=VariableSynchronization.ON_READ."
                )
            trainable = False
        trainable = self.trainable and (trainable is None or trainable)
        dtype = as_dtype(dtype or self.dtype or float32)
        if self._dtype is None:
            self._dtype = dtype.base_dtype.name
        existing = _variables_of_graph(GraphKeys.GLOBAL_VARIABLES)
        self._set_scope(None)
        reuse = self.built or self._reuse
        with variable_scope(
            self._scope, reuse=reuse, auxiliary_name_scope=False
        ) as scope:
            self._current_scope = scope
            with name_scope(scope.original_name_scope):
                initializer = (
                    activations_by_name.initializer(initializer) or scope.initializer
                )
                initializer = initializer or _default_initializer(dtype, name, self)
                restored = self._preload_simple_restoration(name)
                variable = get_variable(
                    name,
                    shape if restored is None else None,
                    dtype=dtype,
                    initializer=initializer if restored is None else restored,
                    constraint=activations_by_name.function("constraint", constraint),
                    trainable=trainable,
                    partitioner=partitioner,
                    use_resource=use_resource or scope.use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
                parts = list(variable) if _is_partitioned(variable) else [variable]
                is_new = existing is None or not any(p in existing for p in parts)
                if regularizer and is_new:
                    self._regularize(name, parts, regularizer)
        # A variable shared with a layer that does not train it is not trainable here
        # either.
        known = _variables_of_graph(GraphKeys.TRAINABLE_VARIABLES)
        if trainable and (known is None or all(part in known for part in parts)):
            self._trainable_weights.append(variable)
        else:
            self._non_trainable_weights.append(variable)
        if not _is_partitioned(variable):
            self._track_trackable(variable, name, overwrite=True)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Tensor:
        """The older name of `add_weight`."""
        result: Tensor = self.add_weight(*args, **kwargs)
        return result

    def _regularize(
        self, name: str, parts: list[Any], regularizer: Regularizer | None
    ) -> None:
        regularizer = activations_by_name.function("regularizer", regularizer)

        def loss_of(part: Any) -> Any:
            with name_scope(name + "/Regularizer"):
                return regularizer(part)

        for part in parts:
            self.add_loss(functools.partial(loss_of, part))

    # ---- a call

    def _set_scope(self, scope: Any) -> None:
        """Open the layer's variable scope, on the first call."""
        if self._scope is not None:
            return
        if self._reuse:
            opened = variable_scope(self._base_name if scope is None else scope)
        else:
            opened = variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def __call__(self, inputs: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """Apply the layer to `inputs`; further arguments are passed to `call`.

        Raises:
          ValueError: `inputs` do not meet the layer's requirements.
        """
        self._set_scope(kwargs.pop("scope", None))
        reuse = True if self.built else self._reuse
        with variable_scope(
            self._scope, reuse=reuse, auxiliary_name_scope=False
        ) as scope:
            self._current_scope = scope
            kind: Any = type(self)
            parameters = _parameters(kind)
            if "scope" in parameters:
                kwargs["scope"] = scope
            training = _settle_training(parameters, args, kwargs)
            if runs_at_once() and not call_context.is_open:
                self._eager_losses = []
            with entered(self.trainable, training):
                outputs = self._apply(inputs, args, kwargs)
        if not get_default_graph().is_eager:
            collect(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    def apply(self, inputs: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """Equivalent to calling the layer."""
        return self(inputs, *args, **kwargs)

    def _apply(self, inputs: Any, args: Any, kwargs: Any) -> Any:
        inputs = nest.map_structure(_tensor_of_number, inputs)
        flat = nest.flatten(inputs)
        is_eager = get_default_graph().is_eager
        if not is_eager:
            self._inputs = flat
        if not (is_eager and self.built):
            check_inputs(self.input_spec, inputs, self.name)
        graph = next((t.graph for t in flat if hasattr(t, "graph")), None)
        graph = None if graph is get_default_graph() else graph
        prefix = self._current_scope.original_name_scope
        with graph.as_default() if graph else nullcontext(), name_scope(prefix):
            self._build_once(inputs, flat)
            call = self.call if is_eager else _in_graph(self)
            outputs = call(inputs, *args, **kwargs)
            if outputs is None and not is_eager:
                raise ValueError(
                    "A layer's `call` method should return a Tensor or a list of "
                    f"Tensors, not None (layer: {self.name})."
                )
            if self.activity_regularizer is not None:
                self._regularize_activity(inputs, outputs)
        return outputs

    def _build_once(self, inputs: Any, flat: list[Any]) -> None:
        if self.built:
            return
        if flat and self._dtype is None:
            dtype = getattr(flat[0], "dtype", None)
            self._dtype = None if dtype is None else dtype.base_dtype.name
        # Inputs of feature columns are no tensors.
        known = all(hasattr(item, "shape") for item in flat)
        shapes: Any = nest.map_structure(lambda t: t.shape, inputs) if known else None
        self.build(shapes)
        self.built = True

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self.activity_regularizer(output)
                batch_size = cast(shape(output)[0], loss.dtype)
                self.add_loss(loss / batch_size, inputs=inputs)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A layer with copies of the variables, and the same tensors and scope."""
        made = memo[id(self)] = type(self).__new__(type(self))
        for key, value in vars(self).items():
            if key == "_scope":
                value = copy.copy(value)
            elif not _is_made_of_tensors(value):
                value = copy.deepcopy(value, memo)
            setattr(made, key, value)
        return made


# ---- helper functions

_phases: WeakKeyDictionary[Graph, Tensor] = WeakKeyDictionary()


def training_value(training: Any) -> Any:
    """`training`; None becomes Keras' placeholder, which is false unless fed.

    In an eager program it is just 0.
    """
    if training is not None:
        return training
    if makes_eager_variables():
        return 0
    graph = get_default_graph()
    if graph not in _phases:
        with name_scope(None):
            _phases[graph] = placeholder_with_default(
                False, (), name="keras_learning_phase"
            )
    return _phases[graph]


@functools.cache
def _parameters(kind: Any) -> dict[str, Any]:
    """The parameters of a class's `call`, except self and inputs."""
    found = list(inspect.signature(kind.call).parameters.values())[2:]
    return {p.name: p.kind for p in found}


def _settle_training(
    parameters: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The value of a call's argument `training`, which it gets only if it takes that.

    A call without it inherits the value of the layer whose call it is part of.

    Args:
      parameters: of the layer's `call`, without the inputs.
      args, kwargs: the arguments; `kwargs` is changed.
    """
    is_taken = "training" in parameters
    takes_more = inspect.Parameter.VAR_KEYWORD in parameters.values()
    if is_taken and list(parameters).index("training") < len(args):
        return args[list(parameters).index("training")]
    if "training" in kwargs:
        given = kwargs["training"]
        if not (is_taken or takes_more):
            del kwargs["training"]
        return given
    inherited = call_context.training
    if inherited is not None and (is_taken or takes_more):
        is_tensor = isinstance(inherited, Tensor | Variable)
        kwargs["training"] = cast(inherited, bool_) if is_tensor else bool(inherited)
    return inherited


def _in_graph(layer: Layer) -> Callable[..., Any]:
    """`call`; if it is the program's, AutoGraph turns its control flow into ops."""
    if type(layer).__module__.partition(".")[0] == __package__.partition(".")[0]:
        return layer.call
    from tfteach.lib.autograph.calls import tf_convert

    return tf_convert(layer.call)


def _variables_of_graph(key: str) -> set[Any] | None:
    """A collection of the graph in which variables are created; None if eagerly."""
    graph = get_default_graph()
    if graph.building_function:
        with open_init_scope(graph):
            return _variables_of_graph(key)
    if graph.is_eager:
        return None
    return set(graph.collection_list(key)) if key in graph.collections else set()


def _is_made_of_tensors(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(isinstance(item, Tensor) for item in items)


def _default_initializer(dtype: DType, name: str, layer: Layer) -> Any:
    if dtype.is_floating:
        return activations_by_name.initializer("glorot_uniform")
    if dtype.is_integer or dtype.is_bool:
        return activations_by_name.initializer("zeros")
    raise ValueError(
        f"An initializer for variable {name} of type {dtype.base_dtype} is required "
        f"for layer {layer.name}"
    )


def _is_partitioned(variable: Any) -> bool:
    return isinstance(variable, PartitionedVariable)


def _tensor_of_number(value: Any) -> Tensor:
    is_number = isinstance(value, np.ndarray | float | int)
    return convert(value) if is_number else value
