"""Nested structures of specs and Python values as protocol messages, and back.

Source: python/saved_model/nested_structure_coder.py, core/protobuf/struct.proto.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any

from tfteach.control.tensor_array_spec import TensorArraySpec
from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.indexed_slices_spec import IndexedSlicesSpec
from tfteach.framework.protos import pool
from tfteach.framework.protos.tensor_proto import make_ndarray
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_spec import TypeSpec
from tfteach.lib.data.eager_iterator import IteratorSpec
from tfteach.lib.data.element_specs import DatasetSpec
from tfteach.lib.data.optional import OptionalSpec
from tfteach.ops.sparse.sparse_tensor_spec import SparseTensorSpec

# Names of the enum TypeSpecClass.
_SPECS: dict[str, type[TypeSpec]] = {
    "SPARSE_TENSOR_SPEC": SparseTensorSpec,
    "INDEXED_SLICES_SPEC": IndexedSlicesSpec,
    "TENSOR_ARRAY_SPEC": TensorArraySpec,
    "DATA_DATASET_SPEC": DatasetSpec,
    "DATA_ITERATOR_SPEC": IteratorSpec,
    "OPTIONAL_SPEC": OptionalSpec,
}
_NAMES = {spec: name for name, spec in _SPECS.items()}


class NotEncodableError(Exception):
    """A value that no message describes."""


class StructureCoder:
    """Encodes nested structures as `StructuredValue`s, and decodes these."""

    def encode_structure(self, nested_structure: Any) -> Any:
        """A structure as a StructuredValue.

        Args:
          nested_structure: lists, tuples and dicts of numbers, text, None, shapes,
            dtypes and `tf.TypeSpec`s.

        Raises:
          NotEncodableError: it contains something else.
        """
        made = pool.proto_module("struct").StructuredValue()
        _encode(nested_structure, made)
        return made

    def can_encode(self, nested_structure: Any) -> bool:
        """Whether `encode_structure` accepts it."""
        try:
            self.encode_structure(nested_structure)
        except NotEncodableError:
            return False
        return True

    def decode_proto(self, proto: Any) -> Any:
        """The structure that a StructuredValue describes.

        Raises:
          NotEncodableError: it is empty.
          ValueError: it contains a spec of a newer TensorFlow.
        """
        return _decode(proto)


def _encode(value: Any, made: Any) -> None:
    if value is None:
        made.none_value.SetInParent()
    elif isinstance(value, bool):
        made.bool_value = value
    elif isinstance(value, int):
        made.int64_value = value
    elif isinstance(value, float):
        made.float64_value = value
    elif isinstance(value, str):
        made.string_value = value
    elif isinstance(value, TensorShape):
        made.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, DType):
        made.tensor_dtype_value = value.as_datatype_enum
    elif type(value) is TensorSpec:
        spec = made.tensor_spec_value
        spec.shape.CopyFrom(value.shape.as_proto())
        spec.dtype = value.dtype.as_datatype_enum
        if value.name:
            spec.name = value.name
    elif type(value) in _NAMES:
        message = made.type_spec_value
        message.type_spec_class = message.TypeSpecClass.Value(_NAMES[type(value)])
        message.type_spec_class_name = type(value).__name__
        _encode(value._serialize(), message.type_state)
    else:
        _encode_container(value, made)


def _encode_container(value: Any, made: Any) -> None:
    if isinstance(value, list):
        made.list_value.SetInParent()
        for item in value:
            _encode(item, made.list_value.values.add())
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        made.named_tuple_value.name = type(value).__name__
        for key, item in zip(value._fields, value, strict=True):
            pair = made.named_tuple_value.values.add(key=key)
            _encode(item, pair.value)
    elif isinstance(value, tuple):
        made.tuple_value.SetInParent()
        for item in value:
            _encode(item, made.tuple_value.values.add())
    elif isinstance(value, Mapping):
        made.dict_value.SetInParent()
        for key, item in value.items():
            _encode(item, made.dict_value.fields[key])
    else:
        raise NotEncodableError(
            f"No encoder for object [{value}] of type [{type(value)}]."
        )


def _decode(proto: Any) -> Any:
    kind = proto.WhichOneof("kind")
    if kind is None:
        raise NotEncodableError(
            f"No encoder for object [{proto}] of type [{type(proto)}]."
        )
    value = getattr(proto, kind)
    if kind == "none_value":
        return None
    if kind in ("list_value", "tuple_value"):
        items = [_decode(item) for item in value.values]
        return items if kind == "list_value" else tuple(items)
    if kind == "dict_value":
        return {key: _decode(item) for key, item in sorted(value.fields.items())}
    if kind == "named_tuple_value":
        named = collections.namedtuple(  # type: ignore[misc]
            value.name, [pair.key for pair in value.values]
        )
        return named(*(_decode(pair.value) for pair in value.values))
    if kind in ("tensor_value", "numpy_value"):
        return make_ndarray(value)
    return _decode_spec(kind, value)


def _decode_spec(kind: str, value: Any) -> Any:
    if kind == "tensor_shape_value":
        return TensorShape(value)
    if kind == "tensor_dtype_value":
        return as_dtype(value)
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        return TensorSpec(value.shape, as_dtype(value.dtype), value.name or None)
    if kind == "type_spec_value":
        name = value.TypeSpecClass.Name(value.type_spec_class)
        if name not in _SPECS:
            raise ValueError(
                f"The type '{value.type_spec_class_name}' is not supported by this "
                "version of TensorFlow. (The object you are loading must have been "
                "created with a newer version of TensorFlow.)"
            )
        return _SPECS[name]._deserialize(_decode(value.type_state))
    return value  # a number or text
