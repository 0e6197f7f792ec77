"""Proto files of TensorFlow that TensorBoard does not ship.

Source: the files of these names in core/framework, core/example, core/protobuf,
core/util, core/kernels/boosted_trees and python/training (names, types and numbers of
the fields).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfteach.framework.protos.service_files import SERVICE_FILES

# File -> message -> fields as `name type number`, or `name type number one-of`.  Before
# the type, "*" marks a repeated field, "map:" one from strings, "enum:" an enum.  A
# message whose name has a dot is defined inside another.
ABSENT: dict[str, dict[str, str]] = {
    **SERVICE_FILES,
    "device_attributes": {
        "InterconnectLink": "device_id int32 1, type string 2, strength int32 3",
        "LocalLinks": "link *InterconnectLink 1",
        "DeviceLocality": "bus_id int32 1, numa_node int32 2, links LocalLinks 3",
        "DeviceAttributes": "name string 1, device_type string 2, "
        "memory_limit int64 4, locality DeviceLocality 5, incarnation fixed64 6, "
        "physical_device_desc string 7",
    },
    "control_flow": {
        "ValuesDef": "values *string 1, external_values map:string 2",
        "ControlFlowContextDef": "cond_ctxt CondContextDef 1 ctxt, "
        "while_ctxt WhileContextDef 2 ctxt",
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
    "tensor_slice": {
        "TensorSliceProto": "extent *TensorSliceProto.Extent 1",
        "TensorSliceProto.Extent": "start int64 1, length int64 2 has_length",
    },
    "tensor_bundle": {
        "BundleHeaderProto": "num_shards int32 1, endianness int32 2, "
        "version VersionDef 3",
        "BundleEntryProto": "dtype enum:DataType 1, shape TensorShapeProto 2, "
        "shard_id int32 3, offset int64 4, size int64 5, crc32c fixed32 6, "
        "slices *TensorSliceProto 7",
    },
    "saved_tensor_slice": {
        "SavedSliceMeta": "name string 1, shape TensorShapeProto 2, "
        "type enum:DataType 3, slice *TensorSliceProto 4",
        "SavedTensorSliceMeta": "tensor *SavedSliceMeta 1, versions VersionDef 2",
        "SavedSlice": "name string 1, slice TensorSliceProto 2, data TensorProto 3",
        "SavedTensorSlices": "meta SavedTensorSliceMeta 1, data SavedSlice 2",
    },
    "checkpoint_state": {
        "CheckpointState": "model_checkpoint_path string 1, "
        "all_model_checkpoint_paths *string 2, "
        "all_model_checkpoint_timestamps *double 3, last_preserved_timestamp double 4",
    },
    "hparam": {
        "HParamDef": "hparam map:HParamDef.HParamType 1",
        "HParamDef.BytesList": "value *bytes 1",
        "HParamDef.FloatList": "value *float 1",
        "HParamDef.Int64List": "value *int64 1",
        "HParamDef.BoolList": "value *bool 1",
        "HParamDef.HParamType": "int64_value int64 1 kind, float_value float 2 kind, "
        "bytes_value bytes 3 kind, int64_list HParamDef.Int64List 4 kind, "
        "float_list HParamDef.FloatList 5 kind, "
        "bytes_list HParamDef.BytesList 6 kind, bool_value bool 7 kind, "
        "bool_list HParamDef.BoolList 8 kind",
    },
    "saved_model": {
        "SavedModel": "saved_model_schema_version int64 1, meta_graphs *MetaGraphDef 2",
    },
    "feature": {
        "BytesList": "value *bytes 1",
        "FloatList": "value *float 1",
        "Int64List": "value *int64 1",
        "Feature": "bytes_list BytesList 1 kind, float_list FloatList 2 kind, "
        "int64_list Int64List 3 kind",
        "Features": "feature map:Feature 1",
        "FeatureList": "feature *Feature 1",
        "FeatureLists": "feature_list map:FeatureList 1",
    },
    "queue_runner": {
        "QueueRunnerDef": "queue_name string 1, enqueue_op_name *string 2, "
        "close_op_name string 3, cancel_op_name string 4, "
        "queue_closed_exception_types *enum:error.Code 5",
    },
    "error_codes": {},
    "example": {
        "Example": "features Features 1",
        "SequenceExample": "context Features 1, feature_lists FeatureLists 2",
    },
    "boosted_trees": {
        "Node": "leaf Leaf 1 node, bucketized_split BucketizedSplit 2 node, "
        "categorical_split CategoricalSplit 3 node, dense_split DenseSplit 4 node, "
        "metadata NodeMetadata 777",
        "NodeMetadata": "gain float 1, original_leaf Leaf 2",
        "Leaf": "vector Vector 1 leaf, sparse_vector SparseVector 2 leaf, "
        "scalar float 3",
        "Vector": "value *float 1",
        "SparseVector": "index *int32 1, value *float 2",
        "BucketizedSplit": "feature_id int32 1, threshold int32 2, "
        "dimension_id int32 5, default_direction enum:DefaultDirection 6, "
        "left_id int32 3, right_id int32 4",
        "CategoricalSplit": "feature_id int32 1, value int32 2, dimension_id int32 5, "
        "left_id int32 3, right_id int32 4",
        "DenseSplit": "feature_id int32 1, threshold float 2, left_id int32 3, "
        "right_id int32 4",
        "Tree": "nodes *Node 1",
        "TreeMetadata": "num_layers_grown int32 2, is_finalized bool 3, "
        "post_pruned_nodes_meta *TreeMetadata.PostPruneNodeUpdate 4",
        "TreeMetadata.PostPruneNodeUpdate": "new_node_id int32 1, "
        "logit_change *float 2",
        "GrowingMetadata": "num_trees_attempted int64 1, num_layers_attempted int64 2, "
        "last_layer_node_start int32 3, last_layer_node_end int32 4",
        "TreeEnsemble": "trees *Tree 1, tree_weights *float 2, "
        "tree_metadata *TreeMetadata 3, growing_metadata GrowingMetadata 4",
        "DebugOutput": "feature_ids *int32 1, logits_path *float 2",
    },
    # Of the files of forests, what tests of one feature need; enums are as on the wire.
    "generic_tree_model": {
        "Model": "decision_tree DecisionTree 1 model",
        "DecisionTree": "nodes *TreeNode 1",
        "TreeNode": "node_id Int32Value 1, depth Int32Value 2, "
        "binary_node BinaryNode 4 node_type, leaf Leaf 5 node_type",
        "BinaryNode": "left_child_id Int32Value 1, right_child_id Int32Value 2, "
        "default_direction int32 3, "
        "inequality_left_child_test InequalityTest 4 left_child_test",
        "Vector": "value *Value 1",
        "Leaf": "vector Vector 1 leaf",
        "FeatureId": "id StringValue 1",
        "InequalityTest": "feature_id FeatureId 1 FeatureSum, type int32 2, "
        "threshold Value 3",
        "Value": "float_value float 1 value, double_value double 2 value, "
        "int32_value int32 3 value, int64_value int64 4 value",
    },
    "tensor_forest_params": {
        "DepthDependentParam": "constant_value float 1 ParamType",
        "SplitPruningConfig": "prune_every_samples DepthDependentParam 1, type int32 2",
        "SplitFinishConfig": "check_every_steps DepthDependentParam 1, type int32 2",
        "TensorForestParams": "leaf_type int32 1, stats_type int32 2, "
        "collection_type int32 3, pruning_type SplitPruningConfig 4, "
        "finish_type SplitFinishConfig 5, num_trees int32 6, max_nodes int32 7, "
        "num_features int32 21, inequality_test_type int32 19, is_regression bool 8, "
        "drop_final_class bool 9, collate_examples bool 10, checkpoint_stats bool 11, "
        "use_running_stats_method bool 20, initialize_average_splits bool 22, "
        "inference_tree_paths bool 23, num_outputs int32 12, "
        "num_splits_to_consider DepthDependentParam 13, "
        "split_after_samples DepthDependentParam 14, "
        "dominate_fraction DepthDependentParam 15",
    },
    "fertile_stats": {
        "FertileStats": "node_to_slot *FertileSlot 1",
        "FertileSlot": "node_id int32 5, depth int32 7",
        "TreePath": "nodes_visited *TreeNode 1",
    },
}

# File -> its folder in core and its package, where these are not those of `ABSENT`.
_PLACES = {
    "fertile_stats": ("forest/", "tensorflow.tensorforest"),
    "generic_tree_model": ("forest/", "tensorflow.decision_trees"),
    "tensor_forest_params": ("forest/", "tensorflow.tensorforest"),
    "boosted_trees": ("kernels/boosted_trees/", "tensorflow.boosted_trees"),
    "error_codes": ("", "tensorflow.error"),
    "wrappers": ("", "google.protobuf"),
}

# Imported types -> the proto files that define them.
_TYPE_FILES = {
    "DataType": "types",
    "error.Code": "error_codes",
    "TreeNode": "generic_tree_model",
    "Int32Value": "wrappers",
    "StringValue": "wrappers",
}

# File -> its enums: each as the names of its values, with a number after a gap.
_ENUMS = {
    "error_codes": {
        "Code": "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND "
        "ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION "
        "ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS "
        "UNAUTHENTICATED",
    },
    "boosted_trees": {
        "SplitTypeWithDefault": "INEQUALITY_DEFAULT_LEFT INEQUALITY_DEFAULT_RIGHT "
        "EQUALITY_DEFAULT_RIGHT=3",
        "DefaultDirection": "DEFAULT_LEFT DEFAULT_RIGHT",
    },
}


def imported_names(file: str) -> set[str]:
    """The messages and enums of other files that this file's fields have."""
    kinds = {kind for _, kind, *_ in _fields(file)}
    names = {kind.rpartition(":")[2].lstrip("*") for kind in kinds}
    types = {name for name in names if name[0].isupper() or name in _TYPE_FILES}
    return types - ABSENT[file].keys() - _ENUMS.get(file, {}).keys()


def type_file(name: str) -> str | None:
    """The file that defines an imported type; None for a well-known message."""
    return _TYPE_FILES.get(name)


def absent_file(file: str, imports: list[str]) -> Any:
    """One of these files as a FileDescriptorProto.

    Args:
      file: its name in `ABSENT`.
      imports: the full names of the files that define `imported_names`.
    """
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    folder, package = _PLACES.get(file, ("", "tensorflow"))
    made = FileDescriptorProto(
        name=f"tensorflow/core/{folder}{file}.proto",
        package=package,
        syntax="proto3",
        dependency=imports,
    )
    for enum, values in _ENUMS.get(file, {}).items():
        described = made.enum_type.add(name=enum)
        for position, value in enumerate(values.split()):
            name, _, number = value.partition("=")
            described.value.add(name=name, number=int(number or position))
    messages: dict[str, Any] = {}
    for name, fields in ABSENT[file].items():
        outer, _, inner = name.rpartition(".")
        nested = messages[outer].nested_type if outer else made.message_type
        message = messages[name] = nested.add(name=inner)
        for field in _split(fields):
            _add_field(message, package, *field)
    return made


def _fields(file: str) -> Iterator[list[str]]:
    for fields in ABSENT[file].values():
        yield from _split(fields)


def _split(fields: str) -> list[list[str]]:
    return [field.split() for field in fields.split(", ") if field]


def _add_field(
    message: Any, package: str, name: str, kind: str, number: str, one_of: str = ""
) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto

    field = message.field.add(name=name, number=int(number))
    if kind.startswith("map:"):
        entry = message.nested_type.add(
            name="".join(part.title() for part in name.split("_")) + "Entry"
        )
        entry.options.map_entry = True
        _add_field(entry, package, "key", "string", "1")
        _add_field(entry, package, "value", kind.removeprefix("map:"), "2")
        kind = f"*{message.name}.{entry.name}"
    field.label = (
        FieldDescriptorProto.LABEL_REPEATED
        if kind.startswith("*")
        else FieldDescriptorProto.LABEL_OPTIONAL
    )
    if one_of:
        if not message.oneof_decl:
            message.oneof_decl.add(name=one_of)
        field.oneof_index = 0
    kind = kind.lstrip("*")
    if kind.startswith("enum:"):
        field.type = FieldDescriptorProto.TYPE_ENUM
        field.type_name = f".{package}." + kind.removeprefix("enum:")
    elif kind[0].isupper():
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        file = _TYPE_FILES.get(kind, "")
        field.type_name = f".{_PLACES.get(file, ('', package))[1]}.{kind}"
    else:
        field.type = getattr(FieldDescriptorProto, f"TYPE_{kind.upper()}")
