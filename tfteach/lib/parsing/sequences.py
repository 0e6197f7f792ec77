"""`tf.parse_single_sequence_example` and `tf.io.parse_sequence_example`.

Source: python/ops/parsing_ops.py (API, nodes and errors).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.parsing.examples import by_key
from tfteach.lib.parsing.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RawFeatures,
    VarLenFeature,
)
from tfteach.ops.io.parse_sequence_example import (
    ParseSequenceExample,
    ParseSingleSequenceExample,
)


def _raw_features(
    context_features: Mapping[str, Any] | None,
    sequence_features: Mapping[str, Any] | None,
) -> tuple[RawFeatures, RawFeatures]:
    """The features of the contexts and of the lists.

    Raises:
      ValueError: there are none, or one is of a kind that is not allowed there.
    """
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context = RawFeatures(context_features, [VarLenFeature, FixedLenFeature])
    kinds = [VarLenFeature, FixedLenSequenceFeature]
    return context, RawFeatures(sequence_features, kinds)


def _assumed_empty(lists: RawFeatures) -> list[str]:
    for key, default in lists.dense_defaults.items():
        if default is not None:
            raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return list(lists.dense_defaults)


def _attributes(context: RawFeatures, lists: RawFeatures) -> dict[str, Any]:
    """The attributes that both ops have."""
    return {
        "Ncontext_sparse": len(context.sparse_keys),
        "Ncontext_dense": len(context.dense_keys),
        "Nfeature_list_sparse": len(lists.sparse_keys),
        "Nfeature_list_dense": len(lists.dense_keys),
        "context_sparse_types": tuple(context.sparse_types),
        "Tcontext_dense": tuple(context.dense_types),
        "feature_list_dense_types": tuple(lists.dense_types),
        "context_dense_shapes": tuple(context.dense_shapes),
        "feature_list_sparse_types": tuple(lists.sparse_types),
        "feature_list_dense_shapes": tuple(lists.dense_shapes),
    }


def _split(
    context: RawFeatures, lists: RawFeatures, outputs: list[Tensor]
) -> tuple[dict[str, Any], dict[str, Any], list[Tensor]]:
    """The outputs of an op: those of the contexts, of the lists, and the rest."""
    first = 3 * len(context.sparse_keys) + len(context.dense_keys)
    second = first + 3 * len(lists.sparse_keys) + len(lists.dense_keys)
    return (
        by_key(context, outputs[:first]),
        by_key(lists, outputs[first:second]),
        outputs[second:],
    )


@export("parse_single_sequence_example", "io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of one serialized SequenceExample.

    Args:
      serialized: a string scalar: a `tf.train.SequenceExample`.
      context_features: features of the whole: name -> `FixedLenFeature` or
        `VarLenFeature`.
      sequence_features: lists of features: name -> `FixedLenSequenceFeature` or
        `VarLenFeature`.
      example_name: a string scalar: a name for error messages.
      name: the op's name.

    Returns:
      Two dicts: of the context (Tensors of the features' shapes, SparseTensors [n]) and
      of the lists (Tensors [steps, *shape], SparseTensors [steps, n]).

    Raises:
      ValueError: there are no features, or one is of a kind not allowed there.
      tf.errors.InvalidArgumentError: in a run, `serialized` is no SequenceExample, or
        lacks a feature, or has another number or type of values.

    Example:
      >>> record = tf.placeholder(tf.string, [])
      >>> context, lists = tf.parse_single_sequence_example(
      ...   record,
      ...   {"length": tf.FixedLenFeature([], tf.int64)},
      ...   {"words": tf.FixedLenSequenceFeature([], tf.int64)})

    Source: ParseSingleSequenceExample in core/ops/parsing_ops.cc.
    """
    context, lists = _raw_features(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        debug_name = "" if example_name is None else example_name
        empty = _assumed_empty(lists)
        defaults = context.default_tensors()
        op = ParseSingleSequenceExample(**_attributes(context, lists))
        outputs = op(
            serialized, empty, context.sparse_keys, context.dense_keys,
            lists.sparse_keys, lists.dense_keys, defaults, debug_name, name=name,
        )  # fmt: skip
    return _split(context, lists, outputs)[:2]


@export("io.parse_sequence_example")
def parse_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The features of a batch of serialized SequenceExamples.

    Args:
      serialized: a string vector; each element is a `tf.train.SequenceExample`.
      context_features: features of the whole: name -> `FixedLenFeature` or
        `VarLenFeature`.
      sequence_features: lists of features: name -> `FixedLenSequenceFeature` or
        `VarLenFeature`.
      example_names: a string vector with names for error messages.
      name: the op's name.

    Returns:
      Three dicts: of the contexts (Tensors [batch, *shape], SparseTensors [batch, n]),
      of the lists (Tensors [batch, most steps, *shape] padded with 0 or "",
      SparseTensors [batch, steps, n]), and of the lengths of those that are dense
      (int64, [batch]).

    Raises:
      ValueError: there are no features, or one is of a kind not allowed there.
      tf.errors.InvalidArgumentError: in a run, an element is no SequenceExample, or
        lacks a feature, or has another number or type of values.

    Example:
      >>> records = tf.placeholder(tf.string, [None])
      >>> context, lists, lengths = tf.io.parse_sequence_example(
      ...   records, {}, {"words": tf.FixedLenSequenceFeature([], tf.int64)})

    Source: ParseSequenceExample in core/ops/parsing_ops.cc.
    """
    context, lists = _raw_features(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        names = [] if example_names is None else example_names
        empty = _assumed_empty(lists)
        defaults = context.default_tensors(reshaped=False)
        op = ParseSequenceExample(
            feature_list_dense_missing_assumed_empty=tuple(empty),
            context_sparse_keys=tuple(context.sparse_keys),
            context_dense_keys=tuple(context.dense_keys),
            feature_list_sparse_keys=tuple(lists.sparse_keys),
            feature_list_dense_keys=tuple(lists.dense_keys),
            **_attributes(context, lists),
        )
        outputs = op(serialized, names, defaults, name=name)
    *found, lengths = _split(context, lists, outputs)
    return found[0], found[1], dict(zip(lists.dense_keys, lengths, strict=True))
