"""CTC loss of dense labels, and functions that prepare labels.

Source: python/ops/ctc_ops.py; Sim et al. 2017 (batched forward-backward).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.autodiff.custom_gradient import custom_gradient
from tfteach.control.functional import map_fn, scan
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import bool_, float32, int32, int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather import boolean_mask
from tfteach.ops.array.one_hot import one_hot, sequence_mask
from tfteach.ops.array.padding import pad
from tfteach.ops.array.scatter_nd import scatter_nd
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.array.unique import unique
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import fill, ones_like, zeros
from tfteach.ops.core.identity_reshape import expand_dims, reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.linalg.matrix_diag import eye
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, logical_and, not_equal
from tfteach.ops.math.exponential import exp, log
from tfteach.ops.math.range import range as range_of
from tfteach.ops.math.reduce_functions import reduce_max, reduce_sum
from tfteach.ops.math.statistics import reduce_logsumexp
from tfteach.ops.nn.ctc_loss import ctc_loss
from tfteach.ops.nn.softmax import log_softmax

# Replaces log 0 where it is multiplied by a mask.
_LOG_OF_NEARLY_NONE = float(np.float32(np.log(1e-307)))


def _size(tensor: Tensor, axis: int) -> Any:
    """A size: an int if it is known and not 0; otherwise a scalar Tensor."""
    known = tensor.shape[axis]
    return getattr(known, "value", known) or shape(tensor)[axis]


@export("nn.ctc_loss_v2", v2="nn.ctc_loss")
def ctc_loss_v2(
    labels: TensorLike | SparseTensor,
    logits: TensorLike,
    label_length: TensorLike,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """-log p(labels | logits) per sequence, for dense or sparse labels.

    With sparse labels it is `tf.nn.ctc_loss`, which is faster.

    Args:
      labels: int Tensor [batch, most labels], or an int32 SparseTensor.
      logits: float32 Tensor [time, batch, classes].
      label_length: int Tensor [batch]; ignored for sparse labels.
      logit_length: int32 Tensor [batch], the number of steps of each sequence.
      logits_time_major: False: `logits` are [batch, time, classes].
      unique: the result of `tf.nn.ctc_unique_labels` for `labels`, or None.
      blank_index: the class of the blank, negative from the end; 0 if None, which is
        not allowed for sparse labels.
      name: the scope of the ops for dense labels; "ctc_loss_dense" if None.

    Returns:
      A float32 Tensor [batch].

    Raises:
      ValueError: labels are sparse, and `blank_index` is None.

    Example:
      >>> loss = tf.nn.ctc_loss_v2([[1, 2]], tf.zeros([5, 1, 3]), [2], [5])

    Source: python/ops/ctc_ops.py.  The steps are a `tf.while_loop` where TensorFlow
    has a functional While.
    """
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError(
                "blank_index must be given when using SparseTensor labels."
            )
        return _of_sparse(labels, logits, logit_length, logits_time_major, blank_index)
    inputs = [labels, logits, label_length, logit_length]
    with name_scope(name, "ctc_loss_dense", inputs):
        logits, labels = convert(logits, name="logits"), convert(labels, name="labels")
        label_length = convert(label_length, name="label_length")
        logit_length = convert(logit_length, name="logit_length")
        if not logits_time_major:
            logits = transpose(logits, [1, 0, 2])
        if blank_index:
            if blank_index < 0:
                blank_index += _size(logits, 2)
            logits = concat(
                [
                    logits[:, :, blank_index : blank_index + 1],
                    logits[:, :, :blank_index],
                    logits[:, :, blank_index + 1 :],
                ],
                axis=2,
            )
            labels = where(labels < blank_index, labels + 1, labels)
        args = [logits, labels, label_length, logit_length, *(unique or ())]

        @custom_gradient
        def loss_of(*tensors: Any) -> Any:
            loss, slope = _loss_and_gradient(*tensors)

            def gradient(grad: Tensor) -> list[Any]:
                rest = [None] * (len(args) - 1)
                return [reshape(grad, [1, -1, 1]) * slope, *rest]

            return loss, gradient

        result: Tensor = loss_of(*args)
        return result


def _of_sparse(
    labels: SparseTensor, logits: Any, lengths: Any, is_time_major: bool, blank: Any
) -> Tensor:
    if blank < 0:
        blank += _size(logits, 2)
    if blank != _size(logits, 2) - 1:
        logits = concat(
            [
                logits[:, :, :blank],
                logits[:, :, blank + 1 :],
                logits[:, :, blank : blank + 1],
            ],
            axis=2,
        )
        values = labels.values
        values = where(values < blank, values, values - 1)
        labels = SparseTensor(labels.indices, values, labels.dense_shape)
    return ctc_loss(labels, logits, lengths, time_major=is_time_major)


def _loss_and_gradient(
    logits: Any, labels: Any, label_length: Any, logit_length: Any, *unique: Any
) -> tuple[Any, Any]:
    """Losses [batch] and their gradients [time, batch, classes].

    States: 0 is the start, i > 0 label i - 1, followed by as many blanks: one after the
    start and after each label.
    """
    count, longest = _size(logits, 2), _size(labels, 1)
    class_logs = log_softmax(logits)
    by_label = expand_dims(class_logs, 2) * expand_dims(one_hot(labels, count), 0)
    blanks = tile(class_logs[:, :, :1], [1, 1, longest + 1])
    outputs = concat([reduce_sum(by_label, axis=3), blanks], axis=2)
    outputs = pad(outputs, [[0, 0], [0, 0], [1, 0]], constant_values=-np.inf)
    moves = log(_transitions(labels))
    batch = _size(label_length, 0)
    states = 2 * (longest + 1)
    start = one_hot(zeros([batch], int32), states, 0.0, _LOG_OF_NEARLY_NONE, axis=1)
    is_last = one_hot(label_length, longest + 1, dtype=float32)
    end = (1.0 - concat([is_last, is_last], axis=1)) * _LOG_OF_NEARLY_NONE
    shares, likelihood = _forward_backward(moves, start, end, outputs, logit_length)
    label_states, blank_states = (
        shares[:, :, 1 : longest + 1],
        shares[:, :, longest + 1 :],
    )
    if unique:
        by_class = _shares_of_unique(label_states, count, *unique)
    else:
        known = one_hot(labels - 1, count - 1, 0.0, -np.inf)
        spread = expand_dims(label_states, 3) + expand_dims(known, 0)
        by_class = reduce_logsumexp(spread, axis=2)
    of_blank = reduce_logsumexp(blank_states, axis=2, keepdims=True)
    by_class = concat([of_blank, by_class], axis=-1)
    return -likelihood, exp(class_logs) - exp(by_class)


def _transitions(labels: Any) -> Tensor:
    """Allowed transitions between states: 1 or 0, [batch, states, states]."""
    batch, longest = _size(labels, 0), _size(labels, 1)
    labelled = range_of(longest + 1)
    blanks = labelled + (longest + 1)
    states = 2 * (longest + 1)
    pairs = concat(
        [
            [[1, 0]],
            stack([labelled[1:], blanks[:-1]], 1),
            stack([blanks, labelled], 1),
        ],
        0,
    )
    always = scatter_nd(pairs, fill([_size(pairs, 0)], 1.0), [states, states])
    always += eye(states)
    # From label to label without a blank, unless they are equal.
    steps = stack([labelled[2:], labelled[1:-1]], 1)
    rows = tile(expand_dims(range_of(batch), 1), [1, longest - 1])
    steps = tile(expand_dims(steps, 0), [batch, 1, 1])
    places = concat([expand_dims(rows, 2), steps], axis=2)
    differs = 1.0 - cast(equal(labels[:, :-1], labels[:, 1:]), float32)
    return expand_dims(always, 0) + scatter_nd(places, differs, [batch, states, states])


def _shares_of_unique(states: Any, count: Any, labels: Any, which: Any) -> Tensor:
    """Log probabilities of the non-blank classes, summed by distinct label."""
    own = one_hot(which, _size(states, 2), 0.0, -np.inf, axis=1)
    summed = reduce_logsumexp(expand_dims(states, 2) + own, axis=-1)
    frames, batch, width = _size(summed, 0), _size(summed, 1), _size(summed, 2)
    updates = reshape(transpose(summed, [1, 2, 0]), [batch * width, frames])
    offset = range_of(cast(batch, labels.dtype), dtype=labels.dtype) * count
    places = reshape(labels + expand_dims(offset, -1), [-1, 1])
    sizes = cast(stack([batch * count, frames]), labels.dtype)
    found = reshape(scatter_nd(places, updates, sizes), [batch, count, frames])
    found = where(equal(found, 0.0), fill(shape(found), -np.inf), found)
    return transpose(found, [2, 0, 1])[:, :, 1:]


def _forward_backward(
    moves: Any, start: Any, end: Any, outputs: Any, lengths: Any
) -> tuple[Any, Any]:
    """Log posterior of the states [time, batch, states], and the log likelihood."""
    back = transpose(moves, [0, 2, 1])

    def forward(state: Any, output: Any) -> Any:
        state = reduce_logsumexp(expand_dims(state, 1) + moves, axis=-1) + output
        return state - reduce_logsumexp(state, axis=-1, keepdims=True)

    def backward(found: Any, step: Any) -> Any:
        state, total = found
        output, is_used = step
        state = reduce_logsumexp(expand_dims(state + output, 1) + back, axis=-1)
        scale = reduce_logsumexp(state, axis=-1)
        state = state - expand_dims(scale, 1)
        mask = expand_dims(is_used, 1)
        return state * mask + end * (1.0 - mask), total + scale * is_used

    mask = transpose(sequence_mask(lengths, _size(outputs, 0), float32), [1, 0])
    ways = scan(forward, outputs, start, back_prop=False)
    none = zeros([_size(outputs, 1)])
    onward, totals = scan(
        backward, (outputs, mask), (end, none), back_prop=False, reverse=True
    )
    both = ways + concat([onward[1:], expand_dims(end, 0)], 0)
    both -= reduce_logsumexp(both, axis=2, keepdims=True)
    both += log(expand_dims(mask, 2))
    return both, onward[0, :, 0] + totals[0]


@export("nn.collapse_repeated")
def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Labels with adjacent duplicates removed.

    Args:
      labels: Tensor [batch, longest].
      seq_length: int Tensor [batch], the length of each row.
      name: the scope of the ops; "collapse_repeated_labels" if None.

    Returns:
      (labels, lengths): [batch, new longest], padded with 0; [batch].

    Example:
      >>> tf.nn.collapse_repeated([[1, 1, 2, 2, 1]], [5])  # [[1, 2, 1]], [3]

    Source: python/ops/ctc_ops.py.
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert(labels, name="labels")
        seq_length = convert(seq_length, name="seq_length")
        is_new = concat(
            [
                ones_like(labels[:, :1], bool_),
                not_equal(labels[:, 1:], labels[:, :-1]),
            ],
            axis=1,
        )
        is_used = sequence_mask(seq_length, maxlen=_size(labels, 1))
        is_new = logical_and(is_new, is_used)
        lengths = reduce_sum(cast(is_new, int32), axis=1)
        longest = reduce_max(lengths)
        is_filled = sequence_mask(lengths, maxlen=longest)
        flat, flat_new = reshape(labels, [-1]), reshape(is_new, [-1])
        flat_filled = reshape(is_filled, [-1])
        places = range_of(_size(flat_filled, 0))
        collapsed = scatter_nd(
            expand_dims(boolean_mask(places, flat_filled), axis=1),
            boolean_mask(flat, flat_new),
            shape(flat_filled),
        )
        new_shape = [_size(labels, 0), longest]
        return reshape(collapsed, new_shape), cast(lengths, seq_length.dtype)


@export("nn.ctc_unique_labels")
def ctc_unique_labels(
    labels: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The distinct labels of each row, for `unique` of `tf.nn.ctc_loss_v2`.

    Args:
      labels: int Tensor [batch, longest], padded with 0.
      name: the scope of the ops; "ctc_unique_labels" if None.

    Returns:
      (distinct, which): int64 [batch, longest], padded with 0; int32 [batch, longest],
      the index of each label among the distinct ones.

    Example:
      >>> tf.nn.ctc_unique_labels([[3, 4, 4, 3]])  # [[3, 4, 0, 0]], [[0, 1, 1, 0]]

    Source: python/ops/ctc_ops.py.
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert(labels, name="labels")

        def distinct(row: Any) -> list[Any]:
            found, which = unique(row)
            missing = _size(which, 0) - _size(found, 0)
            return [cast(pad(found, [[0, missing]]), int64), which]

        result: tuple[Tensor, Tensor] = map_fn(distinct, labels, dtype=[int64, int32])
        return result
