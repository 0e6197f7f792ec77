"""Reading checkpoints, and variables that take their values from one.

Source: contrib/framework/python/framework/checkpoint_utils.py,
contrib/framework/python/ops/variables.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation
from tfteach.framework.type_aliases import Array, PathLike, SaveableList, SessionLike
from tfteach.lib.files import checkpoint_reader, init_from_checkpoint
from tfteach.lib.files.saver import Saver
from tfteach.lib.files.saver_builder import V1
from tfteach.ops.core.control_flow_ops import group
from tfteach.ops.core.placeholder import placeholder


@export("contrib.framework.load_checkpoint")
def load_checkpoint(filepattern: PathLike) -> checkpoint_reader.CheckpointReader:
    """Older name of `tf.train.load_checkpoint`."""
    return checkpoint_reader.load_checkpoint(filepattern)


@export("contrib.framework.load_variable")
def load_variable(checkpoint_dir: PathLike, name: str) -> Array:
    """Older name of `tf.train.load_variable`."""
    return checkpoint_reader.load_variable(checkpoint_dir, name)


@export("contrib.framework.list_variables")
def list_variables(checkpoint_dir: PathLike) -> list[tuple[str, list[int]]]:
    """Older name of `tf.train.list_variables`."""
    return checkpoint_reader.list_variables(checkpoint_dir)


@export("contrib.framework.init_from_checkpoint")
def init_from_checkpoint_(
    checkpoint_dir: PathLike, assignment_map: Mapping[str, Any]
) -> None:
    """Older name of `tf.train.init_from_checkpoint`."""
    init_from_checkpoint.init_from_checkpoint(checkpoint_dir, assignment_map)


@export(
    "contrib.framework.assign_from_checkpoint", "contrib.slim.assign_from_checkpoint"
)
def assign_from_checkpoint(
    model_path: PathLike, var_list: SaveableList, ignore_missing_vars: bool = False
) -> tuple[Operation, dict[Any, Array]]:
    """An operation that sets variables to values of a checkpoint, which are read now.

    Args:
      model_path: the checkpoint's path.
      var_list: the variables, as a list, or as a dict from their names in the
        checkpoint; the entries of the dict may be lists of a variable's parts.
      ignore_missing_vars: whether variables that the checkpoint lacks are only told.

    Returns:
      The operation, and the feed_dict to run it with.

    Raises:
      ValueError: the checkpoint lacks a variable, or it has another shape.

    Example:
      >>> assign, feeds = tf.contrib.framework.assign_from_checkpoint(path, [kernel])
      >>> session.run(assign, feeds)

    Source: contrib/framework/python/ops/variables.py.
    """
    grouped: dict[str, list[Any]] = {}
    if isinstance(var_list, Mapping):
        for name, value in var_list.items():
            grouped[name] = list(value) if isinstance(value, list | tuple) else [value]
    else:
        for variable in var_list:
            info = variable._get_save_slice_info()
            name = info.full_name if info else variable.op.name
            grouped.setdefault(name, []).append(variable)
    reader = checkpoint_reader.new_checkpoint_reader(model_path)
    assigns, feeds = [], {}
    for name, variables in grouped.items():
        if not reader.has_tensor(name):
            message = f"Checkpoint is missing variable [{name}]"
            if not ignore_missing_vars:
                raise ValueError(message)
            get_logger().warning(message)
            continue
        value = reader.get_tensor(name)
        for variable in variables:
            held = placeholder(
                variable.dtype.base_dtype,
                variable.shape,
                name=f"placeholder/{variable.op.name}",
            )
            assigns.append(variable.assign(held))
            feeds[held] = _part(variable, name, value)
    return group(*assigns), feeds


def _part(variable: Any, name: str, value: Array) -> Array:
    """What a variable, or a part of one, gets of a tensor."""
    info = variable._get_save_slice_info()
    if info:
        pairs = zip(info.var_offset, info.var_shape, strict=True)
        return value[tuple(slice(start, start + size) for start, size in pairs)]
    if not variable.shape.is_compatible_with(value.shape):
        raise ValueError(
            f"Total size of new array must be unchanged for {name} lh_shape: "
            f"[{value.shape}], rh_shape: [{variable.shape}]"
        )
    return value


@export(
    "contrib.framework.assign_from_checkpoint_fn",
    "contrib.slim.assign_from_checkpoint_fn",
)
def assign_from_checkpoint_fn(
    model_path: PathLike,
    var_list: SaveableList,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[SessionLike], None] | None:
    """A function that sets a session's variables to values of a checkpoint.

    Args:
      model_path: the checkpoint's path.
      var_list: the variables, as a list, or as a dict from their names in the
        checkpoint.
      ignore_missing_vars: whether variables that the checkpoint lacks are only told.
      reshape_variables: whether values of another shape and the same size are reshaped.

    Returns:
      A function of a session; None if the checkpoint has none of the variables.

    Raises:
      ValueError: `var_list` is empty.

    Example:
      >>> init = tf.contrib.framework.assign_from_checkpoint_fn(path, [kernel])
      >>> init(session)

    Source: contrib/framework/python/ops/variables.py.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    wanted: Any = var_list
    if ignore_missing_vars:
        reader = checkpoint_reader.new_checkpoint_reader(model_path)
        if not isinstance(var_list, Mapping):
            var_list = {variable.op.name: variable for variable in wanted}
        wanted = {}
        for name, variable in var_list.items():
            if reader.has_tensor(name):
                wanted[name] = variable
            else:
                get_logger().warning(
                    f"Variable {name} missing in checkpoint {model_path}"
                )
    if not wanted:
        get_logger().warning("No Variables to restore")
        return None
    saver = Saver(wanted, reshape=reshape_variables, write_version=V1)
    return lambda session: saver.restore(session, model_path)
