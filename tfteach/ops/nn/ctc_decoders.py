"""CTC decoders: the most probable label sequences of outputs.

Source: core/ops/ctc_ops.cc, core/util/ctc/ctc_beam_search.h, python/ops/ctc_ops.py.
"""

from __future__ import annotations

import heapq
import math
from bisect import insort
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import float32
from tfteach.framework.errors import FailedPreconditionError, invalid_argument
from tfteach.framework.export import export
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Array, ArrayModule, Gradient, TensorLike
from tfteach.ops.core.sparse_tensor import SparseTensor
from tfteach.ops.nn.ctc_loss import FLOATS, check_sequences

NEVER = -math.inf


def _precondition(message: str) -> FailedPreconditionError:
    return FailedPreconditionError(None, None, message)


def _sizes(inputs: Shape, lengths: Shape) -> int | None:
    """The batch size."""
    _, batch, _ = shapes.with_rank(inputs, 3)
    (sequences,) = shapes.with_rank(lengths, 1)
    return shapes.same_size(batch, sequences)


def _sparse(sequences: list[list[int]]) -> tuple[Any, Any, Any]:
    """Lists of labels as a sparse matrix."""
    places = [(i, j) for i, row in enumerate(sequences) for j in range(len(row))]
    return (
        np.array(places, np.int64).reshape(-1, 2),
        np.array([label for row in sequences for label in row], np.int64),
        np.array([len(sequences), max(map(len, sequences), default=0)], np.int64),
    )


class CTCGreedyDecoder(MultiOutputOp):
    """The most probable class of each step.  Source: ctc_ops.cc, CTCGreedyDecoder."""

    signature = (
        "inputs: T, sequence_length: int32 -> decoded_indices: int64, "
        "decoded_values: int64, decoded_shape: int64, log_probability: T"
    )
    T = FLOATS
    T_default = float32
    merge_repeated: bool = False
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, inputs: Shape, lengths: Shape) -> list[Shape]:
        return [(None, 2), (None,), (2,), (_sizes(inputs, lengths), 1)]

    def compute(
        self, xp: ArrayModule, inputs: Array, lengths: Array
    ) -> tuple[Any, ...]:
        check_sequences(inputs, lengths, _precondition)
        times, batch, classes = inputs.shape
        best = inputs.argmax(axis=2) if inputs.size else np.zeros((times, batch), int)
        is_used = np.arange(times)[:, None] < lengths
        highest = inputs.max(axis=2) if inputs.size else np.zeros((times, batch))
        total = -np.where(is_used, highest, 0).sum(axis=0, keepdims=True).T
        is_emitted = is_used & (best != classes - 1)
        if self.merge_repeated:
            is_emitted[1:] &= best[1:] != best[:-1]
        rows = [best[is_emitted[:, i], i].tolist() for i in range(batch)]
        return *_sparse(rows), total.astype(inputs.dtype)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None, None]


class CTCBeamSearchDecoder(MultiOutputOp):
    """The most probable sequences, by a beam search over prefixes.

    Source: ctc_ops.cc, CTCBeamSearchDecoder.
    """

    signature = (
        "inputs: T, sequence_length: int32 -> decoded_indices: top_paths*int64, "
        "decoded_values: top_paths*int64, decoded_shape: top_paths*int64, "
        "log_probability: T"
    )
    T = FLOATS
    T_default = float32
    beam_width: int
    top_paths: int
    merge_repeated: bool = True
    on_gpu: ClassVar[bool] = False
    minimum: ClassVar[dict[str, int]] = {"beam_width": 1, "top_paths": 1}

    def infer_shape(self, inputs: Shape, lengths: Shape) -> list[Shape]:
        paths = self.top_paths
        found: list[Shape] = [(None, 2)] * paths + [(None,)] * paths + [(2,)] * paths
        return [*found, (_sizes(inputs, lengths), paths)]

    def compute(
        self, xp: ArrayModule, inputs: Array, lengths: Array
    ) -> tuple[Any, ...]:
        check_sequences(inputs, lengths, _precondition)
        if self.top_paths > self.beam_width:
            raise invalid_argument("requested more paths than the beam width.")
        _, batch, classes = inputs.shape
        highest = inputs.max(axis=2, keepdims=True, initial=-np.inf)
        shifted = inputs.astype(np.float64) - highest
        logs = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
        total = np.zeros((batch, self.top_paths), inputs.dtype)
        decoded: list[list[list[int]]] = [[] for _ in range(self.top_paths)]
        for i, length in enumerate(lengths.tolist()):
            leaves = _Beams(self.beam_width, classes).searched(logs[:length, i])
            if len(leaves) < self.top_paths:
                raise invalid_argument("Less leaves in the beam search than requested.")
            for path, beam in enumerate(leaves[: self.top_paths]):
                total[i, path] = beam.total
                decoded[path].append(beam.labels(self.merge_repeated))
        found = [_sparse(rows) for rows in decoded]
        columns = list(zip(*found, strict=True))
        return *columns[0], *columns[1], *columns[2], total

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None, None]


class _Beam:
    """A prefix of a sequence, with its probability: ending in blank, and in total."""

    __slots__ = (
        "blank",
        "children",
        "label",
        "old_blank",
        "old_total",
        "own",
        "parent",
        "total",
    )

    def __init__(self, parent: _Beam | None, label: int) -> None:
        self.parent, self.label = parent, label
        self.children: dict[int, _Beam] = {}
        self.total = self.blank = self.own = NEVER
        self.old_total = self.old_blank = NEVER

    def drop(self) -> None:
        """Remove it from the search; a later step may find it again."""
        self.total = self.blank = self.own = NEVER

    def labels(self, merge_repeated: bool) -> list[int]:
        found = []
        beam = self
        while beam.parent is not None:
            found.append(beam.label)
            beam = beam.parent
        found.reverse()
        if not merge_repeated:
            return found
        return found[:1] + [b for a, b in pairwise(found) if a != b]


class _Beams:
    """The search over one sequence's steps."""

    def __init__(self, width: int, classes: int) -> None:
        self.width, self.blank = width, classes - 1

    def searched(self, logs: Any) -> list[_Beam]:
        """The most probable beams after all steps, the best first."""
        root = _Beam(None, -1)
        root.total = root.blank = 0.0
        beams = [root]
        for step in logs:
            beams = self._after(beams, step)
        return beams

    def _after(self, beams: list[_Beam], step: Any) -> list[_Beam]:
        logs = step.tolist()
        for beam in beams:
            beam.old_total, beam.old_blank = beam.total, beam.blank
        for beam in beams:
            parent = beam.parent
            if parent is not None:
                if parent.total != NEVER:
                    repeats = beam.label == parent.label
                    before = parent.old_blank if repeats else parent.old_total
                    beam.own = _log_add(beam.own, before)
                beam.own += logs[beam.label]
            beam.blank = beam.old_total + logs[self.blank]
            beam.total = _log_add(beam.blank, beam.own)
        # The number breaks ties, so that beams themselves are never compared.
        leaves = [(beam.total, -number, beam) for number, beam in enumerate(beams)]
        heapq.heapify(leaves)
        self._grow(beams, leaves, step)
        leaves.sort(reverse=True)
        return [beam for _, _, beam in leaves]

    def _grow(self, beams: list[_Beam], leaves: Any, step: Any) -> None:
        """Add the beams' extensions to the leaves where they qualify."""
        before = np.array([beam.old_total for beam in beams])[:, None]
        chances = before + step[:-1]
        for row, beam in enumerate(beams):
            if beam.label >= 0:
                chances[row, beam.label] = beam.old_blank + step[beam.label]
        least = leaves[0][0] if len(leaves) == self.width else NEVER
        rows, hopeful = np.nonzero(chances > least)
        bounds = np.searchsorted(rows, np.arange(len(beams) + 1)).tolist()
        likely, found = hopeful.tolist(), chances[rows, hopeful].tolist()
        number = -len(leaves)
        dropped: dict[_Beam | None, list[_Beam]] = {}  # by parent
        for row, beam in enumerate(beams):
            least = leaves[0][0] if len(leaves) == self.width else NEVER
            if beam.old_total <= least:
                continue
            own = slice(bounds[row], bounds[row + 1])
            waiting = list(zip(likely[own], found[own], strict=True))
            for child in dropped.get(beam, ()):
                if child.label not in likely[own]:
                    insort(waiting, (child.label, NEVER))
            for label, chance in waiting:  # new entries may be appended for this label
                known = beam.children.get(label)
                if known is not None and known.total != NEVER:
                    continue  # already a leaf
                if chance <= least:
                    if known is not None:
                        # Like TensorFlow, forget that it was a beam before this step.
                        known.old_total = known.old_blank = NEVER
                    continue
                child = known or _Beam(beam, label)
                beam.children[label] = child
                child.own = child.total = chance
                number -= 1
                if len(leaves) < self.width:
                    heapq.heappush(leaves, (chance, number, child))
                else:
                    last = heapq.heapreplace(leaves, (chance, number, child))[2]
                    last.drop()
                    dropped.setdefault(last.parent, []).append(last)
                    is_next = last.parent is beam and last.label > label
                    if is_next and last.label not in likely[own]:
                        insort(waiting, (last.label, NEVER))
                if len(leaves) == self.width:
                    least = leaves[0][0]


def _log_add(a: float, b: float) -> float:
    if a == NEVER:
        return b
    if b == NEVER:
        return a
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


@export("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """The labels of the most probable class of each step, without blanks.

    Args:
      inputs: float32 or float64 Tensor [time, batch, classes]; the last class is the
        blank.
      sequence_length: int32 Tensor [batch].
      merge_repeated: whether a class repeated without a blank in between counts once.

    Returns:
      ([decoded], neg_sum_logits): an int64 SparseTensor [batch, most labels]; for each
      sequence the negated sum of the largest inputs, [batch, 1].

    Raises:
      tf.errors.FailedPreconditionError: in a run, a length exceeds the number of steps,
        or the number of lengths is not the batch size.

    Example:
      >>> [decoded], _ = tf.nn.ctc_greedy_decoder(tf.eye(3)[:, None], [3])
      >>> tf.Session().run(decoded.values)
      array([0, 1])

    Source: CTCGreedyDecoder in core/ops/ctc_ops.cc.
    """
    *parts, total = CTCGreedyDecoder(merge_repeated)(inputs, sequence_length)
    return [SparseTensor(*parts)], total


@export("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """The most probable label sequences, summed over their alignments.

    Args:
      inputs: float32 or float64 Tensor [time, batch, classes]; the last class is the
        blank.
      sequence_length: int32 Tensor [batch].
      beam_width: the number of prefixes retained in each step.
      top_paths: the number of sequences to return, at most `beam_width`.
      merge_repeated: whether to merge equal adjacent labels of a result, even with a
        blank between them.

    Returns:
      (decoded, log_probability): a list of `top_paths` int64 SparseTensors [batch, most
      labels], the best first; their log probabilities, [batch, top_paths].

    Raises:
      tf.errors.InvalidArgumentError: in a run, `top_paths` exceeds `beam_width` or the
        number of sequences.

    Example:
      >>> [best], _ = tf.nn.ctc_beam_search_decoder(tf.eye(3)[:, None], [3])

    Source: CTCBeamSearchDecoder in core/ops/ctc_ops.cc.
    """
    op = CTCBeamSearchDecoder(beam_width, top_paths, merge_repeated)
    *flat, total = op(inputs, sequence_length)
    return [SparseTensor(*flat[path::top_paths]) for path in range(top_paths)], total


@export("nn.ctc_beam_search_decoder_v2", v2="nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder_v2(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int = 100,
    top_paths: int = 1,
) -> tuple[list[SparseTensor], Tensor]:
    """`tf.nn.ctc_beam_search_decoder` that does not merge labels of a result."""
    return ctc_beam_search_decoder(
        inputs,
        sequence_length=sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=False,
    )
