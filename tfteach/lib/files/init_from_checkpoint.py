"""Variables whose initializers read a checkpoint.

Source: python/training/checkpoint_utils.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.files.checkpoint_reader import checkpoint_path, load_checkpoint
from tfteach.lib.files.saveable_variables import saveables_of
from tfteach.ops.io.save_restore import RestoreV2
from tfteach.variables.base import Variable
from tfteach.variables.partitioned import PartitionedVariable
from tfteach.variables.scope.get_variable import store_of


@export("train.init_from_checkpoint")
def init_from_checkpoint(
    ckpt_dir_or_file: PathLike, assignment_map: Mapping[str, Any]
) -> None:
    """Let variables take their initial values from a checkpoint.

    Their initializers are replaced: `tf.global_variables_initializer()`, created after
    this call, then reads the checkpoint.

    Args:
      ckpt_dir_or_file: the checkpoint's path, or a directory, whose newest one is read.
      assignment_map: from what is in the checkpoint to what gets it:

        - `{"name": variable}`: a variable, a list of its parts, or its full name;
        - `{"scope/": "other/"}`: all variables of `get_variable` in the scope `other`;
        - `{"/": "other/"}`: these, from names in the checkpoint without a scope.

    Raises:
      ValueError: the checkpoint lacks a tensor, or it has another shape.
      NotFoundError: there is no such checkpoint.

    Example:
      >>> with tf.variable_scope("new"):
      ...     kernel = tf.get_variable("kernel", [784, 10])
      >>> tf.train.init_from_checkpoint("logs/model-7", {"layer/": "new/"})

    Source: python/training/checkpoint_utils.py.
    """
    path = checkpoint_path(ckpt_dir_or_file)
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    assert path is not None  # which load_checkpoint refuses
    source = _Source(path, os.fsdecode(ckpt_dir_or_file), shapes)
    known = store_of(get_default_graph())._vars
    for key, target in sorted(assignment_map.items(), key=lambda item: item[0]):
        variable = _found(target, known)
        if variable is None:
            source.initialize_scope(key, target, known)
        else:
            source.initialize(variable, key)


def _found(target: Any, known: Mapping[str, Any]) -> Any:
    """What an entry names: a variable, a list of parts, or None for a scope."""
    if isinstance(target, PartitionedVariable):
        return list(target)
    if not isinstance(target, str):
        items = target if isinstance(target, list | tuple) else [target]
        if not items or not all(isinstance(item, Variable) for item in items):
            raise TypeError(
                "assignment_map maps names to variables, lists of a variable's parts, "
                f"or names: found {target!r}"
            )
        return target
    return known.get(target) or _parts(target, known)


def _parts(name: str, known: Mapping[str, Any]) -> list[Any] | None:
    """The parts of a partitioned variable of `get_variable`; None if there are none."""
    found: list[Any] = []
    while f"{name}/part_{len(found)}" in known:
        found.append(known[f"{name}/part_{len(found)}"])
    return found or None


class _Source:
    """A checkpoint that gives variables their initial values."""

    def __init__(self, path: str, given: str, shapes: Mapping[str, list[int]]) -> None:
        self._path, self._given, self._shapes = path, given, shapes

    def initialize(self, variable: Any, key: str) -> None:
        """Initialize a variable, or all parts of one, with a tensor."""
        if key not in self._shapes:
            raise ValueError(
                f"Tensor {key} is not found in {self._given} checkpoint {self._shapes}"
            )
        is_whole = isinstance(variable, Variable)
        if is_whole and not variable.shape.is_compatible_with(self._shapes[key]):
            raise ValueError(
                f"Shape of variable {variable.name} ({variable.shape}) doesn't match "
                f"with shape of tensor {key} ({self._shapes[key]}) from checkpoint "
                "reader."
            )
        self._set([variable] if is_whole else variable, key, is_whole)

    def initialize_scope(self, key: str, target: str, known: Mapping[str, Any]) -> None:
        """Initialize the variables of a scope with the tensors of another."""
        scope = target.rpartition("/")[0]
        if not key.endswith("/"):
            raise ValueError(
                f"Assignment map with scope only name {scope} should map to scope only "
                f"{key}. Should be 'scope/': 'other_scope/'."
            )
        prefix = f"{scope}/" if scope else ""
        names = {
            name.partition("/part_")[0] for name in known if name.startswith(prefix)
        }
        for name in sorted(names):
            inner = name[len(prefix) :]
            full = (inner if key == "/" else key + inner).removesuffix("/")
            if full not in self._shapes:
                raise ValueError(
                    f"Tensor {full} ({inner} in {key}) is not found in {self._given} "
                    "checkpoint"
                )
            variable = known.get(name) or _parts(name, known)
            is_whole = isinstance(variable, Variable)
            self._set([variable] if is_whole else variable, full, is_whole)

    def _set(self, variables: Any, key: str, is_whole: bool) -> None:
        whole = None
        for variable in variables:
            spec = ""
            if not is_whole:
                info = variable._get_save_slice_info()
                whole = whole or info.full_name
                if whole != info.full_name:
                    raise ValueError(
                        "Slices must all be from the same tensor: "
                        f"{whole} != {info.full_name}"
                    )
                spec = info.spec
            _replace_initializer(variable, self._path, key, spec)
        names = ",".join(v.name for v in variables)
        get_logger().debug(
            f"Initialize variable {names} from checkpoint {self._given} with {key}"
        )


def _replace_initializer(variable: Any, path: str, key: str, spec: str) -> None:
    graph = get_default_graph()
    with graph.device(variable.device), graph.device("/device:CPU:0"):
        value = RestoreV2((variable.dtype.base_dtype,))(
            path, [key], [spec], name="checkpoint_initializer"
        )[0]
        [saveable] = saveables_of([variable])
    variable._initializer_op = _operation(saveable.restore([value], None))
    value.set_shape(variable.shape)
    variable._initial_value = value


def _operation(item: Any) -> Any:
    """The Operation of an assignment, whose result may be a Tensor."""
    return getattr(item, "op", item)
