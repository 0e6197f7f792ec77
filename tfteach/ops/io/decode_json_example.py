"""JSON texts as serialized Example messages.

Source: core/ops/parsing_ops.cc, core/kernels/decode_json_example_op.cc (called
example_parsing_ops.cc in other versions).
"""

from __future__ import annotations

import json
import struct
from typing import Any

from google.protobuf import json_format

from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.protos.wire_format import chunk, varint
from tfteach.framework.type_aliases import Array, ArrayModule, TensorLike
from tfteach.ops.text.byte_string_arrays import each
from tfteach.ops.text.string_ops import TextOp


class DecodeJSONExample(TextOp):
    """Examples of JSON texts.  Source: parsing_ops.cc, DecodeJSONExample."""

    signature = "json_examples: string -> binary_examples: string"

    def compute(self, xp: ArrayModule, json_examples: Array) -> Any:
        return each(_binary, json_examples)


_FEATURE_MAP, _KEY, _VALUE, _LIST_ITEM = b"\n", b"\n", b"\x12", b"\n"
_KINDS = {"bytes_list": b"\n", "float_list": b"\x12", "int64_list": b"\x1a"}


def _binary(text: bytes) -> bytes:
    from tfteach.framework.protos import Example

    message: Any = Example()
    try:
        json_format.Parse(text, message)
    except (json_format.ParseError, UnicodeDecodeError) as error:
        raise invalid_argument(f"Error while parsing JSON: {error}") from None
    if not message.HasField("features"):
        return b""
    features = message.features.feature
    names = json.loads(text).get("features", {}).get("feature", {})
    entries = [
        chunk(_KEY, name.encode()) + chunk(_VALUE, _feature(features[name]))
        for name in names
        if name in features
    ]
    whole = b"".join(chunk(_FEATURE_MAP, entry) for entry in entries)
    return chunk(b"\n", whole)


def _feature(feature: Any) -> bytes:
    """A Feature with a tag before each number, as TensorFlow writes it here."""
    kind = feature.WhichOneof("kind")
    if kind is None:
        return b""
    values = getattr(feature, kind).value
    if kind == "bytes_list":
        items = [chunk(_LIST_ITEM, value) for value in values]
    elif kind == "float_list":
        items = [b"\x0d" + struct.pack("<f", value) for value in values]
    else:
        items = [b"\x08" + varint(value) for value in values]
    return chunk(_KINDS[kind], b"".join(items))


@export("decode_json_example", "io.decode_json_example")
def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Examples written as JSON, in the binary format that `tf.parse_example` reads.

    Args:
      json_examples: a string Tensor; each element is a `tf.train.Example` in the JSON
        mapping of protocol messages.
      name: the op's name.

    Returns:
      A string Tensor of the same shape.

    Raises:
      tf.errors.InvalidArgumentError: in a run, a string is no such JSON.

    Example:
      >>> text = '{"features": {"feature": {"a": {"int64List": {"value": [1]}}}}}'
      >>> binary = tf.decode_json_example([text])

    Source: DecodeJSONExample in core/ops/parsing_ops.cc.
    """
    return DecodeJSONExample()(json_examples, name=name)
