"""`tf.train.warm_start`: a new model begins with an old one's values.

Source: python/training/warm_starting_util.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

from tfteach.framework.errors import NotFoundError
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.logger import get_logger
from tfteach.framework.scope import get_collection
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.files.checkpoint_reader import checkpoint_path, keys_by_variable_name
from tfteach.lib.files.init_from_checkpoint import init_from_checkpoint
from tfteach.lib.files.remapped_matrix import RemappedMatrix, Vocabularies
from tfteach.ops.state.ref_variables import assign
from tfteach.variables.base import Variable
from tfteach.variables.initializers import Zeros
from tfteach.variables.partitioned import PartitionedVariable
from tfteach.variables.scope.store import PartitionInfo


class _VocabFields(NamedTuple):
    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int
    backup_initializer: Any
    axis: int


@export("train.VocabInfo", "estimator.VocabInfo")
class VocabInfo(_VocabFields):
    """The vocabularies of a variable that `tf.train.warm_start` reads.

    Args:
      new_vocab: the file with the new vocabulary, a word on each line.
      new_vocab_size: how many of its words the model has.
      num_oov_buckets: how many rows or columns for unknown words follow.
      old_vocab: the file with the checkpoint's vocabulary.
      old_vocab_size: how many of its words to use; -1 for all.
      backup_initializer: makes the values of new words; None means zeros.
      axis: 0 if the words are the variable's rows, 1 if they are its columns.

    Raises:
      ValueError: `axis` is neither 0 nor 1.

    Example:
      >>> words = tf.train.VocabInfo("new.txt", 2000, 1, "old.txt")
      >>> tf.train.warm_start("logs", ".*", {"embedding": words})

    Source: python/training/warm_starting_util.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        new_vocab: str,
        new_vocab_size: int,
        num_oov_buckets: int,
        old_vocab: str,
        old_vocab_size: int = -1,
        backup_initializer: Any = None,
        axis: int = 0,
    ) -> Self:
        if axis not in (0, 1):
            raise ValueError(
                "The only supported values for the axis argument are 0 and 1.  "
                f"Provided axis: {axis}"
            )
        return super().__new__(
            cls,
            new_vocab,
            new_vocab_size,
            num_oov_buckets,
            old_vocab,
            old_vocab_size,
            backup_initializer,
            axis,
        )


class _SettingsFields(NamedTuple):
    ckpt_to_initialize_from: PathLike
    vars_to_warm_start: Any
    var_name_to_vocab_info: Mapping[str, VocabInfo]
    var_name_to_prev_var_name: Mapping[str, str]


@export("estimator.WarmStartSettings")
class WarmStartSettings(_SettingsFields):
    """The arguments of `tf.train.warm_start`, for an estimator.

    Args:
      ckpt_to_initialize_from: the checkpoint's path, or a directory.
      vars_to_warm_start: which variables.
      var_name_to_vocab_info: from names of variables to `VocabInfo`.
      var_name_to_prev_var_name: from names of variables to those in the checkpoint.

    Raises:
      ValueError: `ckpt_to_initialize_from` is empty.

    Source: tensorflow_estimator/python/estimator/estimator.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: PathLike,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> Self:
        if not ckpt_to_initialize_from:
            raise ValueError(
                "`ckpt_to_initialize_from` MUST be set in WarmStartSettings"
            )
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


@export("train.warm_start")
def warm_start(
    ckpt_to_initialize_from: PathLike,
    vars_to_warm_start: str | list[Any] | None = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Let a model's variables take their initial values from a checkpoint.

    Args:
      ckpt_to_initialize_from: the checkpoint's path, or a directory, whose newest one
        is read.
      vars_to_warm_start: which variables: a regular expression that the names of
        trainable variables begin with, a list of such expressions for all global
        variables, or a list of variables; None means those that have a vocabulary.
      var_name_to_vocab_info: from names of variables to the vocabularies of their rows
        or columns (`tf.train.VocabInfo`).  A partitioned variable has one name.
      var_name_to_prev_var_name: from names of variables to those in the checkpoint.

    Raises:
      ValueError: `vars_to_warm_start` is none of these, or a name of
        `var_name_to_vocab_info` or `var_name_to_prev_var_name` is not among the
        variables.

    Example:
      >>> tf.train.warm_start("logs", "encoder/.*")

    Source: python/training/warm_starting_util.py.
    """
    source = os.fsdecode(ckpt_to_initialize_from)
    get_logger().info(f"Warm-starting from: {source}")
    grouped: dict[str, list[Any]] = {}
    for variable in _chosen(vars_to_warm_start):
        grouped.setdefault(_full_name(variable), []).append(variable)
    vocabularies = var_name_to_vocab_info or {}
    renamed = var_name_to_prev_var_name or _object_names(source, grouped)
    wanted: dict[str, Any] = {}
    count = 0
    for name, variables in grouped.items():
        old, vocabulary = renamed.get(name), vocabularies.get(name)
        if vocabulary:
            _log_vocabulary(name, vocabulary, old)
            _set_remapped(variables, source, old or name, vocabulary)
        elif vars_to_warm_start:
            get_logger().debug(
                f"Warm-starting variable: {name}; prev_var_name: {old or 'Unchanged'}"
            )
            wanted[old or name] = variables[0] if len(variables) == 1 else variables
        else:
            continue
        count += 1
    init_from_checkpoint(source, wanted)
    get_logger().info(f"Warm-started {count} variables.")
    _require_used("var_name_to_prev_var_name", renamed, grouped)
    _require_used("var_name_to_vocab_info", vocabularies, grouped)


def _require_used(what: str, given: Iterable[str], known: Mapping[str, Any]) -> None:
    unused = set(given) - set(known)
    if unused:
        raise ValueError(
            f"You provided the following variables in {what} that were not used: "
            f"{unused}.  Perhaps you misspelled them?  Here is the list of "
            f"viable variable names: {known.keys()}"
        )


def _log_vocabulary(name: str, vocabulary: VocabInfo, old: str | None) -> None:
    old_size = vocabulary.old_vocab_size
    get_logger().debug(
        f"Warm-starting variable: {name}; current_vocab: {vocabulary.new_vocab} "
        f"current_vocab_size: {vocabulary.new_vocab_size} prev_vocab: "
        f"{vocabulary.old_vocab} prev_vocab_size: "
        f"{old_size if old_size > 0 else 'All'} current_oov: "
        f"{vocabulary.num_oov_buckets} prev_tensor: {old or 'Unchanged'} initializer: "
        f"{vocabulary.backup_initializer or 'zero-initialized'}"
    )


def _set_remapped(
    parts: list[Any], source: str, key: str, vocabulary: VocabInfo
) -> None:
    """Let a variable's parts take the checkpoint's rows or columns of their words."""
    new, size, buckets, old, old_size, backup, axis = vocabulary
    if not (new and size and source and old):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, "
            "current_vocab_size, prev_ckpt, prev_vocab_path}."
        )
    height = sum(part.shape.as_list()[0] for part in parts)
    for part in parts:
        shape = part.shape.as_list()
        if axis == 0 and len(shape) < 2:
            raise IndexError(
                f"list index out of range: variable {key} must be a matrix to have a "
                f"vocabulary, its shape is {shape}"
            )
        words = Vocabularies(old, new, old_size if axis == 0 else -1)
        matrix = RemappedMatrix(
            checkpoint_path(source) or source,
            key,
            (height, size) if axis else (size, shape[1]),
            Vocabularies() if axis else words,
            words if axis else Vocabularies(),
            0 if axis else buckets,
            buckets if axis else 0,
            backup or Zeros(),
        )
        info = part._get_save_slice_info()
        place = PartitionInfo(info.full_shape, info.var_offset) if info else None
        part._initializer_op = assign(part, matrix(shape, partition_info=place))


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


def infer_var_name(var: Any) -> str:
    """The name in a checkpoint of a variable, or of a list of its parts."""
    return _full_name(_parts(var)[0])


def get_var_info(var: Any, prev_tensor_name: str | None = None) -> tuple[str, Any]:
    """The name in a checkpoint, and the variable or its parts, to be initialized."""
    parts = _parts(var)
    name = prev_tensor_name or _full_name(parts[0])
    return name, parts if len(parts) > 1 else parts[0]


def warm_start_var_with_vocab(
    var: Any,
    current_vocab_path: str,
    current_vocab_size: int,
    prev_ckpt: str,
    prev_vocab_path: str,
    previous_vocab_size: int = -1,
    current_oov_buckets: int = 0,
    prev_tensor_name: str | None = None,
    initializer: Any = None,
    axis: int = 0,
) -> None:
    """Let one variable begin with the checkpoint's rows or columns of its words.

    For the arguments see `VocabInfo`.
    """
    vocabulary = VocabInfo(
        current_vocab_path,
        current_vocab_size,
        current_oov_buckets,
        prev_vocab_path,
        previous_vocab_size,
        initializer,
        axis,
    )
    key = prev_tensor_name or infer_var_name(var)
    _set_remapped(_parts(var), prev_ckpt, key, vocabulary)


def _parts(var: Any) -> list[Any]:
    if isinstance(var, PartitionedVariable):
        return list(var)
    return list(var) if isinstance(var, list) else [var]


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
