"""`tf.train.Saver`: writes a graph's variables to checkpoints and reads them back.

Source: python/training/saver.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from tfteach.engine.session.base_session import BaseSession
from tfteach.framework.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
)
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef.meta_graph import (
    ProtoFunctions,
    register_proto_functions,
)
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import (
    PathLike,
    Proto,
    SaveableList,
    SessionLike,
    TensorLike,
)
from tfteach.lib.files import checkpoint_management as management
from tfteach.lib.files.checkpoint_reader import keys_by_variable_name
from tfteach.lib.files.eager_saver import EagerSaver
from tfteach.lib.files.restore_errors import (
    missing_names,
    raise_explained,
    restored_names,
    saveables_with_keys,
)
from tfteach.lib.files.saveable_variables import all_saveable_objects, saveables_of
from tfteach.lib.files.saver_builder import (
    V2,
    BaseSaverBuilder,
    BulkSaverBuilder,
    warn_of_version_1,
)
from tfteach.lib.training.global_step import global_step as value_of_step
from tfteach.variables.protos import prepended, stripped

_NODES = "filename_tensor_name", "save_tensor_name", "restore_op_name"


@export("train.Saver")
class Saver(EagerSaver):
    """Writes variables to checkpoints and reads them back.

    The constructor adds the nodes for this to the default graph, so all variables must
    exist before.

    Args:
      var_list: what to save: a list of variables, or a dict from their names in the
        checkpoint; None means all global variables, tables and other objects in
        `tf.GraphKeys.SAVEABLE_OBJECTS`.
      reshape: give restored values the variables' shapes.
      sharded: write a file for each device.
      max_to_keep: the number of checkpoints to keep; None or 0 means all, of which
        only the last is then listed.
      keep_checkpoint_every_n_hours: the interval of checkpoints that are kept beyond
        `max_to_keep`.
      name: the name scope of the nodes ("save").
      restore_sequentially: passed to `builder`.  The default builder ignores it, as in
        TF: one op restores all.
      saver_def: a SaverDef proto that refers to existing nodes, instead of new ones.
      builder: makes the nodes; see `tfteach.lib.files.saver_builder.BaseSaverBuilder`.
      defer_build: do not add nodes before `build()`.
      allow_empty: whether a graph without variables is allowed.
      write_version: the format, `tf.train.SaverDef.V2` or the older V1.
      pad_step_number: whether to pad the step in file names to eight digits.
      save_relative_paths: whether the list of checkpoints has relative paths.
      filename: the default file name of the nodes.

    Raises:
      ValueError: there are no variables, or two have the same name.
      TypeError: `var_list` has an entry that cannot be saved.

    Example:
      >>> w = tf.Variable([1.0, 2.0], name="w")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as session:
      ...     _ = session.run(w.initializer)
      ...     path = saver.save(session, "logs/model", global_step=7)
      >>> path
      'logs/model-7'
      >>> with tf.Session() as session:
      ...     saver.restore(session, path)
      ...     print(session.run(w))
      [1. 2.]

    Source: python/training/saver.py; SaveV2 and RestoreV2 in core/ops/io_ops.cc.
    """

    def __init__(
        self,
        var_list: SaveableList | None = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Proto | None = None,
        builder: BaseSaverBuilder | None = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set "
                "defer_build=False or var_list=None."
            )
        self._var_list = var_list
        self._options: dict[str, Any] = {
            "reshape": reshape,
            "sharded": sharded,
            "max_to_keep": max_to_keep,
            "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours,
            "name": name,
            "restore_sequentially": restore_sequentially,
            "filename": filename,
        }
        super().__init__(saver_def)
        self._builder = builder
        self._allow_empty = allow_empty
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._is_built = False
        self._is_empty = False
        self._object_saver: Saver | None = None
        if get_default_graph().is_eager:
            self._prepare_eagerly()
        elif not defer_build:
            self.build()
        if self.saver_def is not None:
            self._check_saver_def()
            self._write_version = self.saver_def.version

    def build(self) -> None:
        """Add the nodes, if they do not exist yet.

        Raises:
          RuntimeError: in an eager program.
        """
        if get_default_graph().is_eager:
            raise RuntimeError("Use save/restore instead of build in eager mode.")
        if self._is_built:
            return
        self._is_built = True
        if self.saver_def is None:
            if self._builder is None:
                self._builder = BulkSaverBuilder(self._write_version)
            if self._var_list is None:
                self._var_list = all_saveable_objects()
            if not self._var_list:
                if not self._allow_empty:
                    raise ValueError("No variables to save")
                self._is_empty = True
                return
            self.saver_def = self._builder.build(self._var_list, **self._options)
        self._check_saver_def()
        if self._options["name"] and self._builder is None:
            scope = self._options["name"]
            self.saver_def = _renamed(self.saver_def, lambda n: prepended(n, scope))
        self._begin_keeping()

    def _check_saver_def(self) -> None:
        descriptor = getattr(self.saver_def, "DESCRIPTOR", None)
        if getattr(descriptor, "name", None) != "SaverDef":
            raise ValueError(
                f"saver_def must be a saver_pb2.SaverDef: {self.saver_def}"
            )
        if get_default_graph().is_eager:
            return
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self.saver_def, field):
                raise ValueError(
                    f"saver_def must specify the {field}: {self.saver_def}"
                )

    def as_saver_def(self) -> Proto | None:
        """The names of the nodes, as a SaverDef proto."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Proto | None:
        """The names of the nodes inside `export_scope`, as a SaverDef proto.

        None if they are not in that scope.
        """
        saver_def = self.saver_def
        if export_scope is None or saver_def is None:
            return saver_def
        if not all(getattr(saver_def, n).startswith(export_scope) for n in _NODES):
            return None
        return _renamed(saver_def, lambda name: stripped(name, export_scope))

    @staticmethod
    def from_proto(saver_def: Proto, import_scope: str | None = None) -> Saver:
        """The Saver of a SaverDef; its nodes must already exist."""
        return Saver(saver_def=saver_def, name=import_scope)

    # ---- saving

    def save(
        self,
        sess: SessionLike,
        save_path: PathLike,
        global_step: TensorLike | None = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Write a checkpoint, its graph, and the list of checkpoints.

        Args:
          sess: a session of the graph; the variables must be initialized.  An eager
            program passes None.
          save_path: the path, to which the files' names add an ending.
          global_step: a number to append to `save_path`: an integer, or a Tensor,
            variable or Tensor's name.
          latest_filename: the name of the file that lists the checkpoints
            ("checkpoint").
          meta_graph_suffix: the ending of the file with the graph.
          write_meta_graph: whether to write the graph.
          write_state: whether to update the list of checkpoints, and delete old ones.
          strip_default_attrs: omit the nodes' attributes with their default value.
          save_debug_info: write the lines that created the nodes, too: a
            GraphDebugInfo proto in a file whose name ends in ".debug".

        Returns:
          The checkpoint's path, as `restore` accepts it; None if the Saver is empty.

        Raises:
          TypeError: `sess` is not a session.
          ValueError: the directory does not exist; `latest_filename` is a path, or
            equals `save_path`.
          RuntimeError: the nodes are not built.
          FailedPreconditionError: a variable is not initialized.
          ResourceExhaustedError: the disk is full.  Files written before remain.

        Example:
          >>> saver.save(session, "logs/model", global_step=step)

        Source: python/training/saver.py.
        """
        if not self._is_built:
            raise RuntimeError(
                "`build()` should be called before save if defer_build==True"
            )
        state_name = latest_filename or management.STATE_FILE
        if self._write_version != V2:
            warn_of_version_1()
        if os.path.split(state_name)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        prefix = os.fsdecode(save_path)
        if not prefix:
            raise ValueError("no path specified: save_path is empty")
        path = prefix
        if global_step is not None:
            if not isinstance(global_step, int | np.integer):
                global_step = value_of_step(sess, global_step)
            digits = 8 if self._pad_step_number else 0
            path = f"{prefix}-{global_step:0{digits}d}"
        elif os.path.basename(prefix) == state_name and not self._options["sharded"]:
            raise ValueError(
                f"'latest_filename' collides with 'save_path': '{state_name}' and "
                f"'{prefix}'"
            )
        is_eager = get_default_graph().is_eager
        if not is_eager and not isinstance(sess, BaseSession):
            raise TypeError(f"'sess' must be a Session; {sess}")
        written = None
        if not self._is_empty:
            written = self._write(sess, path)
            if write_state:
                self._record(written)
                management.write_checkpoint_state(
                    file_system.dirname(prefix),
                    written,
                    self.last_checkpoints,
                    state_name,
                    self._save_relative_paths,
                )
                self._delete_oldest(meta_graph_suffix)
        if write_meta_graph and not is_eager:
            name = management.meta_graph_filename(path, meta_graph_suffix)
            with sess.graph.as_default():
                self.export_meta_graph(
                    name,
                    strip_default_attrs=strip_default_attrs,
                    save_debug_info=save_debug_info,
                )
        return written

    def _write(self, sess: SessionLike, path: str) -> str:
        """Run what saves: the checkpoint's path."""
        names = self.saver_def
        try:
            if get_default_graph().is_eager:
                return self._write_eagerly(path)
            found = sess.run(names.save_tensor_name, {names.filename_tensor_name: path})
        except (FailedPreconditionError, NotFoundError):
            folder = file_system.dirname(path)
            # TF also says so of "", where a variable may just not be initialized.
            if folder and not file_system.isdir(file_system.resolve(folder)):
                raise ValueError(
                    f"Parent directory of {path} doesn't exist, can't save."
                ) from None
            raise
        return cast(bytes, found).decode()

    def export_meta_graph(
        self,
        filename: PathLike | None = None,
        collection_list: Sequence[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Proto:
        """The MetaGraphDef of the default graph, with this Saver's SaverDef.

        Args:
          filename: the file to write it to as well, if any.
          collection_list, as_text, export_scope, clear_devices,
            clear_extraneous_savers, strip_default_attrs, save_debug_info: as in
            `tf.train.export_meta_graph`.

        Returns:
          A MetaGraphDef proto.
        """
        from tfteach.lib.files.meta_graph import export_meta_graph

        return export_meta_graph(
            filename=filename,
            graph_def=get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )

    # ---- restoring

    def restore(self, sess: SessionLike, save_path: PathLike) -> None:
        """Set the variables to the values in a checkpoint.

        They need not be initialized.  If that fails, all keep the values they had.

        Args:
          sess: a session of the graph; an eager program passes None.
          save_path: the path that `save` returned, or `tf.train.latest_checkpoint`.

        Raises:
          ValueError: there is no checkpoint of that path, or it is None.
          NotFoundError: the checkpoint lacks a variable.
          InvalidArgumentError: a variable has another type or shape there.
          DataLossError: a file is damaged.

        Example:
          >>> saver.restore(session, tf.train.latest_checkpoint("logs"))

        Source: python/training/saver.py.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = os.fsdecode(save_path)
        if not management.is_checkpoint(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        if self.saver_def is None:
            raise RuntimeError(
                "`build()` should be called before restore if defer_build==True"
            )
        get_logger().info(f"Restoring parameters from {path}")
        names = self.saver_def
        try:
            if get_default_graph().is_eager:
                self._describe(path, "")
                self._restore_eagerly(path, saveables_of(self._var_list))
            else:
                sess.run(names.restore_op_name, {names.filename_tensor_name: path})
        except NotFoundError as error:
            self._restore_by_objects(sess, path, error)
        except InvalidArgumentError as error:
            raise_explained(error, "a mismatch between the current graph and the graph")

    def _restore_by_objects(
        self, sess: SessionLike, path: str, error: NotFoundError
    ) -> None:
        """Restore from a checkpoint of `tf.train.Checkpoint`; raise `error` if none."""
        try:
            keys = keys_by_variable_name(path)
        except NotFoundError:
            keys = None
        if keys is not None:
            get_logger().warning(
                "Restoring an object-based checkpoint using a name-based saver. This "
                "may be somewhat fragile, and will re-build the Saver. Instead, "
                "consider loading object-based checkpoints using "
                "tf.train.Checkpoint()."
            )
            saveables = saveables_with_keys(self._var_list, keys)
            if get_default_graph().is_eager:
                self._restore_eagerly(path, saveables)
                return
            if self._object_saver is None:
                self._object_saver = Saver(saveables)
            self._object_saver.restore(sess, path)
            return
        raise_explained(
            error,
            "a Variable name or other graph key that is missing",
            missing_names(self._names(sess), path),
        )

    def _names(self, sess: SessionLike) -> Sequence[str] | None:
        """The names that are looked up in checkpoints, if they are known."""
        if not get_default_graph().is_eager:
            return restored_names(sess, self.saver_def)
        saveables = saveables_of(self._var_list)
        return [spec.name for saveable in saveables for spec in saveable.specs]


def _renamed(saver_def: Any, rename: Callable[[str], str]) -> Any:
    """A copy of a SaverDef with its nodes renamed."""
    found = type(saver_def).FromString(saver_def.SerializeToString())
    for field in _NODES:
        setattr(found, field, rename(getattr(found, field)))
    return found


register_proto_functions(
    [GraphKeys.SAVERS], ProtoFunctions("SaverDef", Saver.to_proto, Saver.from_proto)
)
