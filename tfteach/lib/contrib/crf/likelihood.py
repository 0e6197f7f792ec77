"""Scores and likelihoods of tag sequences under a linear-chain CRF.

Source: contrib/crf/python/ops/crf.py; Lafferty et al. 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.branch import smart_cond
from tfteach.framework.dtypes import float32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.rnn.cell import RNNCell
from tfteach.lib.rnn.dynamic import dynamic_rnn
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import gather
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.one_hot import sequence_mask
from tfteach.ops.array.slicing import slice as slice_of
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import fill, zeros_like
from tfteach.ops.core.identity_reshape import expand_dims, reshape, squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, less_equal
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.statistics import reduce_logsumexp
from tfteach.variables.scope import get_variable
from tfteach.variables.scope.variable_scope import VariableScope


def known_size(tensor: Any, axis: int) -> int | None:
    """A static size, or None."""
    size = tensor.shape[axis]
    known: int | None = getattr(size, "value", size)
    return known


def if_single(
    inputs: Any, single: Callable[[], Any], several: Callable[[], Any]
) -> Any:
    """`single` for sequences of one step, `several` for longer ones."""
    steps = known_size(inputs, 1) or shape(inputs)[1]
    return smart_cond(equal(steps, 1), single, several)


def _for_used(sequence_lengths: Any, values: Any) -> Tensor:
    """The values, with 0 for empty sequences."""
    is_empty = less_equal(sequence_lengths, 0)
    return where(is_empty, zeros_like(values), values)


def less_one(sequence_lengths: Any) -> Tensor:
    """The number of transitions of each sequence."""
    return maximum(constant(0, sequence_lengths.dtype), sequence_lengths - 1)


@export("contrib.crf.crf_sequence_score")
def crf_sequence_score(
    inputs: TensorLike,
    tag_indices: Tensor,
    sequence_lengths: TensorLike,
    transition_params: Tensor,
) -> Tensor:
    """The scores of tag sequences: the sum over tags and transitions.

    Args:
      inputs: float32 Tensor [batch, steps, tags], the score of each tag.
      tag_indices: int Tensor [batch, steps].
      sequence_lengths: int Tensor [batch], the number of steps of each sequence.
      transition_params: float32 Tensor [tags, tags], the score of each transition.

    Returns:
      A float32 Tensor [batch].

    Source: contrib/crf/python/ops/crf.py.
    """

    def single() -> Tensor:
        batch = shape(inputs, out_type=tag_indices.dtype)[0]
        rows = reshape(range_of(batch, dtype=tag_indices.dtype), [-1, 1])
        step = squeeze(inputs, [1])
        scores = gather_nd(step, concat([rows, tag_indices], axis=1))
        return _for_used(sequence_lengths, scores)

    def several() -> Tensor:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        binary = crf_binary_score(tag_indices, sequence_lengths, transition_params)
        return unary + binary

    result: Tensor = if_single(inputs, single, several)
    return result


@export("contrib.crf.crf_multitag_sequence_score")
def crf_multitag_sequence_score(
    inputs: TensorLike,
    tag_bitmap: TensorLike,
    sequence_lengths: TensorLike,
    transition_params: TensorLike,
) -> Tensor:
    """log of the summed exponential scores of all sequences of allowed tags.

    Args:
      inputs: float32 Tensor [batch, steps, tags], the score of each tag.
      tag_bitmap: bool Tensor of the same shape, the allowed tags.
      sequence_lengths: int Tensor [batch].
      transition_params: float32 Tensor [tags, tags].

    Returns:
      A float32 Tensor [batch]; equal to `crf_sequence_score` for one tag per step.

    Source: contrib/crf/python/ops/crf.py.
    """

    def allowed() -> Tensor:
        return where(tag_bitmap, inputs, fill(shape(inputs), float("-inf")))

    result: Tensor = if_single(
        inputs,
        lambda: reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False),
        lambda: crf_log_norm(allowed(), sequence_lengths, transition_params),
    )
    return result


@export("contrib.crf.crf_log_norm")
def crf_log_norm(
    inputs: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> Tensor:
    """log of the summed exponential scores of all tag sequences.

    Args:
      inputs: float32 Tensor [batch, steps, tags], the score of each tag.
      sequence_lengths: int Tensor [batch].
      transition_params: float32 Tensor [tags, tags].

    Returns:
      A float32 Tensor [batch], 0 for empty sequences.

    Source: contrib/crf/python/ops/crf.py.
    """
    first = squeeze(slice_of(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def single() -> Tensor:
        return _for_used(sequence_lengths, reduce_logsumexp(first, [1]))

    def several() -> Tensor:
        rest = slice_of(inputs, [0, 1, 0], [-1, -1, -1])
        cell = CrfForwardRnnCell(transition_params)
        _, alphas = dynamic_rnn(
            cell=cell,
            inputs=rest,
            sequence_length=less_one(sequence_lengths),
            initial_state=first,
            dtype=float32,
        )
        return _for_used(sequence_lengths, reduce_logsumexp(alphas, [1]))

    result: Tensor = if_single(inputs, single, several)
    return result


@export("contrib.crf.crf_log_likelihood")
def crf_log_likelihood(
    inputs: TensorLike,
    tag_indices: Tensor,
    sequence_lengths: TensorLike,
    transition_params: Tensor | None = None,
) -> tuple[Tensor, Any]:
    """log p(tags | inputs) of sequences, and the scores of transitions.

    Args:
      inputs: float32 Tensor [batch, steps, tags], the score of each tag.
      tag_indices: int Tensor [batch, steps].
      sequence_lengths: int Tensor [batch], the number of steps of each sequence.
      transition_params: float32 Tensor [tags, tags], the score of each transition; the
        variable "transitions" if None.

    Returns:
      (log_likelihood, transition_params): a float32 Tensor [batch]; the given
      transitions, or the variable.

    Example:
      >>> scores = tf.zeros([2, 5, 3])
      >>> tags, lengths = tf.zeros([2, 5], tf.int32), tf.constant([5, 3])
      >>> log_likelihood, transitions = tf.contrib.crf.crf_log_likelihood(
      ...     scores, tags, lengths)
      >>> loss = tf.reduce_mean(-log_likelihood)

    Source: contrib/crf/python/ops/crf.py.
    """
    tags = known_size(inputs, 2)
    if transition_params is None:
        transition_params = get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(
        inputs, tag_indices, sequence_lengths, transition_params
    )
    log_norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return scores - log_norm, transition_params


@export("contrib.crf.crf_unary_score")
def crf_unary_score(
    tag_indices: Tensor, sequence_lengths: TensorLike, inputs: TensorLike
) -> Tensor:
    """The summed scores of the tags of sequences.

    Args:
      tag_indices: int Tensor [batch, steps].
      sequence_lengths: int Tensor [batch].
      inputs: float32 Tensor [batch, steps, tags].

    Returns:
      A float32 Tensor [batch].

    Source: contrib/crf/python/ops/crf.py.
    """
    batch, steps, tags = (shape(inputs)[i] for i in range(3))
    flat = reshape(inputs, [-1])
    offsets = expand_dims(range_of(batch) * steps * tags, 1)
    offsets += expand_dims(range_of(steps) * tags, 0)
    if tag_indices.dtype == int64:
        offsets = cast(offsets, int64)
    places = reshape(offsets + tag_indices, [-1])
    scores = reshape(gather(flat, places), [batch, steps])
    masks = sequence_mask(sequence_lengths, shape(tag_indices)[1], float32)
    return reduce_sum(scores * masks, 1)


@export("contrib.crf.crf_binary_score")
def crf_binary_score(
    tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: Tensor
) -> Tensor:
    """The summed scores of the transitions in sequences.

    Args:
      tag_indices: int Tensor [batch, steps].
      sequence_lengths: int Tensor [batch].
      transition_params: float32 Tensor [tags, tags].

    Returns:
      A float32 Tensor [batch].

    Source: contrib/crf/python/ops/crf.py.
    """
    tags = transition_params.get_shape()[0]
    count = shape(tag_indices)[1] - 1
    starts = slice_of(tag_indices, [0, 0], [-1, count])
    ends = slice_of(tag_indices, [0, 1], [-1, count])
    places = starts * tags + ends
    scores = gather(reshape(transition_params, [-1]), places)
    masks = sequence_mask(sequence_lengths, shape(tag_indices)[1], float32)
    masks = slice_of(masks, [0, 1], [-1, -1])
    return reduce_sum(scores * masks, 1)


class CrfCell(RNNCell):
    """One step of a recursion over the tags' scores.

    Args:
      transition_params: float32 Tensor [tags, tags].
    """

    def __init__(self, transition_params: Any) -> None:
        self._transition_params = expand_dims(transition_params, 0)
        self._num_tags = known_size(transition_params, 0)

    @property
    def state_size(self) -> Any:
        return self._num_tags

    @property
    def output_size(self) -> Any:
        return self._num_tags


@export("contrib.crf.CrfForwardRnnCell")
class CrfForwardRnnCell(CrfCell):
    """The forward algorithm: log of the summed exponential scores of all prefixes.

    Args:
      transition_params: float32 Tensor [tags, tags].

    Source: contrib/crf/python/ops/crf.py.
    """

    def __call__(
        self, inputs: TensorLike, state: Any, scope: VariableScope | str | None = None
    ) -> Any:
        scores = expand_dims(state, 2) + self._transition_params
        alphas = inputs + reduce_logsumexp(scores, [1])
        return alphas, alphas
