"""Model variables: creation with defaults from scopes, lookup by scope and suffix.

Source: contrib/framework/python/ops/variables.py.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.framework.device import DeviceSpec
from tfteach.framework.dtypes import float32
from tfteach.framework.export import export, export_value
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.scope import device as device_scope
from tfteach.framework.scope import get_collection
from tfteach.framework.type_aliases import (
    CollectionNames,
    DeviceLike,
    DTypeLike,
    Initializer,
    Partitioner,
    Regularizer,
    ShapeLike,
    T,
)
from tfteach.lib.contrib.framework.arguments import add_arg_scope
from tfteach.lib.training.global_step import assert_global_step as assert_global_step
from tfteach.lib.training.global_step import create_global_step as create_global_step
from tfteach.lib.training.global_step import get_global_step as get_global_step
from tfteach.lib.training.global_step import (
    get_or_create_global_step as get_or_create_global_step,
)
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.placeholder import placeholder
from tfteach.variables.base import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from tfteach.variables.scope import VariableScope, get_variable, get_variable_scope

for _name in (
    "assert_global_step create_global_step get_global_step get_or_create_global_step"
).split():
    export_value(__name__, **{_name: f"contrib.framework.{_name} contrib.slim.{_name}"})


def _both(name: str) -> Callable[[T], T]:
    """Decorator: exports to contrib.framework and contrib.slim."""
    return export(f"contrib.framework.{name}", f"contrib.slim.{name}")


@_both("assert_or_get_global_step")
def assert_or_get_global_step(
    graph: Graph | None = None, global_step_tensor: Any = None
) -> Any:
    """The given global step, checked; the graph's if it is None."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


# ---- creation


@_both("variable")
@add_arg_scope
def variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    collections: CollectionNames | None = None,
    caching_device: DeviceLike | None = None,
    device: DeviceLike | None = None,
    partitioner: Partitioner | None = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """`tf.get_variable` on a device, with arguments from `arg_scope`.

    Args:
      device: the device, or a function of the operation.
      others: see `tf.get_variable`.

    Returns:
      A Variable.
    """
    getter: Any = get_variable
    if custom_getter is not None:
        reuse = get_variable_scope().reuse
        getter = functools.partial(custom_getter, reuse=reuse)
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    with device_scope(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(collections)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@_both("model_variable")
@add_arg_scope
def model_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike = float32,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    collections: CollectionNames | None = None,
    caching_device: DeviceLike | None = None,
    device: DeviceLike | None = None,
    partitioner: Partitioner | None = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """`variable` that is added to `tf.GraphKeys.MODEL_VARIABLES`."""
    own = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[*(collections or []), *own],
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def _untrained(
    initial_value: Any,
    key: str,
    validate_shape: bool,
    name: str | None,
    use_resource: Any,
) -> Any:
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    return Variable._make(
        initial_value,
        trainable=False,
        collections=[key],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


@_both("local_variable")
def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """A Variable only in `tf.GraphKeys.LOCAL_VARIABLES`."""
    key = GraphKeys.LOCAL_VARIABLES
    return _untrained(initial_value, key, validate_shape, name, use_resource)


@_both("global_variable")
def global_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """A Variable in `tf.GraphKeys.GLOBAL_VARIABLES`, not trainable."""
    key = GraphKeys.GLOBAL_VARIABLES
    return _untrained(initial_value, key, validate_shape, name, use_resource)


@_both("add_model_variable")
def add_model_variable(var: Any) -> None:
    """Add a variable to `tf.GraphKeys.MODEL_VARIABLES`, once."""
    graph = get_default_graph()
    if not any(v is var for v in graph.collection_list(GraphKeys.MODEL_VARIABLES)):
        graph.add_to_collection(GraphKeys.MODEL_VARIABLES, var)


# ---- lookup


@_both("get_variables")
def get_variables(
    scope: VariableScope | str | None = None,
    suffix: str | None = None,
    collection: str = GraphKeys.GLOBAL_VARIABLES,
) -> list[Any]:
    """The variables of a collection, filtered by scope and suffix.

    Args:
      scope: a VariableScope, or a regular expression that names must start with.
      suffix: the end of the names.
      collection: the collection's key.

    Example:
      >>> kernels = tf.contrib.framework.get_variables("layer1", "weights")
    """
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        suffix += "" if ":" in suffix else ":"
        scope = (scope or "") + ".*" + suffix
    return get_collection(collection, scope)


@_both("get_model_variables")
def get_model_variables(
    scope: VariableScope | str | None = None, suffix: str | None = None
) -> list[Any]:
    """`get_variables` among the models' variables."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


@_both("get_local_variables")
def get_local_variables(
    scope: VariableScope | str | None = None, suffix: str | None = None
) -> list[Any]:
    """`get_variables` among the local variables."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


@_both("get_trainable_variables")
def get_trainable_variables(
    scope: VariableScope | str | None = None, suffix: str | None = None
) -> list[Any]:
    """`get_variables` among the trainable variables."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


@_both("get_variables_to_restore")
def get_variables_to_restore(include: Any = None, exclude: Any = None) -> list[Any]:
    """The global variables of some scopes, except those of others.

    Args:
      include: a list of scopes; None for all.
      exclude: a list of scopes.

    Raises:
      TypeError: one of them is not a list.
    """
    for name, given in (("include", include), ("exclude", exclude)):
        if given is not None and not isinstance(given, list | tuple):
            raise TypeError(f"{name} is provided but is not a list or a tuple.")
    scopes = [None] if include is None else include
    found = [v for scope in scopes for v in get_variables(scope)]
    without = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in found if id(v) not in without]


@_both("get_variables_by_suffix")
def get_variables_by_suffix(
    suffix: str, scope: VariableScope | str | None = None
) -> list[Any]:
    """The global variables whose names have this suffix."""
    return get_variables(scope=scope, suffix=suffix)


@_both("get_variables_by_name")
def get_variables_by_name(
    given_name: str, scope: VariableScope | str | None = None
) -> list[Any]:
    """The global variables of that name, in any scope."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


@_both("get_unique_variable")
def get_unique_variable(var_op_name: str) -> Any:
    """The global variable with that full name.

    Raises:
      ValueError: there is none.
    """
    found = get_variables(scope=var_op_name)
    if not found:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in found:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


@_both("get_variable_full_name")
def get_variable_full_name(var: Any) -> str:
    """A variable's full name; for a partition, that of the whole."""
    info = getattr(var, "_save_slice_info", None)
    result: str = info.full_name if info else var.op.name
    return result


@_both("filter_variables")
def filter_variables(
    var_list: Any,
    include_patterns: Any = None,
    exclude_patterns: Any = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose names match some patterns and none of the excluded ones.

    Args:
      var_list: Variables.
      include_patterns: regular expressions; None for all variables.
      exclude_patterns: regular expressions.
      reg_search: whether to search for a match anywhere in a name, not only at its
          start.
    """
    match = re.search if reg_search else re.match

    def matches(var: Any, patterns: Any) -> bool:
        return any(match(pattern, var.name) for pattern in patterns)

    found = list(var_list)
    if include_patterns is not None:
        found = [v for v in found if matches(v, include_patterns)]
    return [v for v in found if not matches(v, exclude_patterns or ())]


# ---- assignment


@_both("assign_from_values")
def assign_from_values(var_names_to_values: dict[str, Any]) -> tuple[Any, Any]:
    """An operation that assigns arrays to variables, and its feeds.

    Args:
      var_names_to_values: a dict from full names to arrays with matching sizes.

    Raises:
      ValueError: a variable is missing or ambiguous.
    """
    feeds, assigns = {}, []
    for name, value in var_names_to_values.items():
        var = _named(name)
        held = placeholder(
            var.dtype.base_dtype, var.shape, name="placeholder/" + var.op.name
        )
        assigns.append(var.assign(held))
        feeds[held] = np.asarray(value).reshape(var.shape.as_list())
    return group(*assigns), feeds


def _named(name: str) -> Any:
    found = get_collection(GraphKeys.GLOBAL_VARIABLES, name)
    if not found:
        raise ValueError(f"Variable {name} wasn't found")
    if len(found) > 1:
        found = [v for v in found if v.op.name == name]
    if not found:
        raise ValueError(f"Variable {name} doesn't uniquely identify a variable")
    return found[0]


@_both("assign_from_values_fn")
def assign_from_values_fn(var_names_to_values: dict[str, Any]) -> Any:
    """`assign_from_values` as a function that runs in a session."""
    assign, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign, feeds)


@_both("VariableDeviceChooser")
class VariableDeviceChooser:
    """A function for `tf.device` that distributes variables over tasks, round-robin.

    Args:
      num_tasks: the number of tasks; 0 to omit the task.
      job_name, device_type, device_index, replica: the parts of the device's name.
    """

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ) -> None:
        self._parts = {
            "replica": replica,
            "device_type": device_type,
            "device_index": device_index,
        }
        self._job_name, self._num_tasks, self._next = job_name, num_tasks, 0

    def __call__(self, op: Any) -> str:
        parts: dict[str, Any] = dict(self._parts)
        if self._num_tasks > 0:
            parts |= {"job": self._job_name, "task": self._next}
            self._next = (self._next + 1) % self._num_tasks
        return DeviceSpec(**parts).to_string()
