"""From a Saver's `var_list` to objects that can be saved.

Source: python/training/saving/saveable_object_util.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.device import DeviceSpecV2
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.ops.core.control_flow_ops import forward
from tfteach.ops.core.identity_reshape import Identity, identity, reshape
from tfteach.ops.state import ref_variables
from tfteach.ops.state.resource_variables import (
    AssignVariableOp,
    ReadVariableOp,
    VarHandleOp,
)
from tfteach.variables.base import Variable
from tfteach.variables.eager import EagerReads
from tfteach.variables.partitioned import PartitionedVariable
from tfteach.variables.ref import RefVariable
from tfteach.variables.resource import BaseResourceVariable

_REFERENCES = ref_variables.Variable | ref_variables.VariableV2
_VARIABLES = _REFERENCES | VarHandleOp | ReadVariableOp


def on_cpu_0(device: str) -> str:
    """The first CPU of the machine that a device belongs to."""
    spec = DeviceSpecV2.from_string(device)
    return spec.replace(device_type="CPU", device_index=0).to_string()


def _reshaped(tensor: Tensor, shapes: Sequence[Any] | None) -> Tensor:
    return tensor if shapes is None else reshape(tensor, shapes[0])


class ReferenceVariableSaveable(SaveableObject):
    """A variable referred to by a reference, or a part of one.

    Args:
      var: the variable, or the Tensor of its reference.
      slice_spec: the part of the whole that it is; "" for all.
      name: its name in the checkpoint.
    """

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        spec = SaveSpec(var, slice_spec, name, dtype=var.dtype)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """The Operation that assigns the variable."""
        ref: Any = self.op._ref() if isinstance(self.op, RefVariable) else self.op
        is_fixed = restored_shapes is None and self.op.shape.is_fully_defined()
        value = _reshaped(restored_tensors[0], restored_shapes)
        return ref_variables.assign(ref, value, validate_shape=is_fixed)


class ResourceVariableSaveable(SaveableObject):
    """A variable referred to by a handle, or a part of one.

    Args:
      var: the variable, or a Tensor that reads it.
      slice_spec: the part of the whole that it is; "" for all.
      name: its name in the checkpoint.

    Raises:
      ValueError: `var` is neither.
    """

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        self._device, self._shape = var.device, var.shape
        tensor: Tensor | Callable[[], Tensor]
        if isinstance(var, Tensor):
            self.handle_op, tensor = var.op.inputs[0], var
        elif isinstance(var, BaseResourceVariable):
            self.handle_op = var.handle

            def tensor() -> Tensor:
                with get_default_graph().device(var.device):
                    value = var.read_value()
                    with get_default_graph().device("/device:CPU:0"):
                        return identity(value)

        else:
            raise ValueError(
                "Saveable is neither a resource variable nor a read operation. "
                f"Got: {var!r}"
            )
        spec = SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """The Operation that assigns the variable."""
        value = _reshaped(restored_tensors[0], restored_shapes)
        with get_default_graph().device(self._device):
            value = forward(Identity(), value)
            self._shape.assert_is_compatible_with(value.shape)
            return AssignVariableOp()(self.handle_op, value)


def all_saveable_objects() -> list[Any]:
    """What a Saver without `var_list` saves: the graph's variables and tables."""
    graph = get_default_graph()
    keys = GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS
    return [item for key in keys for item in graph.get_collection(key)]


def saveables_of(var_list: Any) -> list[SaveableObject]:
    """The objects of a Saver's `var_list`, sorted by name.

    Args:
      var_list: a dict from names, or a list.  Its entries are variables, partitioned
        or not, Tensors that refer to variables, lists of parts, tables,
        `SaveableObject`s.

    Raises:
      TypeError: an entry is none of these, or `var_list` is no collection.
      ValueError: two entries have the same name, or an entry has two names.
    """
    named = var_list if isinstance(var_list, dict) else _by_name(var_list)
    found: list[SaveableObject] = []
    seen: dict[int, Any] = {}
    for name in sorted(named):
        for saveable in _saveables(named[name], name):
            if id(saveable.op) in seen:
                raise ValueError(
                    "The same saveable will be restored with two names: "
                    f"{saveable.name}"
                )
            seen[id(saveable.op)] = saveable.op
            found.append(saveable)
    return found


def _saveables(item: Any, name: Any) -> Iterator[SaveableObject]:
    if not isinstance(name, str):
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable "
            f"operations. Name is not a string: {name}"
        )
    if isinstance(item, SaveableObject):
        yield item
    elif hasattr(item, "copies"):  # it has several copies
        yield item._saveable(name)
    elif isinstance(item, list | tuple | PartitionedVariable):
        yield from _parts(list(item), name)
    elif isinstance(item, BaseResourceVariable):
        element = item._as_graph_element()
        yield ResourceVariableSaveable(item if element is None else element, "", name)
    elif not isinstance(item, Variable) and hasattr(
        item, "_gather_saveables_for_checkpoint"
    ):
        for attribute, made in item._gather_saveables_for_checkpoint().items():
            saveable = made(f"{name}_{attribute}") if callable(made) else made
            yield from _saveables(saveable, saveable.name)
    else:
        tensor = _variable_tensor(
            item,
            "names_to_saveables must be a dict mapping string names to "
            "Tensors/Variables. Not a variable: ",
        )
        kind = (
            ReferenceVariableSaveable
            if isinstance(tensor.op.spec, _REFERENCES)
            else ResourceVariableSaveable
        )
        yield kind(tensor, "", name)


def _parts(variables: list[Any], name: str) -> Iterator[SaveableObject]:
    """The parts of a partitioned variable."""
    whole = None
    for variable in variables:
        if not isinstance(variable, Variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        info = variable._get_save_slice_info()
        if not info:
            raise ValueError(f"Slices must all be slices: {variable}")
        if whole is None:
            whole = info.full_name
        elif whole != info.full_name:
            raise ValueError(
                f"Slices must all be from the same tensor: {whole} != {info.full_name}"
            )
        if isinstance(variable, BaseResourceVariable):
            yield ResourceVariableSaveable(variable, info.spec, name)
        else:
            yield ReferenceVariableSaveable(variable, info.spec, name)


def _by_name(var_list: Any) -> dict[str, Any]:
    """A list of variables and other saveable objects, by their names."""
    if not isinstance(var_list, list | tuple | set):
        raise TypeError(
            f"Variables to save should be passed in a dict or a list: {var_list}"
        )
    named: dict[str, Any] = {}
    for item in sorted(var_list, key=_name_of):
        if isinstance(item, SaveableObject):
            named[item.name] = item
        elif hasattr(item, "copies"):
            name = item.name.partition(":")[0]
            _require_new(name, named)
            named[name] = item
        elif isinstance(item, PartitionedVariable):
            _require_new(item.name, named)
            named[item.name] = item
        elif isinstance(item, Variable) and item._get_save_slice_info():
            name = item._get_save_slice_info().full_name
            parts = named.setdefault(name, [])
            if not isinstance(parts, list):
                raise ValueError(
                    f"Mixing slices and non-slices with the same name: {name}"
                )
            parts.append(item)
        elif isinstance(item, EagerReads):
            _require_same(item, named.setdefault(item._shared_name, item))
        elif not isinstance(item, Variable | Tensor) and hasattr(
            item, "_gather_saveables_for_checkpoint"
        ):
            made = item._gather_saveables_for_checkpoint().values()
            named.update(_by_name([m() if callable(m) else m for m in made]))
        else:
            tensor = _variable_tensor(item, "Variable to save is not a Variable: ")
            reads = isinstance(tensor.op.spec, ReadVariableOp)
            name = (tensor.op.inputs[0] if reads else tensor).op.name
            _require_new(name, named)
            named[name] = tensor
    return named


def _name_of(item: Any) -> str:
    return str(getattr(item, "name", ""))


def _require_same(variable: Any, found: Any) -> None:
    if found is not variable:
        name = variable._shared_name
        raise ValueError(
            f"Two different ResourceVariable objects with the same shared_name '{name}'"
            " were passed to the Saver. This likely means that they were created in "
            "different Graphs or isolation contexts, and may not be checkpointed "
            "together."
        )


def _require_new(name: str, named: dict[str, Any]) -> None:
    if name in named:
        raise ValueError(f"At least two variables have the same name: {name}")


def _variable_tensor(item: Any, complaint: str) -> Tensor:
    """The Tensor that refers to a variable, or reads its handle."""
    tensor: Tensor | None = None
    if isinstance(item, RefVariable | BaseResourceVariable):
        tensor = item._as_graph_element()
    if tensor is None:
        tensor = convert(item, as_ref=True)
    if not isinstance(tensor.op.spec, _VARIABLES):
        raise TypeError(f"{complaint}{tensor}")
    return tensor
