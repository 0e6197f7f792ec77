"""The best tag sequences under a linear-chain CRF, by the Viterbi algorithm.

Source: contrib/crf/python/ops/crf.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.crf.likelihood import CrfCell, if_single, known_size, less_one
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.dynamic import dynamic_rnn
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.slicing import slice as slice_of
from tfteach.ops.array.transpose_reverse import reverse_sequence
from tfteach.ops.core.identity_reshape import expand_dims, squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.cast import cast
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import argmax, reduce_max
from tfteach.variables.scope.variable_scope import VariableScope


@export("contrib.crf.viterbi_decode")
def viterbi_decode(score: Any, transition_params: TensorLike) -> tuple[list[Any], Any]:
    """The best tags of one sequence, computed in NumPy.

    Args:
      score: array [steps, tags], the score of each tag.
      transition_params: array [tags, tags], the score of each transition.

    Returns:
      (tags, score): a list of tag indices; the score of the sequence.

    Example:
      >>> tf.contrib.crf.viterbi_decode(np.eye(2), np.zeros([2, 2]))[0]
      [np.int32(0), np.int64(1)]

    Source: contrib/crf/python/ops/crf.py.
    """
    best = np.zeros_like(score)
    pointers = np.zeros_like(score, dtype=np.int32)
    best[0] = score[0]
    for step in range(1, score.shape[0]):
        scores = np.expand_dims(best[step - 1], 1) + transition_params
        best[step] = score[step] + np.max(scores, 0)
        pointers[step] = np.argmax(scores, 0)
    tags = [np.argmax(best[-1])]
    for row in reversed(pointers[1:]):
        tags.append(row[tags[-1]])
    tags.reverse()
    return tags, np.max(best[-1])


@export("contrib.crf.CrfDecodeForwardRnnCell")
class CrfDecodeForwardRnnCell(CrfCell):
    """The best scores of prefixes; outputs the best predecessor of each tag.

    Args:
      transition_params: float32 Tensor [tags, tags].

    Source: contrib/crf/python/ops/crf.py.
    """

    def __call__(
        self, inputs: TensorLike, state: Any, scope: VariableScope | str | None = None
    ) -> Any:
        scores = expand_dims(state, 2) + self._transition_params
        best = inputs + reduce_max(scores, [1])
        return cast(argmax(scores, 1), int32), best


@export("contrib.crf.CrfDecodeBackwardRnnCell")
class CrfDecodeBackwardRnnCell(RNNCell):
    """The best predecessors, traced back from the last tag.

    Args:
      num_tags: the number of tags.

    Source: contrib/crf/python/ops/crf.py.
    """

    def __init__(self, num_tags: int | None) -> None:
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        return 1

    @property
    def output_size(self) -> int:
        return 1

    def __call__(
        self, inputs: TensorLike, state: Any, scope: VariableScope | str | None = None
    ) -> Any:
        state = squeeze(state, axis=[1])
        rows = range_of(shape(inputs)[0])
        places = stack([rows, state], axis=1)
        tags = expand_dims(gather_nd(inputs, places), axis=-1)
        return tags, tags


@export("contrib.crf.crf_decode")
def crf_decode(
    potentials: TensorLike, transition_params: TensorLike, sequence_length: TensorLike
) -> tuple[Tensor, Tensor]:
    """The best tags of each sequence.

    Args:
      potentials: float32 Tensor [batch, steps, tags], the score of each tag.
      transition_params: float32 Tensor [tags, tags], the score of each transition.
      sequence_length: int Tensor [batch].

    Returns:
      (tags, scores): an int32 Tensor [batch, steps], 0 after the end; float32 [batch].

    Example:
      >>> tags, scores = tf.contrib.crf.crf_decode(
      ...     tf.random_normal([2, 5, 3]), tf.zeros([3, 3]), tf.constant([5, 3]))

    Source: contrib/crf/python/ops/crf.py.
    """

    def single() -> tuple[Tensor, Tensor]:
        scores = squeeze(potentials, [1])
        tags = expand_dims(argmax(scores, axis=1), 1)
        best = reduce_max(scores, axis=1)
        return cast(tags, int32), best

    def several() -> tuple[Tensor, Tensor]:
        count = known_size(potentials, 2)
        forward = CrfDecodeForwardRnnCell(transition_params)
        first = slice_of(potentials, [0, 0, 0], [-1, 1, -1])
        first = squeeze(first, axis=[1])
        rest = slice_of(potentials, [0, 1, 0], [-1, -1, -1])
        lengths = less_one(sequence_length)
        options: dict[str, Any] = {"sequence_length": lengths, "dtype": int32}
        pointers, best = dynamic_rnn(
            forward, inputs=rest, initial_state=first, **options
        )
        pointers = reverse_sequence(pointers, lengths, seq_dim=1)
        backward = CrfDecodeBackwardRnnCell(count)
        last = expand_dims(cast(argmax(best, axis=1), int32), axis=-1)
        tags, _ = dynamic_rnn(backward, inputs=pointers, initial_state=last, **options)
        tags = concat([last, squeeze(tags, axis=[2])], axis=1)
        tags = reverse_sequence(tags, sequence_length, seq_dim=1)
        return tags, reduce_max(best, axis=1)

    result: tuple[Tensor, Tensor] = if_single(potentials, single, several)
    return result
