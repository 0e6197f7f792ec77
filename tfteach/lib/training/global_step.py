"""The global step: the number of updates of the model.

Source: python/training/training_util.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.defaults import public_default_graph
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export
from tfteach.framework.graph import Graph, Tensor, get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import SessionLike, TensorLike
from tfteach.ops.state.ref_variables import assign_add
from tfteach.variables.base import Variable, VariableAggregation
from tfteach.variables.initializers import Zeros
from tfteach.variables.scope import get_variable


@export("train.global_step")
def global_step(sess: SessionLike, global_step_tensor: TensorLike) -> int:
    """The global step's value in a session, an int.

    Args:
      sess: the session; ignored in an eager program.
      global_step_tensor: the global step, a variable, Tensor or name.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> sess.run(tf.global_variables_initializer())
      >>> tf.train.global_step(sess, step)
      0
    """
    if get_default_graph().is_eager:
        return int(global_step_tensor.numpy())  # type: ignore[union-attr]
    # A program's own step may be of shape [1].
    return int(sess.run(global_step_tensor).item())


@export("train.get_global_step")
def get_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step: a variable, or None if there is none.

    Args:
      graph: the graph; the default graph if None.

    Raises:
      TypeError: it is not an integer scalar.
    """
    graph = graph or public_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        get_logger().error("Multiple tensors in global_step collection.")
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


@export("train.create_global_step")
def create_global_step(graph: Graph | None = None) -> Any:
    """Create the global step, an int64 variable that starts at 0.

    Args:
      graph: the graph; the default graph if None.

    Returns:
      The variable, named "global_step".

    Raises:
      ValueError: the graph already has one.
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    is_eager = get_default_graph().is_eager  # a graph that is given does not matter
    own = get_default_graph() if is_eager else graph
    with (
        own.as_default(),
        own.name_scope(None),
        own.device("cpu:0" if is_eager else ""),
    ):
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=int64,
            initializer=Zeros(),
            trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


@export("train.get_or_create_global_step")
def get_or_create_global_step(graph: Graph | None = None) -> Tensor:
    """The graph's global step, created if there is none.

    Args:
      graph: the graph; the default graph if None.

    Returns:
      The variable.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> optimizer = tf.train.GradientDescentOptimizer(0.1)
      >>> train = optimizer.minimize(loss, global_step=step)
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    result: Tensor = create_global_step(graph) if step is None else step
    return result


# The collection of the Tensor that `global_step_read` returns.
_READ_KEY = "global_step_read_op_cache"


def global_step_read(graph: Graph | None = None) -> Tensor | None:
    """A Tensor of the global step's value, built once per graph.

    It exists before the step of a run: what depends on it reads the step as it was.

    Args:
      graph: the graph; the default graph if None.

    Returns:
      The Tensor; None if the graph has no global step.

    Raises:
      RuntimeError: there are several such Tensors, as after importing a graph twice.
    """
    graph = graph or get_default_graph()
    found: list[Tensor] = graph.get_collection(_READ_KEY)
    if len(found) > 1:
        raise RuntimeError(
            f"There are multiple items in collection {_READ_KEY}. There should be "
            "only one."
        )
    if found:
        return found[0]
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), name_scope(None), name_scope(f"{step.op.name}/"):
        is_variable = isinstance(step, Variable)
        read: Tensor = (step.initialized_value() if is_variable else step) + 0
        graph.add_to_collection(_READ_KEY, read)
    return read


def required_global_step_read(user: str) -> Tensor:
    """`global_step_read` of the default graph, for the hook `user`.

    Raises:
      RuntimeError: the graph has no global step.
    """
    read = global_step_read()
    if read is None:
        raise RuntimeError(f"Global step should be created to use {user}.")
    return read


def increment_global_step(increment: int, graph: Graph | None = None) -> Any:
    """An op that adds to the global step once `global_step_read` has been computed.

    Raises:
      ValueError: the graph has no global step.
    """
    graph = graph or get_default_graph()
    step, read = get_global_step(graph), global_step_read(graph)
    if step is None or read is None:
        raise ValueError(
            "Global step tensor should be created by "
            "tf.train.get_or_create_global_step before calling increment."
        )
    scope = f"{step.op.name}/"
    with graph.as_default(), name_scope(None), name_scope(scope):  # noqa: SIM117
        with graph.control_dependencies([read]):
            return assign_add(step, increment)


@export("train.assert_global_step")
def assert_global_step(global_step_tensor: Any) -> None:
    """Raise TypeError unless this is usable as a global step: an integer scalar."""
    if not isinstance(global_step_tensor, Tensor | Variable):
        raise TypeError(
            'Existing "global_step" must be a Variable or Tensor: '
            f"{global_step_tensor}."
        )
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(
            'Existing "global_step" does not have integer type: '
            f"{global_step_tensor.dtype}"
        )
    shape = global_step_tensor.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')
