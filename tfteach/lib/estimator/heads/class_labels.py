"""Classes by id and by string, in the predictions of a batch.

Source: tensorflow_estimator/python/estimator/canned/head.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.operation import Tensor
from tfteach.lib.estimator.export_outputs import ClassificationOutput
from tfteach.lib.lookup.vocabulary import (
    index_table_from_tensor,
    index_to_string_table_from_tensor,
)
from tfteach.ops.array.tile import tile
from tfteach.ops.core.identity_reshape import expand_dims
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.math.range import range as range_of
from tfteach.ops.text.string_conversion import as_string

Vocabulary = Sequence[str] | None


def all_class_ids(logits: Tensor, classes: int) -> Tensor:
    """int32 [batch, classes]: 0, 1, ... in each row."""
    batch_size = shape_of(logits)[0]
    return tile(expand_dims(range_of(classes), 0), [batch_size, 1])


def all_classes(logits: Tensor, classes: int, vocabulary: Vocabulary) -> Tensor:
    """string [batch, classes]: the names of all classes in each row."""
    batch_size = shape_of(logits)[0]
    names: Any = list(vocabulary) if vocabulary else as_string(range_of(classes))
    return tile(expand_dims(names, 0), [batch_size, 1])


def class_names(ids: Tensor, vocabulary: Vocabulary) -> Tensor:
    """The strings of ids; their numbers, if there is no vocabulary."""
    if not vocabulary:
        return as_string(ids, name="str_classes")
    table = index_to_string_table_from_tensor(
        list(vocabulary), name="class_string_lookup"
    )
    names: Tensor = table.lookup(ids)
    return names


def ids_of(labels: Any, vocabulary: Sequence[str]) -> Any:
    """The ids of strings; -1 of those that the vocabulary lacks."""
    table = index_table_from_tensor(list(vocabulary), name="class_id_lookup")
    return table.lookup(labels)


def classification_output(
    scores: Tensor, classes: int, vocabulary: Vocabulary = None
) -> ClassificationOutput:
    """The scores of all classes, and their names."""
    return ClassificationOutput(scores, all_classes(scores, classes, vocabulary))
