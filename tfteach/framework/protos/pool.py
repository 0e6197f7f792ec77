"""TensorFlow's protocol messages: the classes of the package `tensorflow`.

TensorBoard ships TensorFlow's .proto files under the package name `tensorboard`.  Here
they are loaded again, under their own name and into a separate descriptor pool: these
classes print TensorFlow's text (map entries sorted by key, whereas protobuf's own `str`
sorts them in reverse), while TensorBoard's classes, and those of another TensorFlow in
the same process, are unaffected.

Loading a file takes tens of milliseconds, so files are loaded on first access to one of
their messages.
Source: core/{framework,protobuf,util}/*.proto.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from tfteach.framework.protos.absent_files import (
    ABSENT,
    absent_file,
    imported_names,
    type_file,
)
from tfteach.framework.protos.service_files import SERVICE_FILES
from tfteach.framework.protos.text_format import message_text

# Proto file -> the messages it defines.
FILES = {
    "attr_value": "AttrValue NameAttrList",
    "node_def": "NodeDef",
    "graph": "GraphDef",
    "op_def": "OpDef OpList",
    "function": "FunctionDef FunctionDefLibrary",
    "versions": "VersionDef",
    "tensor": "TensorProto",
    "tensor_shape": "TensorShapeProto",
    "variable": "VariableDef SaveSliceInfoDef",
    "config": "ConfigProto GPUOptions OptimizerOptions "
    "GraphOptions RunOptions RunMetadata CallableOptions",
    "summary": "Summary SummaryMetadata SummaryDescription",
    "histogram": "HistogramProto",
    "event": "Event LogMessage SessionLog TaggedRunMetadata",
    "meta_graph": "MetaGraphDef TensorInfo SignatureDef CollectionDef",
    "saver": "SaverDef",
    "cluster": "ClusterDef JobDef",
    "step_stats": "StepStats NodeExecStats DeviceStepStats",
    "cost_graph": "CostGraphDef",
    "projector": "ProjectorConfig EmbeddingInfo SpriteMetadata",
    "rewriter_config": "RewriterConfig",
    "device_attributes": "DeviceAttributes DeviceLocality LocalLinks InterconnectLink",
    "control_flow": "ValuesDef ControlFlowContextDef CondContextDef WhileContextDef",
    "trackable_object_graph": "TrackableObjectGraph",
    "saved_object_graph": "SavedObjectGraph",
    "tensor_slice": "TensorSliceProto",
    "tensor_bundle": "BundleHeaderProto BundleEntryProto",
    "saved_tensor_slice": "SavedSliceMeta SavedTensorSliceMeta SavedSlice "
    "SavedTensorSlices",
    "checkpoint_state": "CheckpointState",
    "saved_model": "SavedModel",
    "hparam": "HParamDef",
    "feature": "BytesList FloatList Int64List Feature Features FeatureList "
    "FeatureLists",
    "example": "Example SequenceExample",
    "queue_runner": "QueueRunnerDef",
    "graph_debug_info": "GraphDebugInfo",
    "debug": "DebugOptions",
    **{file: " ".join(messages) for file, messages in SERVICE_FILES.items()},
    "boosted_trees": "TreeEnsemble DebugOutput",
    "generic_tree_model": "DecisionTree",
    "tensor_forest_params": "TensorForestParams",
    "fertile_stats": "FertileStats TreePath",
}
MODULES = {m: file for file, names in FILES.items() for m in names.split()}

# Newer fields in TensorBoard's files that TensorFlow 1.15 lacks: they are removed, so
# that a program that sets one gets an error.
_LATER = {
    "ConfigProto": "pluggable_device_options share_cluster_devices_in_session",
    "ConfigProto.Experimental": "enable_mlir_bridge mlir_bridge_rollout "
    "enable_mlir_graph_optimization disable_output_partition_graphs "
    "xla_fusion_autotuner_thresh use_tfrt enable_multi_host tfrt_use_ifrt "
    "backend_server_port target_tpu target_gpu stream_merge_threshold "
    "disable_functional_ops_lowering xla_prefer_single_graph_cluster "
    "coordination_config disable_optimize_for_static_graph "
    "disable_eager_executor_streaming_enqueue finalize_function_library_runtime "
    "finalize_resource_manager tf2xla_dump_dir online_cost_analysis",
    "GraphDebugInfo": "frames_by_id traces_by_id name_to_trace_id",
    "GraphDebugInfo.StackTrace": "frame_id",
    "GPUOptions.Experimental": "num_virtual_devices_per_gpu "
    "internal_fragmentation_fraction use_cuda_malloc_async "
    "disallow_retry_on_allocation_failure gpu_host_mem_limit_in_mb "
    "gpu_host_mem_disallow_growth gpu_system_memory_size_in_mb "
    "populate_pjrt_gpu_client_creation_info node_id stream_merge_options",
    "GPUOptions.Experimental.VirtualDevices": "priority device_ordinal",
    "OptimizerOptions": "cpu_global_jit",
    "RewriterConfig": "cpu_layout_conversion common_subgraph_elimination "
    "auto_mixed_precision_mkl auto_mixed_precision_onednn_bfloat16 "
    "auto_mixed_precision_cpu disable_tfg_optimizer use_plugin_optimizers "
    "experimental_conditional_code_motion "
    "experimental_disable_compressed_tensor_optimization "
    "experimental_disable_folding_quantization_emulation",
    "RunMetadata": "session_metadata",
    "RunOptions.Experimental": "run_handler_pool_options",
}

# A field that TensorBoard's files no longer have: its name and number; it is a bool.
_EARLIER = {
    "TrackableObjectGraph.TrackableObject.SerializedTensor": ("optional_restore", 4)
}

_pool: Any = None
_modules: dict[str, ModuleType] = {}
_classes: list[Any] = []  # protobuf drops unreferenced classes and creates them again


def message(name: str) -> Any:
    """The class of a message, or None if it does not exist here."""
    file = MODULES.get(name)
    if file is None:
        return None
    return getattr(proto_module(file), name)


# File -> messages that it had in TensorFlow 1.15, and the file that has them today.
_MOVED = {"config": {"RPCOptions": "rpc_options"}}


def proto_module(file: str) -> ModuleType:
    """The messages and enums of `<file>.proto`, such as "graph", as a module.

    Raises:
      ModuleNotFoundError: TensorBoard has no such file.
    """
    found = _modules.get(file)
    if found is None:
        if file == "projector":  # TensorBoard's own message, in TensorFlow too
            place = "tensorboard.plugins.projector.projector_config_pb2"
            found = importlib.import_module(place)
        elif file == "wrappers":
            theirs = importlib.import_module("google.protobuf.wrappers_pb2")
            found = _as_module(file, _load(theirs.DESCRIPTOR))
        elif file in ABSENT:
            imports = [
                proto_module(type_file(name) or MODULES[name]).DESCRIPTOR.name
                for name in imported_names(file)
            ]
            proto = absent_file(file, sorted(set(imports)))
            found = _as_module(file, _add(proto))
        else:
            theirs = importlib.import_module(f"tensorboard.compat.proto.{file}_pb2")
            found = _as_module(file, _load(theirs.DESCRIPTOR))
            for name, moved_to in _MOVED.get(file, {}).items():
                setattr(found, name, getattr(proto_module(moved_to), name))
        _modules[file] = found
    return found


def _load(theirs: Any) -> Any:
    """Add TensorBoard's file to our pool, after the files it imports."""
    from google.protobuf import descriptor_pb2

    pool = _own_pool()
    try:
        return pool.FindFileByName(theirs.name)
    except KeyError:
        pass
    for imported in theirs.dependencies:
        _load(imported)
    proto = descriptor_pb2.FileDescriptorProto.FromString(theirs.serialized_pb)
    proto.package = _renamed(proto.package)
    for described in proto.message_type:
        _rename_types(described)
        _make_1_15(described, described.name)
    return _add(proto)


def _own_pool() -> Any:
    global _pool
    if _pool is None:
        from google.protobuf import descriptor_pool

        _pool = descriptor_pool.DescriptorPool()
    return _pool


def _add(proto: Any) -> Any:
    """Add a file to our pool, and build its classes."""
    pool = _own_pool()
    pool.AddSerializedFile(proto.SerializeToString())
    loaded = pool.FindFileByName(proto.name)
    for descriptor in loaded.message_types_by_name.values():
        _finish(descriptor, descriptor.name)
    return loaded


def _make_1_15(described: Any, name: str) -> None:
    """Give a message the fields that it has in TensorFlow 1.15."""
    later = _LATER.get(name, "").split()
    kept = [field for field in described.field if field.name not in later]
    if later:
        del described.field[:]
        described.field.extend(kept)
    if name in _EARLIER:
        field, number = _EARLIER[name]
        described.ClearField("reserved_range")
        described.field.add(name=field, number=number, label=1, type=8)
    for nested in described.nested_type:
        _make_1_15(nested, f"{name}.{nested.name}")


def _renamed(name: str) -> str:
    """A package or type name with `tensorboard` replaced by `tensorflow`."""
    dot = "." if name.startswith(".") else ""
    first, *rest = name.removeprefix(".").split(".")
    first = "tensorflow" if first == "tensorboard" else first
    return dot + ".".join((first, *rest))


def _rename_types(described: Any) -> None:
    for field in described.field:
        if field.type_name:
            field.type_name = _renamed(field.type_name)
    for nested in described.nested_type:
        _rename_types(nested)


def _finish(descriptor: Any, qualname: str) -> None:
    """Give a message and those nested in it TensorFlow's text form, and pickling."""
    from google.protobuf import message_factory

    if not descriptor.file.package.startswith("tensorflow"):
        return  # Any and similar ones, which are part of protobuf
    cls: Any = message_factory.GetMessageClass(descriptor)
    cls.__str__ = cls.__repr__ = message_text
    cls.__reduce__ = _reduce
    _classes.append(cls)
    cls.__module__, cls.__qualname__ = "tfteach.framework.protos", qualname
    for nested in descriptor.nested_types:
        if not nested.GetOptions().map_entry:
            _finish(nested, f"{qualname}.{nested.name}")


def _reduce(self: Any) -> Any:
    return type(self).FromString, (self.SerializeToString(),)


def _as_module(file: str, descriptor: Any) -> ModuleType:
    from google.protobuf import message_factory
    from google.protobuf.internal import enum_type_wrapper

    module = ModuleType(f"tensorflow.core.framework.{file}_pb2")
    names = vars(module)
    names["DESCRIPTOR"] = descriptor
    for name, found in descriptor.message_types_by_name.items():
        names[name] = message_factory.GetMessageClass(found)
    for name, found in descriptor.enum_types_by_name.items():
        names[name] = enum_type_wrapper.EnumTypeWrapper(found)
        names.update((value.name, value.number) for value in found.values)
    return module
