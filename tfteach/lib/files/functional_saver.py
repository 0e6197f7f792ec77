"""Saves and restores objects by ops that run at once, or in a function's body.

Source: python/training/saving/functional_saver.py.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from tfteach.framework.device import canonical_name
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.lib.files.saveable_object import SaveableObject
from tfteach.lib.files.saveable_variables import on_cpu_0
from tfteach.ops.core.constant import constant
from tfteach.ops.io.save_restore import (
    MergeV2Checkpoints,
    RestoreV2,
    SaveV2,
    ShardedFilename,
)
from tfteach.ops.text.string_ops import string_join


def _by_device(
    saveables: Iterable[SaveableObject],
) -> list[tuple[str, list[SaveableObject]]]:
    found: dict[str, list[SaveableObject]] = {}
    for saveable in saveables:
        found.setdefault(canonical_name(saveable.device), []).append(saveable)
    return sorted(found.items())


def save(file_prefix: Any, saveables: Sequence[SaveableObject]) -> Any:
    """Write objects to a checkpoint.

    Args:
      file_prefix: its path, a string or Tensor.
      saveables: the objects.

    Returns:
      An Operation, or None if it has run at once.
    """
    graph = get_default_graph()
    per_device = _by_device(saveables)
    with graph.device("cpu:0"):
        scratch = string_join([file_prefix, f"_temp_{uuid.uuid4().hex}/part"])
    shards = constant(len(per_device), name="num_shards")
    prefixes, saved = [], []
    cpu = ""
    for shard, (device, own) in enumerate(per_device):
        cpu = on_cpu_0(device)
        with graph.device(cpu):
            prefixes.append(ShardedFilename()(scratch, shard, shards))
        with graph.device(device):
            saved.append(_save_on_device(prefixes[-1], own))
    with graph.control_dependencies(saved), graph.device(cpu):
        return MergeV2Checkpoints(delete_old_dirs=True)(prefixes, file_prefix)


def _save_on_device(file_prefix: Tensor, saveables: Sequence[SaveableObject]) -> Any:
    specs = [spec for saveable in saveables for spec in saveable.specs]
    tensors = [spec.tensor for spec in specs]
    names, slices = [s.name for s in specs], [s.slice_spec for s in specs]
    with get_default_graph().device("cpu:0"):
        return SaveV2()(file_prefix, names, slices, tensors)


def restore(file_prefix: Any, saveables: Sequence[SaveableObject]) -> list[Any]:
    """Set objects to their values in a checkpoint.

    Args:
      file_prefix: its path, a string or Tensor.
      saveables: the objects.

    Returns:
      An Operation for each, or None if it has run at once.
    """
    graph, restored = get_default_graph(), []
    for device, own in _by_device(saveables):
        with graph.device(device):
            specs = [spec for saveable in own for spec in saveable.specs]
            names, slices = [s.name for s in specs], [s.slice_spec for s in specs]
            with graph.device("cpu:0"):
                read = RestoreV2(tuple(spec.dtype.base_dtype for spec in specs))
                values = list(read(file_prefix, names, slices))
            for saveable in own:
                count = len(saveable.specs)
                restored.append(saveable.restore(values[:count], None))
                del values[:count]
    return restored
