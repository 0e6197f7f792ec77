"""Proto files of TensorFlow that TensorBoard does not ship.

Source: core/framework/device_attributes.proto, core/protobuf/control_flow.proto (names,
types and numbers of the fields).
"""

from __future__ import annotations

from typing import Any

# File -> message -> fields as `name type number`.  Before the type, "*" marks a
# repeated field, "|" one of a one-of; "map" is from strings to strings.
ABSENT = {
    "device_attributes": {
        "InterconnectLink": "device_id int32 1, type string 2, strength int32 3",
        "LocalLinks": "link *InterconnectLink 1",
        "DeviceLocality": "bus_id int32 1, numa_node int32 2, links LocalLinks 3",
        "DeviceAttributes": "name string 1, device_type string 2, "
        "memory_limit int64 4, locality DeviceLocality 5, incarnation fixed64 6, "
        "physical_device_desc string 7",
    },
    "control_flow": {
        "ValuesDef": "values *string 1, external_values map 2",
        "ControlFlowContextDef": "cond_ctxt |CondContextDef 1, "
        "while_ctxt |WhileContextDef 2",
        "CondContextDef": "context_name string 1, pred_name string 2, "
        "pivot_name string 3, branch int32 4, values_def ValuesDef 5, "
        "nested_contexts *ControlFlowContextDef 6",
        "WhileContextDef": "context_name string 1, parallel_iterations int32 2, "
        "back_prop bool 3, swap_memory bool 4, pivot_name string 5, "
        "pivot_for_pred_name string 6, pivot_for_body_name string 7, "
        "loop_exit_names *string 8, loop_enter_names *string 10, "
        "values_def ValuesDef 9, maximum_iterations_name string 11, "
        "nested_contexts *ControlFlowContextDef 12",
    },
}


def absent_file(file: str) -> Any:
    """One of these files as a FileDescriptorProto."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    made = FileDescriptorProto(
        name=f"tensorflow/core/{file}.proto", package="tensorflow", syntax="proto3"
    )
    for name, fields in ABSENT[file].items():
        message = made.message_type.add(name=name)
        for field in fields.split(", "):
            _add_field(message, *field.split())
    return made


def _add_field(message: Any, name: str, kind: str, number: str) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto

    field = message.field.add(name=name, number=int(number))
    is_map = kind == "map"
    if is_map:
        entry = message.nested_type.add(
            name="".join(part.title() for part in name.split("_")) + "Entry"
        )
        entry.options.map_entry = True
        _add_field(entry, "key", "string", "1")
        _add_field(entry, "value", "string", "2")
        kind = f"*{message.name}.{entry.name}"
    field.label = (
        FieldDescriptorProto.LABEL_REPEATED
        if kind.startswith("*")
        else FieldDescriptorProto.LABEL_OPTIONAL
    )
    if kind.startswith("|"):
        if not message.oneof_decl:
            message.oneof_decl.add(name="ctxt")
        field.oneof_index = 0
    kind = kind.lstrip("*|")
    if kind[0].isupper():
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f".tensorflow.{kind}"
    else:
        field.type = getattr(FieldDescriptorProto, f"TYPE_{kind.upper()}")
