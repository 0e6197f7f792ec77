"""Variables converted to VariableDef protos and back, for MetaGraphs.

Source: core/framework/variable.proto, python/ops/variables.py (to_proto, from_proto).
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef.meta_graph import (
    ProtoFunctions,
    register_proto_functions,
)
from tfteach.framework.graphdef.meta_graph import prepended as prepended
from tfteach.framework.graphdef.meta_graph import stripped as stripped
from tfteach.framework.operation import Tensor

MESSAGE = "VariableDef"


def variable_proto(
    variable: Any, name: str, snapshot: Tensor, export_scope: str | None
) -> Any:
    """The VariableDef of a variable; None if it is not inside `export_scope`."""
    from tfteach.framework.protos import VariableDef

    if export_scope is not None and not name.startswith(export_scope):
        return None
    proto = VariableDef(
        variable_name=stripped(name, export_scope),
        initializer_name=stripped(variable.initializer.name, export_scope),
        snapshot_name=stripped(snapshot.name, export_scope),
        trainable=variable.trainable,
        synchronization=variable.synchronization.value,
        aggregation=variable.aggregation.value,
    )
    if variable.initial_value is not None:
        proto.initial_value_name = stripped(variable.initial_value.name, export_scope)
    info = variable._get_save_slice_info()
    if info is not None:
        proto.save_slice_info_def.MergeFrom(info.to_proto(export_scope))
    return proto


def tensor_of(name: str, import_scope: str | None) -> Any:
    """The tensor named by a field of a VariableDef; None for "".

    Raises:
      KeyError: it does not exist.
      ValueError: it is the name of an operation.
    """
    if not name:
        return None
    if ":" not in name:
        raise ValueError(f"'{name}' is not the name of a Tensor")
    return get_default_graph().get_tensor_by_name(prepended(name, import_scope))


def operation_of(name: str, import_scope: str | None) -> Any:
    """The operation named by a field of a VariableDef; None for ""."""
    if not name:
        return None
    return get_default_graph().get_operation_by_name(prepended(name, import_scope))


def restore_common(variable: Any, proto: Any, import_scope: str | None) -> None:
    """Restore the fields shared by both kinds of variables from a VariableDef."""
    from tfteach.variables.base import SaveSliceInfo, check_modes

    variable._synchronization, variable._aggregation, variable._trainable = check_modes(
        proto.synchronization, proto.aggregation, proto.trainable, proto.variable_name
    )
    variable._initializer_op = operation_of(proto.initializer_name, import_scope)
    variable._initial_value = tensor_of(proto.initial_value_name, import_scope)
    variable._constraint = None
    if proto.HasField("save_slice_info_def"):
        part = proto.save_slice_info_def
        if not len(part.full_shape) == len(part.var_offset) == len(part.var_shape):
            raise ValueError(
                f"'{proto.variable_name}' is a part of {part.full_name} with a full "
                f"shape of {len(part.full_shape)} sizes, {len(part.var_offset)} "
                f"offsets and {len(part.var_shape)} sizes"
            )
        variable._save_slice_info = SaveSliceInfo(
            save_slice_info_def=part, import_scope=import_scope
        )


def init_ref_from_proto(variable: Any, proto: Any, import_scope: str | None) -> None:
    """Initialize a new RefVariable from its VariableDef."""
    restore_common(variable, proto, import_scope)
    reference = tensor_of(proto.variable_name, import_scope)
    if reference is None or not reference.dtype.is_ref:
        raise ValueError(f"'{proto.variable_name}' is no variable")
    variable._variable = reference
    variable._snapshot = tensor_of(proto.snapshot_name, import_scope)


def _to_proto(variable: Any, export_scope: str | None) -> Any:
    return variable.to_proto(export_scope)


def _from_proto(proto: Any, import_scope: str | None) -> Any:
    from tfteach.variables.base import Variable

    return Variable.from_proto(proto, import_scope)


register_proto_functions(
    [
        GraphKeys.GLOBAL_VARIABLES,
        GraphKeys.LOCAL_VARIABLES,
        GraphKeys.METRIC_VARIABLES,
        GraphKeys.MODEL_VARIABLES,
        GraphKeys.TRAINABLE_VARIABLES,
        GraphKeys.MOVING_AVERAGE_VARIABLES,
        GraphKeys.GLOBAL_STEP,
    ],
    ProtoFunctions(MESSAGE, _to_proto, _from_proto),
)
