"""`tf.parse_example` and `tf.parse_single_example`.

Source: python/ops/parsing_ops.py (API, nodes and errors).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.control.case import Assert
from tfteach.framework.convert import convert
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.parsing.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RawFeatures,
    SparseFeature,
    VarLenFeature,
    as_node_name,
    merge_sparse_features,
    with_unknown_first_axis,
)
from tfteach.ops.array.slicing import slice
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.core.shape_ops import rank
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.io.parse_example import ParseExample
from tfteach.ops.io.parse_single_example import ParseSingleExample
from tfteach.ops.math.compare import equal

ALL_KINDS = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


@export("parse_example", "io.parse_example")
def parse_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, Any]:
    """The features of a batch of serialized Examples.

    Args:
      serialized: a string vector; each element is a `tf.train.Example`.
      features: the features to read: name -> `FixedLenFeature`, `VarLenFeature`,
        `SparseFeature` or `FixedLenSequenceFeature`.
      name: the op's name.
      example_names: a string vector with a name for each Example, for error messages.

    Returns:
      A dict: for a fixed length a Tensor [batch, *shape], for a sequence one [batch,
      most parts, *shape], otherwise a SparseTensor.

    Raises:
      ValueError: there are no features, or a description is incomplete.
      tf.errors.InvalidArgumentError: in a run, an element is no Example, lacks a
        feature without default, or has another number or type of values.

    Example:
      >>> value = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 1.5]))
      >>> example = tf.train.Example(features=tf.train.Features(feature={"x": value}))
      >>> features = {"x": tf.FixedLenFeature([2], tf.float32)}
      >>> tf.parse_example([example.SerializeToString()], features)["x"]  # [[0.5, 1.5]]

    Source: ParseExample in core/ops/parsing_ops.cc.
    """
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    features = with_unknown_first_axis(features)
    raw = RawFeatures(features, ALL_KINDS)
    return merge_sparse_features(
        features, _parse_batch(serialized, raw, name, example_names)
    )


def _parse_batch(
    serialized: TensorLike,
    raw: RawFeatures,
    name: str | None,
    example_names: TensorLike | None,
) -> dict[str, Any]:
    with name_scope(name, "ParseExample", [serialized, example_names]):
        names = [] if example_names is None else example_names
        defaults = raw.default_tensors()
        op = ParseExample(
            len(raw.sparse_keys),
            len(raw.dense_keys),
            tuple(raw.sparse_types),
            tuple(raw.dense_types),
            tuple(raw.dense_shapes),  # type: ignore[arg-type]  # converted by the op
        )
        outputs = op(
            serialized, names, raw.sparse_keys, raw.dense_keys, defaults, name=name
        )
    return by_key(raw, outputs)


def by_key(raw: RawFeatures, outputs: list[Tensor]) -> dict[str, Any]:
    """The outputs of an op by feature."""
    count = len(raw.sparse_keys)
    parts = [outputs[i * count : (i + 1) * count] for i in range(3)]
    found: dict[str, Any] = {
        key: SparseTensor(*part)
        for key, *part in zip(raw.sparse_keys, *parts, strict=True)
    }
    found.update(zip(raw.dense_keys, outputs[3 * count :], strict=True))
    return found


@export("parse_single_example", "io.parse_single_example")
def parse_single_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, Any]:
    """The features of one serialized Example.

    Args:
      serialized: a string scalar: a `tf.train.Example`.
      features: the features to read: name -> `FixedLenFeature`, `VarLenFeature`,
        `SparseFeature` or `FixedLenSequenceFeature`.
      name: the op's name.
      example_names: a string scalar: the Example's name, for error messages.

    Returns:
      As of `tf.parse_example`, without the first axis.

    Raises:
      ValueError: there are no features, or a description is incomplete.
      tf.errors.InvalidArgumentError: in a run, `serialized` is no Example, lacks a
        feature without default, or has another number or type of values.

    Example:
      >>> features = {"label": tf.FixedLenFeature([], tf.int64)}
      >>> record = tf.placeholder(tf.string, [])
      >>> label = tf.parse_single_example(record, features)["label"]

    Source: ParseSingleExample in core/ops/parsing_ops.cc.
    """
    if not features:
        raise ValueError("Missing features.")
    features = with_unknown_first_axis(features)
    raw = RawFeatures(features, ALL_KINDS)
    if example_names is not None:
        found = _parse_named(serialized, raw, name, example_names)
    else:
        with name_scope(name, "ParseSingleExample", [serialized]):
            tensor = convert(serialized, name="serialized")
            defaults = raw.default_tensors()
            op = ParseSingleExample(
                len(raw.sparse_keys),
                tuple(raw.sparse_keys),
                tuple(raw.dense_keys),
                tuple(raw.sparse_types),
                tuple(raw.dense_types),
                tuple(raw.dense_shapes),  # type: ignore[arg-type]
            )
            found = by_key(raw, op(tensor, defaults, name=name))
    return merge_sparse_features(features, found)


def _parse_named(
    serialized: TensorLike,
    raw: RawFeatures,
    name: str | None,
    example_names: TensorLike,
) -> dict[str, Any]:
    """The features of an Example with a name, as a batch of one."""
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        batch = expand_dims(_scalar(serialized, "serialized", "Serialized"), 0)
        names = expand_dims(_scalar(example_names, "names", "Names"), 0)
        found = _parse_batch(batch, raw, name, names)
        for key in raw.dense_keys:
            found[key] = squeeze(found[key], [0], name=f"Squeeze_{as_node_name(key)}")
        for key in raw.sparse_keys:
            plain, tensor = as_node_name(key), found[key]
            found[key] = SparseTensor(
                slice(tensor.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{plain}"),
                tensor.values,
                slice(tensor.dense_shape, [1], [-1], name=f"Squeeze_Shape_{plain}"),
            )
    return found


def _scalar(value: TensorLike, what: str, title: str) -> Tensor:
    """A scalar; runs check what is unknown while building."""
    tensor = convert(value)
    ndims = tensor.get_shape().ndims
    message = f"Input {what} must be a scalar"
    if ndims is not None:
        if ndims != 0:
            raise ValueError(message)
        return tensor
    check = Assert(equal(rank(tensor), 0), [message], name=f"{title}IsScalar")
    return with_dependencies([check], tensor, name=f"{title}Dependencies")
