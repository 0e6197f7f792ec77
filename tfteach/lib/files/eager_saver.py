"""What a `tf.train.Saver` does in an eager program: it has no nodes.

Source: python/training/saver.py (messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.logger import get_logger
from tfteach.framework.protos import pool
from tfteach.lib.files.last_checkpoints import LastCheckpoints
from tfteach.lib.files.saveable_object import SaveableObject
from tfteach.lib.files.saveable_variables import saveables_of
from tfteach.lib.files.saver_builder import (
    BaseSaverBuilder,
    BulkSaverBuilder,
    by_device,
)
from tfteach.ops.core.constant import constant


class EagerSaver(LastCheckpoints):
    """Base of `tf.train.Saver`: saves and restores variables at once."""

    _var_list: Any
    _options: dict[str, Any]
    _builder: BaseSaverBuilder | None
    _write_version: int
    _is_built: bool

    def _prepare_eagerly(self) -> None:
        """Check what an eager program wants to save; there are no nodes to add."""
        get_logger().warning(
            "Saver is deprecated, please switch to tf.train.Checkpoint or "
            "tf.keras.Model.save_weights for training checkpoints. When executing "
            "eagerly variables do not necessarily have unique names, and so the "
            "variable.name-based lookups Saver performs are error-prone."
        )
        if self._var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or "
                "dict of variables to save"
            )
        self._is_built = True
        self._builder = self._builder or BulkSaverBuilder(self._write_version)
        self._describe("", "")
        self._begin_keeping()

    def _describe(self, read_path: str, saved_path: str) -> None:
        """Note in the SaverDef the paths of an eager call, where nodes would be."""
        options = self._options
        self.saver_def = pool.message("SaverDef")(
            filename_tensor_name=read_path,
            save_tensor_name=saved_path,
            max_to_keep=options["max_to_keep"] or 0,
            sharded=options["sharded"],
            keep_checkpoint_every_n_hours=options["keep_checkpoint_every_n_hours"],
            version=self._write_version,
        )

    def _write_eagerly(self, path: str) -> str:
        assert self._builder is not None
        saveables = saveables_of(self._var_list)
        shards = by_device(saveables) if self._options["sharded"] else None
        written: Any = self._builder.save(constant(path), saveables, shards)
        found: str = written.numpy().decode()
        self._describe(path, found)
        return found

    def _restore_eagerly(self, path: str, saveables: Sequence[SaveableObject]) -> None:
        assert self._builder is not None
        options = self._options
        self._builder.restore(
            constant(path),
            saveables,
            by_device(saveables) if options["sharded"] else None,
            options["restore_sequentially"],
            options["reshape"],
        )
