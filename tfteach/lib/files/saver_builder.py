"""The nodes that save and restore: in one file, or in one for each device.

Source: python/training/saver.py, BaseSaverBuilder and BulkSaverBuilder.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, TypeAlias

from tfteach.framework.device import canonical_name
from tfteach.framework.graph import get_default_graph
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.lib.files.saveable_variables import (
    ReferenceVariableSaveable,
    ResourceVariableSaveable,
    on_cpu_0,
    saveables_of,
)
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group, with_dependencies
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.placeholder import placeholder_with_default
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.io.save_restore import (
    MergeV2Checkpoints,
    RestoreV2,
    SaveSlices,
    SaveV2,
    ShardedFilename,
    ShardedFilespec,
)
from tfteach.ops.text.string_ops import string_join
from tfteach.variables.partitioned import PartitionedVariable

V1, V2 = 1, 2  # SaverDef.CheckpointFormatVersion
# Inside the class the names mean its attributes.
_Saveable: TypeAlias = SaveableObject
_Saveables: TypeAlias = Sequence[SaveableObject]
PerDevice = Sequence[tuple[str, _Saveables]]


class BaseSaverBuilder:
    """Builds a Saver's nodes, with an op that reads for each tensor.

    Subclasses may override `save_op`, `restore_op` and `bulk_restore`; see
    `tf.train.Saver(builder=...)`.

    Args:
      write_version: the format, SaverDef.V1 or SaverDef.V2.

    Source: python/training/saver.py.
    """

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    VariableSaveable = ReferenceVariableSaveable
    ResourceVariableSaveable = ResourceVariableSaveable

    def __init__(self, write_version: int = V2) -> None:
        self._write_version = write_version

    def save_op(self, filename_tensor: Tensor, saveables: _Saveables) -> Operation:
        """The Operation that writes the objects to a file.

        Raises:
          RuntimeError: the builder's `write_version` is unknown.
        """
        specs = [(s, s.tensor) for saveable in saveables for s in saveable.specs]
        names = [s.name for s, _ in specs]
        slices = [s.slice_spec for s, _ in specs]
        tensors = [tensor for _, tensor in specs]
        op: Operation
        if self._write_version == V1:
            op = SaveSlices()(filename_tensor, names, slices, tensors, name="save")
        elif self._write_version == V2:
            op = SaveV2()(filename_tensor, names, slices, tensors)
        else:
            raise RuntimeError(
                f"Unexpected write_version: {self._write_version}; expected "
                "SaverDef.V1 or SaverDef.V2"
            )
        return op

    def restore_op(
        self, filename_tensor: Tensor, saveable: _Saveable, preferred_shard: int
    ) -> list[Tensor]:
        """Tensors with the saved values of an object.

        Args:
          filename_tensor: the checkpoint's name.
          saveable: the object.
          preferred_shard: the shard that probably has it: for overriding methods.
        """
        return [
            RestoreV2((s.dtype.base_dtype,))(
                filename_tensor, [s.name], [s.slice_spec], name="RestoreV2"
            )[0]
            for s in saveable.specs
        ]

    def bulk_restore(
        self,
        filename_tensor: Tensor,
        saveables: _Saveables,
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Tensor]:
        """Tensors with the saved values of several objects.

        Args:
          filename_tensor: the checkpoint's name.
          saveables: the objects.
          preferred_shard, restore_sequentially: for overriding methods.
        """
        found: list[Tensor] = []
        for saveable in saveables:
            device = on_cpu_0(saveable.device) if saveable.device else None
            with get_default_graph().device(device):
                found += self.restore_op(filename_tensor, saveable, preferred_shard)
        return found

    def sharded_filename(
        self, filename_tensor: Tensor, shard: int, num_shards: Tensor
    ) -> Tensor:
        """The name of one of several files."""
        name: Tensor = ShardedFilename()(filename_tensor, shard, num_shards)
        return name

    def build(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
    ) -> Any:
        """Add the nodes to the default graph.

        Args:
          names_to_saveables: a Saver's `var_list`.
          reshape, sharded, max_to_keep, keep_checkpoint_every_n_hours, name,
            restore_sequentially, filename: as in `tf.train.Saver`.

        Returns:
          A SaverDef proto.

        Raises:
          TypeError: an entry cannot be saved.
          ValueError: two entries have the same name.
        """
        from tfteach.framework.protos import SaverDef

        saveables = saveables_of(names_to_saveables)
        with name_scope(name, "save", [saveable.op for saveable in saveables]):
            path = placeholder_with_default(filename or "model", (), "filename")
            # Programs refer to this node by name.
            path = placeholder_with_default(path, (), "Const")
            shards = by_device(saveables) if sharded else None
            saved = self.save(path, saveables, shards)
            restored = self.restore(
                path, saveables, shards, restore_sequentially, reshape
            )
        _read_partitioned_variables()
        return SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )

    def save(
        self, path: Tensor, saveables: _Saveables, shards: PerDevice | None
    ) -> Tensor:
        """The checkpoint's name once it is written."""
        if shards is None:
            return self._save(path, saveables)
        return self._sharded_save(path, shards)

    def restore(
        self,
        path: Tensor,
        saveables: _Saveables,
        shards: PerDevice | None,
        restore_sequentially: bool,
        reshape: bool,
    ) -> Operation:
        """The Operation that sets the objects; None in an eager program."""
        if shards is None:
            return self._restore(path, saveables, restore_sequentially, reshape)
        return self._sharded_restore(path, shards, restore_sequentially, reshape)

    def _save(self, path: Tensor, saveables: _Saveables) -> Tensor:
        """The file's name once it is written."""
        return with_dependencies([self.save_op(path, saveables)], path)

    def _restore(
        self,
        path: Tensor,
        saveables: _Saveables,
        restore_sequentially: bool,
        reshape: bool,
        preferred_shard: int = -1,
        name: str = "restore_all",
    ) -> Operation:
        values = list(
            self.bulk_restore(path, saveables, preferred_shard, restore_sequentially)
        )
        restored = []
        for saveable in saveables:
            shapes = [_shape(s.tensor) for s in saveable.specs] if reshape else None
            own = values[: len(saveable.specs)]
            del values[: len(saveable.specs)]
            restored.append(saveable.restore(own, shapes))
        return group(*restored, name=name)

    def _sharded_save(self, path: Tensor, per_device: PerDevice) -> Tensor:
        """What names the files of all devices once they are written."""
        if self._write_version == V2:
            return self._sharded_save_v2(path, per_device)
        shards = constant(len(per_device), name="num_shards")
        saved = []
        for shard, (device, saveables) in enumerate(per_device):
            with get_default_graph().device(device):
                name = self.sharded_filename(path, shard, shards)
                saved.append(self._save(name, saveables))
        with get_default_graph().control_dependencies([s.op for s in saved]):
            pattern: Tensor = ShardedFilespec()(path, shards)
            return pattern

    def _sharded_save_v2(self, path: Tensor, per_device: PerDevice) -> Tensor:
        # Each device writes a checkpoint of its own; then one is made of all.
        scratch = string_join([path, f"_temp_{uuid.uuid4().hex}/part"])
        shards = constant(len(per_device), name="num_shards")
        names, saved = [], []
        cpu = ""
        for shard, (device, saveables) in enumerate(per_device):
            cpu = on_cpu_0(device)
            with get_default_graph().device(cpu):
                names.append(self.sharded_filename(scratch, shard, shards))
                saved.append(self._save(names[-1], saveables))
        graph = get_default_graph()
        with graph.control_dependencies([s.op for s in saved]), graph.device(cpu):
            merged = MergeV2Checkpoints(delete_old_dirs=True)(names, path)
            with graph.control_dependencies([merged]):
                return identity(path)

    def _sharded_restore(
        self,
        path: Tensor,
        per_device: PerDevice,
        restore_sequentially: bool,
        reshape: bool,
    ) -> Operation:
        restored = []
        for shard, (device, saveables) in enumerate(per_device):
            with get_default_graph().device(device):
                restored.append(
                    self._restore(
                        path,
                        saveables,
                        restore_sequentially,
                        reshape,
                        shard,
                        "restore_shard",
                    )
                )
        return group(*restored, name="restore_all")


class BulkSaverBuilder(BaseSaverBuilder):
    """Builds a Saver's nodes, with one op that reads all tensors.

    Source: python/training/saver.py.
    """

    def bulk_restore(
        self,
        filename_tensor: Tensor,
        saveables: _Saveables,
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Tensor]:
        """Tensors with the saved values of several objects, which one op reads."""
        specs = [s for saveable in saveables for s in saveable.specs]
        with get_default_graph().device("/device:CPU:0"):
            values: list[Tensor] = RestoreV2(tuple(s.dtype.base_dtype for s in specs))(
                filename_tensor,
                [s.name for s in specs],
                [s.slice_spec for s in specs],
            )
        return values


def _shape(tensor: Any) -> Any:
    """The static shape; if it is partially unknown, that in the run."""
    shape = tensor.shape
    return shape.as_list() if shape.is_fully_defined() else shape_of(tensor)


def by_device(saveables: _Saveables) -> PerDevice:
    """The objects of each device, sorted by its name."""
    found: dict[str, list[SaveableObject]] = {}
    for saveable in saveables:
        devices = {canonical_name(spec.tensor.device) for spec in saveable.specs}
        if len(devices) != 1:
            raise ValueError(
                "All tensors of a saveable object must be on the same device: "
                f"{saveable.name}"
            )
        found.setdefault(devices.pop(), []).append(saveable)
    return sorted(found.items(), key=lambda item: item[0])


def _read_partitioned_variables() -> None:
    """Add the Tensors of partitioned variables in collections: importers look there."""
    graph = get_default_graph()
    names = {op.name for op in graph.get_operations()}
    for key in graph.get_all_collection_keys():
        for item in graph.collection_list(key):
            if isinstance(item, PartitionedVariable) and item.name not in names:
                item.as_tensor()
                names.add(item.name)


def warn_of_version_1() -> None:
    """Advise the newer format, in the lines that TensorFlow writes."""
    rule = "*" * 55
    for line in (
        rule,
        "TensorFlow's V1 checkpoint format has been deprecated.",
        "Consider switching to the more efficient V2 format:",
        "   `tf.train.Saver(write_version=tf.train.SaverDef.V2)`",
        "now on by default.",
        rule,
    ):
        get_logger().warning(line)
