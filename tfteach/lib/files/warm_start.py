"""`tf.train.warm_start`: a new model begins with an old one's values.

Source: python/training/warm_starting_util.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tfteach.framework.errors import NotFoundError
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import get_collection
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.files.checkpoint_reader import checkpoint_path, keys_by_variable_name
from tfteach.lib.files.init_from_checkpoint import init_from_checkpoint
from tfteach.variables.base import Variable


@export("train.warm_start")
def warm_start(
    ckpt_to_initialize_from: PathLike,
    vars_to_warm_start: str | list[Any] | None = ".*",
    var_name_to_vocab_info: Mapping[str, Any] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Let a model's variables take their initial values from a checkpoint.

    Args:
      ckpt_to_initialize_from: the checkpoint's path, or a directory, whose newest one
        is read.
      vars_to_warm_start: which variables: a regular expression that the names of
        trainable variables begin with, a list of such expressions for all global
        variables, or a list of variables; None means those that have a vocabulary.
      var_name_to_vocab_info: not implemented.
      var_name_to_prev_var_name: from names of variables to those in the checkpoint.

    Raises:
      ValueError: `vars_to_warm_start` is none of these, or a name of
        `var_name_to_prev_var_name` is not among the variables.

    Example:
      >>> tf.train.warm_start("logs", "encoder/.*")

    Source: python/training/warm_starting_util.py.
    """
    if var_name_to_vocab_info:
        raise NotImplementedError("warm_start(var_name_to_vocab_info=...)")
    source = os.fsdecode(ckpt_to_initialize_from)
    get_logger().info(f"Warm-starting from: {source}")
    grouped: dict[str, list[Any]] = {}
    for variable in _chosen(vars_to_warm_start):
        grouped.setdefault(_full_name(variable), []).append(variable)
    renamed = var_name_to_prev_var_name or _object_names(source, grouped)
    wanted: dict[str, Any] = {}
    for name, variables in grouped.items():
        if not vars_to_warm_start:
            continue
        old = renamed.get(name) or name
        get_logger().debug(
            f"Warm-starting variable: {name}; prev_var_name: "
            f"{renamed.get(name) or 'Unchanged'}"
        )
        wanted[old] = variables[0] if len(variables) == 1 else variables
    init_from_checkpoint(source, wanted)
    get_logger().info(f"Warm-started {len(wanted)} variables.")
    unused = set(renamed) - set(grouped)
    if unused:
        raise ValueError(
            "You provided the following variables in var_name_to_prev_var_name that "
            f"were not used: {unused}.  Perhaps you misspelled them?  Here is the list "
            f"of viable variable names: {grouped.keys()}"
        )


def _chosen(wanted: Any) -> list[Any]:
    """The variables that `vars_to_warm_start` describes."""
    if wanted is None or isinstance(wanted, str):
        get_logger().info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        return list(get_collection(GraphKeys.TRAINABLE_VARIABLES, wanted))
    if not isinstance(wanted, list):
        raise ValueError(
            "`vars_to_warm_start must be a `list` or `str`.  Given type is "
            f"{type(wanted)}"
        )
    if all(isinstance(item, str) for item in wanted):
        keys = GraphKeys.GLOBAL_VARIABLES
        return [v for scope in wanted for v in get_collection(keys, scope)]
    if not all(isinstance(item, Variable) for item in wanted):
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all "
            f"`str`.  Given types are {[type(item) for item in wanted]}"
        )
    return wanted


def _full_name(variable: Any) -> str:
    info = variable._get_save_slice_info()
    name: str = info.full_name if info else variable.op.name
    return name


def _object_names(source: str, names: Mapping[str, Any]) -> dict[str, str]:
    """Names in a checkpoint of `tf.train.Checkpoint`; none if it is a Saver's."""
    path = checkpoint_path(source)
    if path is None:
        return {}
    try:
        keys = keys_by_variable_name(path)
    except NotFoundError:
        return {}
    missing = set(names) - set(keys)
    if missing:
        raise ValueError(
            "Attempting to warm-start from an object-based checkpoint, but found that "
            "the checkpoint did not contain values for all variables. The following "
            f"variables were missing: {missing}"
        )
    return {name: keys[name] for name in names}
