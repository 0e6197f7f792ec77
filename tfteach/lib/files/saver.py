"""`tf.train.Saver`: the nodes that save and restore variables.

Source: python/training/saver.py, saving/saveable_object_util.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn

from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef.meta_graph import (
    ProtoFunctions,
    register_proto_functions,
)
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Proto, SessionLike
from tfteach.ops.core.control_flow_ops import forward, group, with_dependencies
from tfteach.ops.core.identity_reshape import Identity
from tfteach.ops.core.placeholder import placeholder_with_default
from tfteach.ops.io.save_restore import RestoreV2, SaveV2
from tfteach.ops.state.ref_variables import Assign
from tfteach.ops.state.resource_variables import AssignVariableOp
from tfteach.variables.base import Variable
from tfteach.variables.protos import prepended, stripped
from tfteach.variables.resource import BaseResourceVariable


class Saveable(NamedTuple):
    """One tensor of a checkpoint."""

    key: str
    slice_spec: str
    variable: Any
    tensor: Tensor


def saveables_of(var_list: Any) -> list[Saveable]:
    """The variables of a Saver's `var_list`, sorted by key.

    Raises:
      TypeError: an entry is not a variable, or `var_list` is not a collection.
      ValueError: two variables have the same name.
    """
    if isinstance(var_list, dict):
        named = {
            key: list(value) if _is_partitioned(value) else [value]
            for key, value in var_list.items()
        }
    elif isinstance(var_list, list | tuple | set):
        named = {}
        for value in sorted(var_list, key=lambda v: str(getattr(v, "name", ""))):
            for part in list(value) if _is_partitioned(value) else [value]:
                _check_variable(part)
                info = part._get_save_slice_info()
                key = part.op.name if info is None else info.full_name
                if info is None and key in named:
                    raise ValueError(
                        f"At least two variables have the same name: {key}"
                    )
                named.setdefault(key, []).append(part)
    else:
        raise TypeError(
            f"Variables to save should be passed in a dict or a list: {var_list}"
        )
    found = []
    for key in sorted(named):
        for variable in named[key]:
            _check_variable(variable)
            info = variable._get_save_slice_info()
            element = variable._as_graph_element()
            if info is not None and not isinstance(variable, BaseResourceVariable):
                element = convert(variable)  # for a partition TF saves the value read
            spec = "" if info is None else info.spec
            found.append(Saveable(key, spec, variable, element))
    return found


def _is_partitioned(value: Any) -> bool:
    return type(value).__name__ == "PartitionedVariable"


def _check_variable(value: Any) -> None:
    if not isinstance(value, Variable):
        raise TypeError(f"Variable to save is not a Variable: {value}")


@export("train.Saver")
class Saver:
    """Adds the nodes that save and restore variables to the graph.

    `save` and `restore` themselves are not implemented yet.

    Args:
      var_list: the variables, as a list, or as a dict from their names in the
        checkpoint; None means all of the graph's.
      reshape: not implemented.
      sharded: not implemented.
      max_to_keep: the number of checkpoints to keep.
      keep_checkpoint_every_n_hours: the interval of checkpoints that are never deleted.
      name: the name scope of the nodes ("save").
      restore_sequentially: without effect, as in TF: one op restores all.
      saver_def: a SaverDef proto that refers to existing nodes, instead of new ones.
      builder: not implemented.
      defer_build: do not add nodes before `build()`.
      allow_empty: whether a graph without variables is allowed.
      write_version: 2, the only supported one.
      pad_step_number: whether to pad the step in file names to eight digits.
      save_relative_paths: whether the list of checkpoints has relative paths.
      filename: the default file name.

    Raises:
      ValueError: there are no variables.
      TypeError: `var_list` has an entry that is not a variable.

    Source: python/training/saver.py; SaveV2 and RestoreV2 in core/ops/io_ops.cc.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Proto | None = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = 2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        refused = {
            "reshape": reshape,
            "sharded": sharded,
            "builder": builder,
            "write_version": write_version != 2,
        }
        for argument, is_given in refused.items():
            if is_given:
                raise NotImplementedError(f"Saver({argument}=...) is not implemented")
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set "
                "defer_build=False or var_list=None."
            )
        self._var_list = var_list
        self._max_to_keep = max_to_keep
        self._keep_hours = keep_checkpoint_every_n_hours
        self._name, self._filename = name, filename
        self._allow_empty = allow_empty
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self.saver_def = saver_def
        self._is_built = False
        self._is_empty = False
        self._last_checkpoints: list[tuple[str, float]] = []
        if not defer_build:
            self.build()

    def build(self) -> None:
        """Add the nodes, if they do not exist yet."""
        if self._is_built:
            return
        self._is_built = True
        if self.saver_def is None:
            variables = self._var_list
            if variables is None:
                graph = get_default_graph()
                variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
                variables += graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)
            if not variables:
                if not self._allow_empty:
                    raise ValueError("No variables to save")
                self._is_empty = True
                return
            self.saver_def = self._build_nodes(saveables_of(variables))
        self._check_saver_def()

    def _build_nodes(self, saveables: list[Saveable]) -> Any:
        from tfteach.framework.protos import SaverDef

        with name_scope(self._name, "save", [s.tensor for s in saveables]):
            default = self._filename or "model"
            filename = placeholder_with_default(default, (), "filename")
            # Programs refer to this node by name.
            filename = placeholder_with_default(filename, (), "Const")
            saved = add_save_nodes(filename, saveables)
            restored = add_restore_nodes(filename, saveables)
        return SaverDef(
            filename_tensor_name=filename.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            max_to_keep=self._max_to_keep or 0,
            keep_checkpoint_every_n_hours=self._keep_hours,
            version=SaverDef.V2,
        )

    def _check_saver_def(self) -> None:
        descriptor = getattr(self.saver_def, "DESCRIPTOR", None)
        if getattr(descriptor, "name", None) != "SaverDef":
            raise ValueError(
                f"saver_def must be a saver_pb2.SaverDef: {self.saver_def}"
            )
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self.saver_def, field):
                raise ValueError(
                    f"saver_def must specify the {field}: {self.saver_def}"
                )

    def as_saver_def(self) -> Any:
        """The names of the nodes, as a SaverDef proto."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The names of the nodes inside `export_scope`, as a SaverDef proto.

        None if they are not in that scope.
        """
        saver_def = self.saver_def
        if export_scope is None or saver_def is None:
            return saver_def
        if not saver_def.filename_tensor_name.startswith(export_scope):
            return None
        return _with_names(saver_def, lambda name: stripped(name, export_scope))

    @staticmethod
    def from_proto(saver_def: Proto, import_scope: str | None = None) -> Saver:
        """The Saver of a SaverDef; its nodes must already exist."""
        named = _with_names(saver_def, lambda name: prepended(name, import_scope))
        return Saver(saver_def=named, name=import_scope)

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints written so far, the oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def save(self, sess: SessionLike, save_path: str, *_: Any, **__: Any) -> NoReturn:
        """Write a checkpoint: not implemented yet."""
        _refuse_files("save")

    def restore(self, sess: SessionLike, save_path: str) -> NoReturn:
        """Read a checkpoint: not implemented yet."""
        _refuse_files("restore")


def _with_names(saver_def: Any, rename: Callable[[str], str]) -> Any:
    """A copy of a SaverDef with its nodes renamed."""
    found = type(saver_def).FromString(saver_def.SerializeToString())
    for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
        setattr(found, field, rename(getattr(found, field)))
    return found


register_proto_functions(
    [GraphKeys.SAVERS], ProtoFunctions("SaverDef", Saver.to_proto, Saver.from_proto)
)


def _refuse_files(method: str) -> NoReturn:
    raise NotImplementedError(
        f"Saver.{method}: checkpoint files are not implemented yet. Fetch the "
        "variables with session.run and save them with numpy.savez."
    )


def add_save_nodes(filename: Tensor, saveables: Iterable[Saveable]) -> Tensor:
    """The nodes that write a checkpoint: its file name once it is written."""
    items = list(saveables)
    save = SaveV2()(
        filename,
        [s.key for s in items],
        [s.slice_spec for s in items],
        [s.tensor for s in items],
        name="SaveV2",
    )
    return with_dependencies([save], filename)


def add_restore_nodes(filename: Tensor, saveables: Iterable[Saveable]) -> Operation:
    """The nodes that read a checkpoint into the variables."""
    items = list(saveables)
    with get_default_graph().device("/device:CPU:0"):
        types = tuple(s.variable.dtype.base_dtype for s in items)
        values = RestoreV2(types)(
            filename,
            [s.key for s in items],
            [s.slice_spec for s in items],
            name="RestoreV2",
        )
    assigns = [_assign(s.variable, v) for s, v in zip(items, values, strict=True)]
    return group(*assigns, name="restore_all")


def _assign(variable: Any, value: Tensor) -> Any:
    if isinstance(variable, BaseResourceVariable):
        with get_default_graph().device(variable.device or None):
            value = forward(Identity(), value)
        return AssignVariableOp()(variable.handle, value)
    validate = variable.shape.is_fully_defined()
    return Assign(validate_shape=validate)(variable._ref(), value)
