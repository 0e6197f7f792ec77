"""Collections of variables, and ops that initialize or check all of a collection.

Source: python/ops/variables.py (API and node names).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import VariableLike
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.core.shape_ops import Rank
from tfteach.ops.core.stack_unstack import Pack
from tfteach.ops.math.compare import LogicalNot
from tfteach.ops.state import ref_variables


def _collection(key: str, scope: str | None) -> list[Any]:
    return get_default_graph().get_collection(key, scope)


@export("global_variables")
def global_variables(scope: str | None = None) -> list[Any]:
    """The variables shared by sessions and saved in checkpoints."""
    return _collection(GraphKeys.GLOBAL_VARIABLES, scope)


@export("all_variables")
def all_variables() -> list[Any]:
    """Older name of `tf.global_variables`."""
    return global_variables()


@export("local_variables")
def local_variables(scope: str | None = None) -> list[Any]:
    """The variables local to a process, such as the counts of metrics."""
    return _collection(GraphKeys.LOCAL_VARIABLES, scope)


@export("model_variables")
def model_variables(scope: str | None = None) -> list[Any]:
    """The variables in `tf.GraphKeys.MODEL_VARIABLES`."""
    return _collection(GraphKeys.MODEL_VARIABLES, scope)


@export("trainable_variables")
def trainable_variables(scope: str | None = None) -> list[Any]:
    """The variables that optimizers update by default."""
    return _collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@export("moving_average_variables")
def moving_average_variables(scope: str | None = None) -> list[Any]:
    """The variables that have moving averages."""
    return _collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


# ---- initializers


@export("variables_initializer", "initializers.variables")
def variables_initializer(var_list: Sequence[Any], name: str = "init") -> Operation:
    """An Operation that runs the initializers of some variables.

    Args:
      var_list: the variables.
      name: the op's name.

    Returns:
      The Operation; in an eager program, whose variables have values, None.

    Example:
      >>> w = tf.Variable(1.0, name="w")
      >>> tf.variables_initializer([w])
      <tf.Operation 'init' type=NoOp>
    """
    if var_list and not get_default_graph().is_eager:
        return group(*[v.initializer for v in var_list], name=name)
    return no_op(name=name)


@export("initialize_variables")
def initialize_variables(var_list: Sequence[Any], name: str = "init") -> Operation:
    """Older name of `tf.variables_initializer`."""
    return variables_initializer(var_list, name)


@export("global_variables_initializer", "initializers.global_variables")
def global_variables_initializer() -> Operation:
    """An Operation that runs the initializers of all global variables so far.

    Example:
      >>> w = tf.Variable(2.0)
      >>> with tf.Session() as sess:
      ...     _ = sess.run(tf.global_variables_initializer())
      ...     print(sess.run(w))
      2.0
    """
    return variables_initializer(global_variables())


@export("initialize_all_variables")
def initialize_all_variables() -> Operation:
    """Older name of `tf.global_variables_initializer`."""
    return global_variables_initializer()


@export("local_variables_initializer", "initializers.local_variables")
def local_variables_initializer() -> Operation:
    """An Operation that initializes all local variables created so far."""
    return variables_initializer(local_variables())


@export("initialize_local_variables")
def initialize_local_variables() -> Operation:
    """Older name of `tf.local_variables_initializer`."""
    return local_variables_initializer()


# ---- checks


@export("is_variable_initialized")
def is_variable_initialized(variable: VariableLike) -> Tensor:
    """A bool Tensor: whether the variable has a value in the session that is run."""
    result: Tensor = ref_variables.is_variable_initialized(variable)
    return result


def _all_variables(var_list: Any) -> list[Any]:
    if var_list is not None:
        return list(var_list)
    found = global_variables() + local_variables()
    if found:
        return found
    return [
        op.outputs[0]
        for op in get_default_graph().get_operations()
        if isinstance(op.spec, ref_variables.Variable | ref_variables.VariableV2)
    ]


@export("assert_variables_initialized")
def assert_variables_initialized(
    var_list: Iterable[Any] | None = None,
) -> Tensor | None:
    """A Tensor that fails with FailedPreconditionError if a variable has no value.

    Args:
      var_list: the variables; all global and local ones if None.

    Returns:
      An int Tensor; None if there are no variables.
    """
    var_list = _all_variables(var_list)
    ranks = []
    for variable in var_list:
        with get_default_graph().colocate_with(variable):
            ranks.append(Rank()(variable))
    if len(ranks) < 2:
        return ranks[0] if ranks else None
    return Pack()(ranks, name="stack")


@export("report_uninitialized_variables")
def report_uninitialized_variables(
    var_list: Iterable[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """A string Tensor [n]: the names of uninitialized variables.

    Args:
      var_list: the variables; all global and local ones if None.
      name: the name scope of its ops.
    """
    var_list = _all_variables(var_list)
    device = os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")
    with name_scope(name):
        flags = [ref_variables.is_variable_initialized(v) for v in var_list]
        with get_default_graph().device(device):
            if not var_list:
                return constant([], dtype="string")
            from tfteach.ops.array.gather import boolean_mask

            missing = LogicalNot()(Pack()(flags, name="stack"))
            names = constant([v.op.name for v in var_list])
            return boolean_mask(names, missing)
