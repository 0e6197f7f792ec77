"""Ops that initialize a loaded model.  Source: python/saved_model/main_op_impl.py."""

from __future__ import annotations

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation
from tfteach.framework.scope import control_dependencies
from tfteach.lib.lookup.table_initializers import tables_initializer
from tfteach.ops.core.control_flow_ops import group
from tfteach.variables.collections import (
    global_variables_initializer,
    local_variables_initializer,
)


@export("saved_model.main_op.main_op")
def main_op() -> Operation:
    """An operation that initializes all variables and tables.

    Returns:
      An Operation, to be given as `main_op` to `tf.saved_model.Builder`'s methods. It
      undoes the restoring of global variables: see `main_op_with_restore`.

    Example:
      >>> init = tf.saved_model.main_op.main_op()

    Source: python/saved_model/main_op_impl.py.
    """
    return group(
        global_variables_initializer(),
        local_variables_initializer(),
        tables_initializer(),
    )


@export("saved_model.main_op_with_restore", "saved_model.main_op.main_op_with_restore")
def main_op_with_restore(restore_op_name: Operation | str) -> Operation:
    """An operation that initializes all variables and tables, then runs another.

    Args:
      restore_op_name: an Operation or its name, such as
        `saver.as_saver_def().restore_op_name`.

    Returns:
      An Operation.

    Raises:
      KeyError: the graph has no such operation.

    Example:
      >>> v = tf.Variable(1.0)
      >>> init = tf.saved_model.main_op_with_restore(v.assign(2.0))

    Source: python/saved_model/main_op_impl.py.
    """
    restore = get_default_graph().as_graph_element(restore_op_name)
    with control_dependencies([main_op()]):
        return group(restore)
