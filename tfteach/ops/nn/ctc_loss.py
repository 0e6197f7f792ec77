"""Connectionist temporal classification: losses for sequences without an alignment.

Source: core/ops/ctc_ops.cc, core/util/ctc/ctc_loss_calculator.h, python/ops/ctc_ops.py;
Graves et al. 2006.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.deprecation import deprecated_argument_lookup
from tfteach.framework.dtypes import dtypes_of, float32
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import require, require_matrix, require_vector
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.identity_reshape import expand_dims, prevent_gradient
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.sparse.coo_arrays import check_ordered

FLOATS = dtypes_of("float32 float64")


class CTCLoss(MultiOutputOp):
    """-log p(labels | inputs) per sequence, and its gradient.

    Source: core/ops/ctc_ops.cc, CTCLoss.
    """

    signature = (
        "inputs: T, labels_indices: int64, labels_values: int32, "
        "sequence_length: int32 -> loss: T, gradient: T"
    )
    T = FLOATS
    T_default = float32
    preprocess_collapse_repeated: bool = False
    ctc_merge_repeated: bool = True
    ignore_longer_outputs_than_inputs: bool = False
    on_gpu: ClassVar[bool] = False

    def infer_shape(
        self, inputs: Shape, indices: Shape, values: Shape, lengths: Shape
    ) -> list[Shape]:
        times, batch, classes = shapes.with_rank(inputs, 3)
        rows, _ = shapes.with_rank(indices, 2)
        (count,) = shapes.with_rank(values, 1)
        shapes.same_size(rows, count)
        (sequences,) = shapes.with_rank(lengths, 1)
        batch = shapes.same_size(batch, sequences)
        return [(batch,), (times, batch, classes)]

    def check_shapes(
        self,
        inputs: tuple[int, ...],
        labels_indices: tuple[int, ...],
        labels_values: tuple[int, ...],
    ) -> None:
        require(len(inputs) == 3, "inputs is not a 3-Tensor")
        require_matrix(labels_indices, "labels_indices is not a matrix")
        require_vector(labels_values, "labels_values is not a vector")
        message = "labels_indices and labels_values must contain the same number of "
        message += "rows, but saw shapes: %s vs. %s"
        rows = labels_indices[0] == labels_values[0]
        require(rows, message, labels_indices, labels_values)
        require(labels_indices[1] == 2, "Order length must be SparseTensor rank.")

    def compute(
        self,
        xp: ArrayModule,
        inputs: Array,
        indices: Array,
        values: Array,
        lengths: Array,
    ) -> tuple[Any, Any]:
        check_sequences(inputs, lengths, invalid_argument)
        labels = self._labels(inputs, indices, values, lengths)
        loss = np.zeros(len(lengths), inputs.dtype)
        gradient = np.zeros_like(inputs)
        used = [
            i
            for i, own in enumerate(labels)
            if not (self.ignore_longer_outputs_than_inputs and len(own) > lengths[i])
            and lengths[i]
        ]
        if used:
            found = self._forward_backward(
                inputs[:, used], [labels[i] for i in used], lengths[used]
            )
            loss[used], gradient[:, used] = found
        return loss, gradient

    def _labels(
        self, inputs: Any, indices: Any, values: Any, lengths: Any
    ) -> list[list[int]]:
        """The labels of each sequence, up to the first null label (the blank)."""
        _, batch, classes = inputs.shape
        if not batch:
            raise invalid_argument("batch_size must not be 0")
        longest = int(indices[:, 1].max(initial=0)) + 1
        check_ordered(
            np, indices, (batch, longest), "label SparseTensor is not valid: "
        )
        given: list[list[int]] = [[] for _ in range(batch)]
        for (sequence, _), label in zip(indices.tolist(), values.tolist(), strict=True):
            given[sequence].append(label)
        labels = [self._label_row(i, row, classes) for i, row in enumerate(given)]
        for i, row in enumerate(labels):
            if len(row) > lengths[i] and not self.ignore_longer_outputs_than_inputs:
                raise invalid_argument(
                    "Not enough time for target transition sequence (required: "
                    f"{len(row)}, available: {lengths[i]}){i}You can turn this error "
                    "into a warning by using the flag ignore_longer_outputs_than_inputs"
                )
        return labels

    def _label_row(self, index: int, given: list[int], classes: int) -> list[int]:
        shown = ",".join(map(str, given))
        if not given:
            raise invalid_argument(f"Labels length is zero in batch {index}")
        if min(given) < 0:
            raise invalid_argument(
                f"All labels must be nonnegative integers, batch: {index} labels: "
                f"{shown}"
            )
        row: list[int] = []
        is_over = False
        for label in given:
            if label >= classes - 1:
                is_over = True
            elif is_over:
                raise invalid_argument(
                    "Saw a non-null label (index >= num_classes - 1) following a null "
                    f"label, batch: {index} num_classes: {classes} labels: {shown} "
                    f"labels seen so far: {','.join(map(str, row))}"
                )
            elif not (self.preprocess_collapse_repeated and row[-1:] == [label]):
                row.append(label)
        return row

    def _forward_backward(
        self, inputs: Any, labels: list[list[int]], lengths: Any
    ) -> tuple[Any, Any]:
        """Losses [batch] and gradients of sequences with enough steps for their labels.

        Blanks surround each label: state 2 i + 1 is label i.
        """
        times, batch, classes = inputs.shape
        steps = int(lengths.max())
        path = np.full((batch, 2 * max(map(len, labels)) + 1), classes - 1)
        for i, row in enumerate(labels):
            path[i, 1 : 2 * len(row) : 2] = row
        last = np.array([2 * len(row) for row in labels])
        chances = np.exp(inputs[:steps] - inputs[:steps].max(axis=2, keepdims=True))
        chances /= chances.sum(axis=2, keepdims=True)
        with np.errstate(divide="ignore"):
            outputs = np.log(
                np.take_along_axis(chances, path[None], axis=2).astype(np.float64)
            )
        both = self._path_logs(outputs, path, lengths, last)
        total = _log_sum(both[0])
        with np.errstate(invalid="ignore"):
            share = np.exp(both - total[:, None])
        share[:, total == -np.inf] = 0
        # The probability of each class is the sum over its states.
        places = (np.arange(steps)[:, None, None] * batch) + np.arange(batch)[:, None]
        places = places * classes + path
        by_class = np.bincount(places.ravel(), share.ravel(), steps * batch * classes)
        gradient = np.zeros_like(inputs)
        gradient[:steps] = chances - by_class.reshape(steps, batch, classes)
        gradient[np.arange(times)[:, None] >= lengths] = 0
        return -total, gradient

    def _path_logs(self, outputs: Any, path: Any, lengths: Any, last: Any) -> Any:
        """The log probability of all paths through each state, [step, batch, state].

        The paths that leave a state are those that reach it in the reversed sequence,
        so one recursion computes both.
        """
        steps, batch, states = outputs.shape
        blank = path[:, :1]
        stays = np.where((path == blank) | self.ctc_merge_repeated, 0.0, -np.inf)
        skips = np.full((batch, states + 2), -np.inf)
        can_skip = path[:, 2:] != blank
        if self.ctc_merge_repeated:
            can_skip &= path[:, 2:] != path[:, :-2]
        skips[:, 2:-2][can_skip] = 0.0
        rows = np.arange(batch)
        when = lengths - 1 - np.arange(steps)[:, None]
        where = last[:, None] - np.arange(states)
        is_outside = (when < 0)[:, :, None] | (where < 0)
        when, where = np.maximum(when, 0), np.maximum(where, 0)
        mirrored = (when[:, :, None], rows[:, None], where)
        reverse = outputs[mirrored]
        reverse[is_outside] = -np.inf
        rows = rows[:, None]
        logs = _ways(
            np.concatenate([outputs, reverse], axis=1),
            np.concatenate([stays, stays[rows, where]]),
            np.concatenate([skips[:, :-2], skips[rows, where + 2]]),
        )
        onward = logs[:, batch:][mirrored]
        onward[is_outside] = -np.inf
        with np.errstate(invalid="ignore"):  # both include the state's output
            both = logs[:, :batch] + onward - outputs
        both[outputs == -np.inf] = -np.inf
        return both

    def gradient(self, op: Operation, grad_loss: Tensor, _: Any) -> list[Gradient]:
        once = prevent_gradient(
            op.outputs[1],
            message="Currently there is no way to take the second  derivative of "
            "ctc_loss due to the fused implementation's interaction  with "
            "tf.gradients()",
        )
        return [expand_dims(grad_loss, -1) * once, None, None, None]


def check_sequences(inputs: Any, lengths: Any, error: Any) -> None:
    """Check inputs and lengths of CTC ops.  Raises: OpError (by `error`)."""
    if inputs.ndim != 3:
        raise invalid_argument("inputs is not a 3-Tensor")
    if lengths.ndim != 1:
        raise invalid_argument("sequence_length is not a vector")
    times, batch, _ = inputs.shape
    if len(lengths) != batch:
        raise error(
            "len(sequence_length) != batch_size.  len(sequence_length):  "
            f"{len(lengths)} batch_size: {batch}"
        )
    for i, length in enumerate(lengths.tolist()):
        if length > times:
            raise error(f"sequence_length({i}) <= {times}")
        if length < 0 and error is invalid_argument:
            raise error(f"seq_len({i}) < 0")


def _ways(outputs: Any, stays: Any, skips: Any) -> Any:
    """The log probability of the paths to each state, including the state's output.

    Args:
      outputs: [step, sequence, state], log probability of each state's class.
      stays, skips: [sequence, state], 0 where the state itself, or the one before the
        previous, may precede it; otherwise -inf.
    """
    logs = np.full_like(outputs, -np.inf)
    logs[0, :, :2] = outputs[0, :, :2]
    before = np.full((3, *stays.shape), -np.inf)
    scaled, highest, total = before.copy(), stays.copy(), stays.copy()
    with np.errstate(divide="ignore"):
        for now, output, after in zip(logs, outputs[1:], logs[1:], strict=False):
            np.add(now, stays, out=before[0])
            before[1, :, 1:] = now[:, :-1]
            np.add(now[:, :-2], skips[:, 2:], out=before[2, :, 2:])
            np.maximum(before[0], before[1], out=highest)
            np.maximum(highest, before[2], out=highest)
            np.maximum(highest, _LEAST, out=highest)  # avoids -inf minus -inf
            np.subtract(before, highest, out=scaled)
            np.exp(scaled, out=scaled)
            np.add(scaled[0], scaled[1], out=total)
            np.add(total, scaled[2], out=total)
            np.log(total, out=total)
            np.add(total, highest, out=total)
            np.add(total, output, out=after)
    return logs


_LEAST = -1e300


def _log_sum(values: Any) -> Any:
    """log sum exp over the last axis; -inf if all are -inf."""
    highest = np.maximum(values.max(axis=-1), _LEAST)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(values - highest[..., None]).sum(axis=-1)) + highest


@export("nn.ctc_loss")
def ctc_loss(
    labels: SparseTensor,
    inputs: TensorLike | None = None,
    sequence_length: TensorLike | None = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: TensorLike | None = None,
) -> Tensor:
    """-log p(labels | inputs) per sequence, summed over all alignments.

    An alignment assigns a class to each step; repeated classes count once, and the last
    class is the blank, which is dropped.

    Args:
      labels: int32 SparseTensor [batch, most labels]; each row has its labels, in [0,
        classes - 1).
      inputs: float32 or float64 Tensor [time, batch, classes], before the softmax.
      sequence_length: int32 Tensor [batch], the number of steps of each sequence.
      preprocess_collapse_repeated: merge repeated labels first.
      ctc_merge_repeated: whether repeated outputs count once; if False, each counts.
      ignore_longer_outputs_than_inputs: return 0 instead of an error for sequences with
        more labels than steps.
      time_major: False: `inputs` are [batch, time, classes].
      logits: alias of `inputs`.

    Returns:
      A Tensor [batch]: inf where no alignment is possible.

    Raises:
      TypeError: `labels` is not a SparseTensor.
      tf.errors.InvalidArgumentError: in a run, a sequence has no labels, negative
        labels or more labels than steps, or its length exceeds the number of steps.

    Example:
      >>> labels = tf.SparseTensor([[0, 0], [0, 1]], [0, 1], [1, 2])
      >>> loss = tf.nn.ctc_loss(labels, tf.zeros([5, 1, 3]), [5])

    Source: CTCLoss in core/ops/ctc_ops.cc.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = deprecated_argument_lookup("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = transpose(inputs, [1, 0, 2])
    op = CTCLoss(
        preprocess_collapse_repeated,
        ctc_merge_repeated,
        ignore_longer_outputs_than_inputs,
    )
    loss, _ = op(inputs, labels.indices, labels.values, sequence_length)
    return loss
