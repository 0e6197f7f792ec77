"""`tf.saved_model.save` writes an object with variables and functions.

Source: python/saved_model/save.py (API, names and messages).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import resource, string
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.pending_file import write_file
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graphdef.graph_def import as_graph_def
from tfteach.framework.graphdef.meta_graph import export_meta_graph_def
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.framework.shape import TensorShape
from tfteach.framework.trackable import (
    VARIABLE_VALUE_KEY,
    CapturableResource,
    Trackable,
)
from tfteach.framework.type_aliases import PathLike, Structure
from tfteach.lib.files.object_checkpoint import write_objects
from tfteach.lib.files.object_graph import key_of
from tfteach.lib.files.saver import Saver
from tfteach.lib.files.trackable import TrackableAsset
from tfteach.lib.functions.argument_signature import user_specified_name
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.function import PolymorphicFunction
from tfteach.lib.saved_model import constants, signature_constants, tag_constants
from tfteach.lib.saved_model.builder import copy_assets, unused_asset_name
from tfteach.lib.saved_model.saved_objects import (
    ExtendedObjects,
    SavedObjects,
    value_of,
)
from tfteach.lib.saved_model.signature_def_utils import build_signature_def
from tfteach.lib.saved_model.signature_functions import (
    canonicalize_signatures,
    create_signature_map,
    function_to_export,
)
from tfteach.lib.saved_model.utils import build_tensor_info, in_model, variables_path
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.placeholder import placeholder
from tfteach.variables.resource import BaseResourceVariable, ResourceVariable
from tfteach.variables.uninitialized import UninitializedGraphVariable


@export("saved_model.save", "saved_model.experimental.save")
def save(obj: object, export_dir: PathLike, signatures: Structure = None) -> None:
    """Write an object with its variables and functions as a SavedModel.

    All that it has in attributes is written, and in theirs: variables, lists, dicts,
    modules, tables, and the traces that each `tf.function` has so far.

    Args:
      obj: a `tf.Module`, `tf.train.Checkpoint` or other object that tracks attributes.
      export_dir: the directory.
      signatures: what is served: a `tf.function` with an `input_signature`, a trace of
        `get_concrete_function`, or a dict of these by name.  If None, the only such
        function of `obj`.

    Raises:
      AssertionError: called in the body of a function; or a function uses a variable
        that no attribute leads to.
      ValueError: `obj` does not track attributes; a signature has nested results.

    Example:
      >>> class Doubled(tf.Module):
      ...     @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
      ...     def __call__(self, x):
      ...         return 2.0 * x
      >>> tf.saved_model.save(Doubled(), "models/doubled")

    Source: python/saved_model/save.py.
    """
    if get_default_graph().building_function:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move "
            "the call to the outer eagerly-executed context."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    objects = ExtendedObjects(obj)
    if signatures is None:
        signatures = function_to_export(objects.functions_of(obj))
    functions = canonicalize_signatures(signatures)
    objects.add_signatures(create_signature_map(functions))
    SavedObjects(objects)  # tracing may create variables
    saved = SavedObjects(objects)
    exported = _ExportedGraph(saved)
    meta_graph = exported.meta_graph(functions)
    meta_graph.object_graph_def.CopyFrom(saved.proto(exported.asset_numbers))
    model = pool.message("SavedModel")(
        saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION
    )
    model.meta_graphs.add().CopyFrom(meta_graph)
    file_system.makedirs(in_model(export_dir, constants.VARIABLES_DIRECTORY))
    write_objects(saved.graph, variables_path(export_dir))
    if exported.asset_sources:
        copy_assets(exported.asset_sources, export_dir)
    path = in_model(export_dir, constants.SAVED_MODEL_FILENAME_PB)
    write_file(path, model.SerializeToString())
    get_logger().info("SavedModel written to: %s", path)


class _ExportedGraph:
    """A graph that calls the signatures: the MetaGraph of a SavedModel.

    It has a variable for each variable among the objects, and tables for the tables,
    so that sessions, which know nothing of objects, can load the SavedModel, too.

    Args:
      saved: the objects.

    Attributes:
      asset_numbers: the numbers of files by the `id`s of TrackableAssets.
      asset_sources: paths of files by their names in the SavedModel.
    """

    def __init__(self, saved: SavedObjects) -> None:
        self._saved = saved
        self._graph = Graph()
        self._stand_ins: dict[Tensor, Any] = {}  # by what functions captured
        self._variables: dict[int, Any] = {}  # by the `id`s of the originals
        self._assets: list[Any] = []  # AssetFileDefs
        self._assignments: dict[Tensor, Operation] = {}  # by path
        self.asset_numbers: dict[int, int] = {}
        self.asset_sources: dict[str, str] = {}
        initializers = [
            _initializer(item)
            for item in saved.nodes
            if isinstance(item, CapturableResource)
        ]
        with self._graph.as_default():
            for item in saved.nodes:
                self._add_resource(item)
            for made in saved.captured_constants():
                copy = constant(made.value, made.tensor.dtype)
                made.operation = copy.op.name
                self._stand_ins[made.tensor] = copy
            self._init_op = self._initialize(initializers)

    # ---- resources

    def _add_resource(self, item: Any) -> None:
        if isinstance(item, CapturableResource):
            with self._graph.device(item._resource_device or None):
                self._add(item.resource_handle, item, item._create_resource())
        elif isinstance(item, BaseResourceVariable):
            made = self._variables[id(item)] = UninitializedGraphVariable(
                item.shape,
                item.dtype.base_dtype,
                item._shared_name,
                item.trainable,
                item.synchronization,
                item.aggregation,
            )
            self._add(item.handle, item, made.handle)
        elif isinstance(item, TrackableAsset):
            self._add_asset(item)

    def _add(self, tensor: Tensor, item: Any, stand_in: Any) -> None:
        self._stand_ins[tensor] = stand_in
        self._saved.stands_for(tensor, item)

    def _add_asset(self, asset: TrackableAsset) -> None:
        """A variable with the path that a file has when the model is loaded."""
        original = asset.asset_path
        path = os.fsdecode(np.asarray(value_of(original)).item())
        name = unused_asset_name(path, self.asset_sources)
        self.asset_sources[name] = path
        given = placeholder(string, original.shape, "asset_path_initializer")
        variable = ResourceVariable(given)
        file = pool.proto_module("meta_graph").AssetFileDef(filename=name)
        file.tensor_info.name = given.name
        self.asset_numbers[id(asset)] = len(self._assets)
        self._assets.append(file)
        self._assignments[original] = variable.initializer
        self._add(original, asset, variable)

    def _initialize(self, initializers: Sequence[ConcreteFunction]) -> Operation:
        """The op that a loaded model runs, which fills the tables."""
        ops: list[Any] = []
        for function in initializers:
            paths = [
                self._assignments[tensor]
                for tensor in function.captured_inputs
                if tensor in self._assignments
            ]
            with self._graph.control_dependencies(paths):
                ops.append(self._called(function, []))
        ops += self._assignments.values()
        with self._graph.control_dependencies(ops):
            return no_op()

    # ---- functions

    def _called(self, function: ConcreteFunction, arguments: Sequence[Tensor]) -> Any:
        """The results of a call with what stands for the captured tensors."""
        captured = []
        for outer, inner in function.graph.captures.items():
            if outer not in self._stand_ins:
                raise AssertionError(
                    f"Tried to export a function which references untracked object "
                    f"{inner}.TensorFlow objects (e.g. tf.Variable) captured by "
                    "functions must be tracked by assigning them to an attribute of a "
                    "tracked object or assigned to an attribute of the main object "
                    "directly."
                )
            captured.append(convert(self._stand_ins[outer]))
        return function.call_flat(arguments, captured)

    def _signature_def(self, key: str, function: ConcreteFunction) -> Any:
        inputs: dict[str, Any] = {}
        count = len(function.inputs) - len(function.captured_inputs)
        for inner in function.inputs[:count]:
            name = user_specified_name(inner) or ""
            if name != inner.op.name:
                raise ValueError(
                    "Got non-flat/non-unique argument names for SavedModel signature "
                    f"'{key}': more than one argument to '{function.name.decode()}' "
                    f"was named '{name}'. Signatures have one Tensor per named input, "
                    "so to have predictable names Python functions used to generate "
                    "these signatures should avoid *args and Tensors in nested "
                    "structures unless unique names are specified for each. Use "
                    "tf.TensorSpec(..., name=...) to provide a name for a Tensor input."
                )
            inputs[name] = placeholder(inner.dtype, inner.shape, f"{key}_{name}")
        outputs = self._called(function, list(inputs.values()))
        return build_signature_def(
            {name: build_tensor_info(tensor) for name, tensor in inputs.items()},
            {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
            signature_constants.PREDICT_METHOD_NAME,
        )

    # ---- as a MetaGraph

    def meta_graph(self, signatures: Mapping[str, ConcreteFunction]) -> Any:
        """The MetaGraphDef.

        Args:
          signatures: what is served, by name.
        """
        with self._graph.as_default():
            made = {
                key: self._signature_def(key, function)
                for key, function in sorted(signatures.items())
            }
            for function in self._saved.concrete_functions:
                function.add_to_graph()
            saver_def = self._saver_def()
        graph_def = as_graph_def(self._graph, add_shapes=True)
        _complete(graph_def.library, self._graph)
        found = export_meta_graph_def(
            self._graph, graph_def, saver_def, keys=(), strip_default_attrs=True
        )
        found.meta_info_def.tags.append(tag_constants.SERVING)
        found.asset_file_def.extend(self._assets)
        for key, signature in made.items():
            found.signature_def[key].CopyFrom(signature)
        name = self._init_op.name
        found.collection_def[constants.MAIN_OP_KEY].node_list.value.append(name)
        info = found.signature_def[constants.INIT_OP_SIGNATURE_KEY].outputs[
            constants.INIT_OP_SIGNATURE_KEY
        ]
        info.name = name
        info.tensor_shape.unknown_rank = True
        return found

    def _saver_def(self) -> Any:
        """A Saver that restores the variables from the checkpoint of the objects."""
        by_key = {
            key_of(prefix, VARIABLE_VALUE_KEY): self._variables[id(item)]
            for item, prefix in self._saved.graph.nodes
            if id(item) in self._variables
        }
        return Saver(by_key).as_saver_def() if by_key else None


def _initializer(item: CapturableResource) -> ConcreteFunction:
    """A function that fills a resource."""

    def initialize() -> Tensor:
        item._initialize()
        return constant(1.0)

    function = PolymorphicFunction(initialize, "initialize", input_signature=())
    return function.get_concrete_function()


def _complete(library: Any, graph: Graph) -> None:
    """Add to FunctionDefs the static shapes, and which calls have gradients."""
    for definition in library.function:
        function = graph.functions[definition.signature.name]
        body = function.graph if isinstance(function, DefinedFunction) else None
        if body is None:
            continue
        shapes = definition.attr["_input_shapes"].list.shape
        for tensor in body.inputs:
            # Shape functions of TensorFlow expect more of the shape of a handle.
            known = tensor.dtype.base_dtype is not resource
            shape = tensor.shape if known else TensorShape(None)
            shapes.add().CopyFrom(shape.as_proto())
        ops = {op.name: op for op in body.operations}
        for node in definition.node_def:
            op = ops.get(node.name)
            if op is None:
                continue
            shapes = node.attr["_output_shapes"].list.shape
            shapes.extend(tensor.shape.as_proto() for tensor in op.outputs)
            if node.op in ("PartitionedCall", "StatefulPartitionedCall"):
                node.attr["_gradient_op_type"].s = f"{node.op}-0".encode()
