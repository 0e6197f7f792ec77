"""What a SavedModel of objects comprises: the objects, and their functions.

Source: python/saved_model/save.py, function_serialization.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfteach.framework.constant_values import constant_value
from tfteach.framework.dtypes import resource, variant
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.operation import Tensor
from tfteach.framework.protos import pool
from tfteach.framework.trackable import CapturableResource, TrackableReference
from tfteach.lib.files.object_graph import ObjectGraph
from tfteach.lib.files.trackable import TrackableAsset
from tfteach.lib.functions.argument_signature import signature_of
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.function import PolymorphicFunction
from tfteach.lib.saved_model.restored_objects import SignatureMap, identifier_of
from tfteach.lib.saved_model.signature_functions import SIGNATURES
from tfteach.lib.saved_model.structure_coder import StructureCoder
from tfteach.variables.resource import BaseResourceVariable


class CapturedConstant:
    """A value that functions captured, as an object of the SavedModel.

    Args:
      tensor: the captured Tensor.
      value: its value, an array.

    Attributes:
      operation: the name of the node with the value in the SavedModel's graph.
    """

    operation = ""

    def __init__(self, tensor: Tensor, value: Any) -> None:
        self.tensor, self.value = tensor, value


def _resource_functions(item: CapturableResource) -> dict[str, PolymorphicFunction]:
    """The functions by which a loaded model has a resource anew."""

    def initialize() -> int:
        item._initialize()
        return 1  # a function must return something

    bodies = {
        "_create_resource": item._create_resource,
        "_initialize": initialize,
        "_destroy_resource": lambda: 1,  # it goes with its handle
    }
    return {
        name: PolymorphicFunction(body, name, input_signature=(), autograph=False)
        for name, body in bodies.items()
    }


class ExtendedObjects:
    """An object with all that it depends on, and its signatures.

    Args:
      root: the object.
    """

    def __init__(self, root: Any) -> None:
        self.root = root
        self._signatures: SignatureMap | None = None
        self._cache: dict[Any, Any] = {}  # for the objects' own use
        self._functions: dict[int, tuple[Any, dict[str, Any]]] = {}

    def add_signatures(self, signatures: SignatureMap) -> None:
        """Let the object have signatures.

        Raises:
          ValueError: the attribute `signatures` is something else.
        """
        for name, other in self.dependencies_of(self.root):
            if name == SIGNATURES and not isinstance(other, SignatureMap):
                raise ValueError(
                    f"Exporting an object {self.root} which has an attribute named "
                    f"'{SIGNATURES}'. This is a reserved attribute used to store "
                    "SavedModel signatures in objects which come from "
                    "`tf.saved_model.load`. Delete this attribute (e.g. 'del "
                    f"obj.{SIGNATURES}') before saving if this shadowing is acceptable."
                )
        self._signatures = signatures

    def dependencies_of(self, item: Any) -> Iterator[TrackableReference]:
        """The objects that an object depends on in the SavedModel.

        Raises:
          ValueError: it has an attribute of a reserved name.
        """
        more = dict(item._list_extra_dependencies_for_serialization(self._cache))
        if item is self.root and self._signatures is not None:
            more[SIGNATURES] = self._signatures
        for name, dependency in item._checkpoint_dependencies:
            if name in more and name != SIGNATURES:
                raise ValueError(
                    f"Error when exporting object {item} of with identifier="
                    f"{item._object_identifier}. The object has an attribute named "
                    f"{name}, which is reserved. List of all reserved attributes: "
                    f"{more.keys()}"
                )
            yield TrackableReference(name, more.pop(name, dependency))
        for name, dependency in more.items():
            yield TrackableReference(name, dependency)

    def functions_of(self, item: Any) -> dict[str, Any]:
        """The functions of an object, the same ones each time."""
        known = self._functions.get(id(item))
        if known is None:
            found = item._list_functions_for_serialization(self._cache)
            if not found and isinstance(item, CapturableResource):
                found = _resource_functions(item)
            known = self._functions[id(item)] = item, found
        return known[1]


class SavedObjects:
    """The numbered objects of a SavedModel, functions and captured values among them.

    Args:
      objects: the objects.  Tracing their functions may create more of them.

    Attributes:
      graph: the objects without functions: those of the checkpoint.
      nodes: all, by number.
      concrete_functions: the traces, each once.
    """

    def __init__(self, objects: ExtendedObjects) -> None:
        self._objects = objects
        self.graph = ObjectGraph(objects.root, objects.dependencies_of)
        self.nodes = list(self.graph.items())
        self._numbers = {id(item): i for i, item in enumerate(self.nodes)}
        self._of_tensors: dict[Tensor, int] = {}
        traces: dict[ConcreteFunction, None] = {}
        for item in self.graph.items():
            for function in objects.functions_of(item).values():
                if id(function) not in self._numbers:
                    self._add(function)
                traces.update(dict.fromkeys(_traces_of(function)))
        self.concrete_functions = list(traces)

    def _add(self, item: Any) -> int:
        number = self._numbers[id(item)] = len(self.nodes)
        self.nodes.append(item)
        return number

    def stands_for(self, tensor: Tensor, item: Any) -> None:
        """State which object functions that capture a tensor refer to."""
        self._of_tensors[tensor] = self._numbers[id(item)]

    def captured_constants(self) -> Iterator[CapturedConstant]:
        """Captured tensors that no object has; they become objects.

        Raises:
          ValueError: the value of one is not known.
        """
        for function in self.concrete_functions:
            for tensor in function.captured_inputs:
                is_handle = tensor.dtype.base_dtype in (resource, variant)
                if is_handle or tensor in self._of_tensors:
                    continue
                value = value_of(tensor)
                if value is None:
                    raise ValueError(
                        f"Attempted to save a function {function.name!r} which "
                        f"references a symbolic Tensor {tensor!s} that is not a simple "
                        "constant. This is not supported."
                    )
                made = CapturedConstant(tensor, value)
                self._of_tensors[tensor] = self._add(made)
                yield made

    # ---- as a SavedObjectGraph

    def proto(self, assets: Mapping[int, int]) -> Any:
        """The SavedObjectGraph.

        Args:
          assets: the numbers of files by the `id`s of TrackableAssets.
        """
        made = pool.message("SavedObjectGraph")()
        plain = len(self.graph.items())
        for number, item in enumerate(self.nodes):
            saved = made.nodes.add()
            if number < plain:
                self._write_edges(number, item, saved)
            _write_kind(item, saved, assets)
        for function in self.concrete_functions:
            saved = made.concrete_functions[function.name.decode()]
            self._write_function(function, saved)
        return made

    def _write_edges(self, number: int, item: Any, saved: Any) -> None:
        children = list(self._objects.dependencies_of(item))
        for name, child in [*children, *self._objects.functions_of(item).items()]:
            saved.children.add(node_id=self._numbers[id(child)], local_name=name)
        for original, name, slot in self.graph.slots(number):
            saved.slot_variables.add(
                original_variable_node_id=original,
                slot_name=name,
                slot_variable_node_id=slot,
            )

    def _write_function(self, function: ConcreteFunction, saved: Any) -> None:
        for tensor in function.captured_inputs:
            if tensor not in self._of_tensors:
                raise KeyError(
                    f"Failed to add concrete function {function.name!r} to object "
                    f"based saved model as it captures tensor {tensor!s} which is "
                    "unsupported or not reachable from root. One reason could be that "
                    "a stateful object or a variable that the function depends on is "
                    "not assigned to an attribute of the serialized trackable object "
                    "(see SaveTest.test_captures_unreachable_variable)."
                )
            saved.bound_inputs.append(self._of_tensors[tensor])
        encode = StructureCoder().encode_structure
        inputs = encode(function.structured_input_signature)
        saved.canonicalized_input_signature.CopyFrom(inputs)
        outputs = encode(signature_of(function.structured_outputs))
        saved.output_signature.CopyFrom(outputs)


def _traces_of(
    function: PolymorphicFunction | ConcreteFunction,
) -> list[ConcreteFunction]:
    if isinstance(function, ConcreteFunction):
        return [function]
    return function._list_all_concrete_functions_for_serialization()


def value_of(tensor: Tensor) -> Any:
    """The value of a tensor as an array; None if it is not known."""
    if isinstance(tensor, EagerTensor):
        return tensor.numpy()
    return constant_value(tensor)


def _write_kind(item: Any, saved: Any, assets: Mapping[int, int]) -> None:
    """Write what an object is."""
    if isinstance(item, TrackableAsset):
        saved.asset.asset_file_def_index = assets[id(item)]
        saved.asset.SetInParent()
    elif isinstance(item, BaseResourceVariable):
        _write_variable(item, saved.variable)
    elif isinstance(item, PolymorphicFunction):
        _write_polymorphic(item, saved.function)
    elif isinstance(item, ConcreteFunction):
        bare = saved.bare_concrete_function
        bare.concrete_function_name = item.name.decode()
        bare.argument_keywords.extend(item._arg_keywords or [])
        bare.allowed_positional_arguments = item._num_positional_args or 0
    elif isinstance(item, CapturedConstant):
        saved.constant.operation = item.operation
    elif isinstance(item, CapturableResource):
        saved.resource.device = item._resource_device
        saved.resource.SetInParent()
    else:
        identifier = identifier_of(item)
        user_object = saved.user_object
        user_object.identifier = identifier or item._object_identifier
        user_object.version.producer = user_object.version.min_consumer = 1
        user_object.metadata = "" if identifier else item._tracking_metadata


def _write_variable(variable: Any, saved: Any) -> None:
    saved.name = variable._shared_name
    saved.trainable = variable.trainable
    saved.dtype = variable.dtype.base_dtype.as_datatype_enum
    saved.synchronization = variable.synchronization.value
    saved.aggregation = variable.aggregation.value
    saved.shape.CopyFrom(variable.shape.as_proto())


def _write_polymorphic(function: PolymorphicFunction, saved: Any) -> None:
    spec = function.function_spec
    if spec.is_method and not spec.fullargspec.args:
        raise NotImplementedError(
            "Missing support to serialize a method function without a named 'self' "
            "argument."
        )
    encode = StructureCoder().encode_structure
    saved.function_spec.fullargspec.CopyFrom(encode(spec.fullargspec))
    saved.function_spec.is_method = spec.is_method
    saved.function_spec.input_signature.CopyFrom(encode(spec.input_signature))
    names = [trace.name.decode() for trace in _traces_of(function)]
    saved.concrete_functions.extend(names)
