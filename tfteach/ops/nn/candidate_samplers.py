"""Candidate samplers: a few negative classes for losses over very many classes.

Source: core/ops/candidate_sampling_ops.cc; python/ops/candidate_sampling_ops.py.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.files.file_system import read_file
from tfteach.framework.op import MultiOutputOp, Op, StatefulOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import (
    Array,
    ArrayModule,
    Gradient,
    KernelContext,
    TensorLike,
)
from tfteach.ops.nn import candidate_sampling as kernels
from tfteach.ops.random.philox import Stream
from tfteach.ops.random.random_ops import seeds_of

_BLOCKS = 512  # of the generator, reserved per candidate as in TensorFlow
_SIGNATURE = (
    "true_classes: int64 -> sampled_candidates: int64, true_expected_count: float, "
    "sampled_expected_count: float"
)
_AT_LEAST_ONE = {"num_true": 1, "num_sampled": 1, "range_max": 1}
_NOTHING = -np.finfo(np.float32).max


class _CandidateSampler(StatefulOp, MultiOutputOp, abstract=True):
    on_gpu: ClassVar[bool] = False

    def infer_shape(self: Any, true_classes: Shape) -> Any:
        rows, _ = shapes.with_rank(true_classes, 2)
        return [(self.num_sampled,), (rows, self.num_true), (self.num_sampled,)]

    def sampler(self) -> kernels.Sampler:
        """The op's distribution, created once per session."""
        raise NotImplementedError

    def compute(self: Any, ctx: KernelContext, true_classes: Array) -> Any:
        if true_classes.ndim != 2:
            raise invalid_argument("true_classes must be a matrix")
        if true_classes.shape[1] != self.num_true:
            raise invalid_argument(
                f"true_classes must have num_true columns, expected: "
                f"{true_classes.shape[1]} was: {self.num_true}"
            )
        return self.sample(ctx, true_classes)

    def sample(self: Any, ctx: KernelContext, true_classes: Any) -> Any:
        """The outputs, for true classes of the correct shape."""
        batches, sampler = ctx.once(self._state)
        if self.unique and self.num_sampled > sampler.size:
            raise invalid_argument("Sampler's range is too small.")
        outputs = kernels.sample(
            sampler, batches.next(), self.num_sampled, self.unique, true_classes
        )
        sampler.learn(true_classes)
        return outputs

    def _state(self: Any) -> tuple[kernels.Batches, kernels.Sampler]:
        sampler = self.sampler()
        likely = (2 * self.num_sampled + 16) * sampler.words_per_draw
        stream = Stream(self.seed, self.seed2)
        ahead = sampler.ahead(self.num_sampled) if self.unique else None
        reserved = _BLOCKS * self.num_sampled
        return kernels.Batches(stream, reserved, likely, ahead), sampler

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None]


class UniformCandidateSampler(_CandidateSampler):
    """All classes with equal probability.  Source: candidate_sampling_ops.cc."""

    signature = _SIGNATURE
    num_true: int
    num_sampled: int
    unique: bool
    range_max: int
    seed: int = 0
    seed2: int = 0
    minimum: ClassVar[dict[str, int]] = {
        "num_true": 1,
        "num_sampled": 1,
        "range_max": 1,
    }

    def sampler(self) -> kernels.Sampler:
        return kernels.Uniform(self.range_max)


class LogUniformCandidateSampler(_CandidateSampler):
    """Zipf's law: low class indices are the most probable.

    Source: candidate_sampling_ops.cc.
    """

    signature = _SIGNATURE
    num_true: int
    num_sampled: int
    unique: bool
    range_max: int
    seed: int = 0
    seed2: int = 0
    minimum: ClassVar[dict[str, int]] = {
        "num_true": 1,
        "num_sampled": 1,
        "range_max": 1,
    }

    def sampler(self) -> kernels.Sampler:
        return kernels.LogUniform(self.range_max)


class LearnedUnigramCandidateSampler(_CandidateSampler):
    """Classes drawn in proportion to true classes seen so far.

    Source: candidate_sampling_ops.cc.
    """

    signature = _SIGNATURE
    num_true: int
    num_sampled: int
    unique: bool
    range_max: int
    seed: int = 0
    seed2: int = 0
    minimum: ClassVar[dict[str, int]] = {
        "num_true": 1,
        "num_sampled": 1,
        "range_max": 1,
    }

    def sampler(self) -> kernels.Sampler:
        return kernels.LearnedUnigram(self.range_max)


class ThreadUnsafeUnigramCandidateSampler(LearnedUnigramCandidateSampler):
    """LearnedUnigramCandidateSampler under another name.

    Source: candidate_sampling_ops.cc.
    """


class FixedUnigramCandidateSampler(_CandidateSampler):
    """Classes drawn with given weights.  Source: candidate_sampling_ops.cc."""

    signature = _SIGNATURE
    num_true: int
    num_sampled: int
    unique: bool
    range_max: int
    vocab_file: str = ""
    distortion: float = 1.0
    num_reserved_ids: int = 0
    num_shards: int = 1
    shard: int = 0
    unigrams: tuple[float, ...] = ()
    seed: int = 0
    seed2: int = 0
    minimum: ClassVar[dict[str, int]] = {
        "num_true": 1,
        "num_sampled": 1,
        "range_max": 1,
        "num_shards": 1,
        "shard": 0,
    }

    def sampler(self) -> kernels.Sampler:
        if self.vocab_file and self.unigrams:
            raise invalid_argument("Must only provide one of vocab_file and unigrams.")
        if not self.vocab_file and not self.unigrams:
            raise invalid_argument("Must provide either vocab_file or unigrams.")
        given = self._in_file() if self.vocab_file else self.unigrams
        reserved = self.num_reserved_ids
        weights = [0.0] * len(range(self.shard, reserved, self.num_shards))
        power = np.float32(self.distortion)
        first = len(weights)
        for i, weight in enumerate(given, first):
            if i % self.num_shards == self.shard:
                weights.append(float(np.float32(weight) ** power))
        if len(weights) != self.range_max:
            raise invalid_argument(
                f"There are {len(weights)} weights with the {first} reserved ones, but "
                f"range_max is {self.range_max}: they must be as many."
            )
        return kernels.FixedUnigram(np.array(weights, np.float32))

    def _in_file(self) -> list[float]:
        """The last column of each line."""
        text = read_file(self.vocab_file).decode("utf-8")
        found = []
        for line in text.splitlines():
            try:
                found.append(float(line.split(",")[-1]))
            except ValueError:
                raise invalid_argument(
                    f"Wrong vocabulary format at line: {line}"
                ) from None
        return found


class AllCandidateSampler(_CandidateSampler):
    """Every class once.  Source: candidate_sampling_ops.cc, AllCandidateSampler."""

    signature = _SIGNATURE
    num_true: int
    num_sampled: int
    unique: bool
    seed: int = 0
    seed2: int = 0
    minimum: ClassVar[dict[str, int]] = {"num_true": 1, "num_sampled": 1}

    def sample(self, ctx: KernelContext, true_classes: Any) -> Any:
        return (
            np.arange(self.num_sampled),
            np.ones(true_classes.shape, np.float32),
            np.ones(self.num_sampled, np.float32),
        )


class ComputeAccidentalHits(MultiOutputOp):
    """Candidates that are true classes.  Source: candidate_sampling_ops.cc."""

    signature = (
        "true_classes: int64, sampled_candidates: int64 -> "
        "indices: int32, ids: int64, weights: float"
    )
    num_true: int
    seed: int = 0
    seed2: int = 0
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, true_classes: Shape, sampled_candidates: Shape) -> Any:
        _, columns = shapes.with_rank(true_classes, 2)
        if columns not in (None, self.num_true):
            raise ValueError(f"Dimension must be {self.num_true} but is {columns}")
        shapes.with_rank(sampled_candidates, 1)
        return [(None,), (None,), (None,)]

    def compute(
        self, xp: ArrayModule, true_classes: Array, sampled_candidates: Array
    ) -> Any:
        if true_classes.ndim != 2 or true_classes.shape[1] != self.num_true:
            raise invalid_argument(
                "true_candidates must be a batch_size * num_true matrix"
            )
        if sampled_candidates.ndim != 1:
            raise invalid_argument(
                "sampled_candidates must be a vector, which is typically an output "
                "from CandidateSampler"
            )
        order = np.argsort(sampled_candidates, kind="stable")
        ordered = sampled_candidates[order]
        flat = true_classes.reshape(-1)
        # Of equal candidates the last one counts.
        at = np.searchsorted(ordered, flat, side="right") - 1
        is_hit = (at >= 0) & (ordered[at] == flat) if ordered.size else flat != flat
        hits = np.flatnonzero(is_hit)
        rows = (hits // max(self.num_true, 1)).astype(np.int32)
        return rows, order[at[hits]], np.full(len(hits), _NOTHING, np.float32)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None, None]


# ---- the public functions


def _named(op: Op, *inputs: Any, name: str | None) -> tuple[Tensor, Tensor, Tensor]:
    """The op's outputs as a named tuple, with the names of the signature."""
    kind = type(op)
    outputs = [arg.name for arg in kind.outputs]
    return namedtuple(kind.op_type, outputs)(*op(*inputs, name=name))


@export("nn.uniform_candidate_sampler", "random.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes drawn with equal probability.

    Args:
      true_classes: int64 Tensor [batch, num_true].
      num_true: the number of true classes in each example.
      num_sampled: the number of draws, for the whole batch.
      unique: whether the drawn classes must be distinct.
      range_max: the number of classes.
      seed: makes the draws the same in every session (see `tf.get_seed`).
      name: the op's name.

    Returns:
      A named tuple (sampled_candidates, true_expected_count, sampled_expected_count):
      int64 [num_sampled]; float32 [batch, num_true] and [num_sampled], the expected
      counts of the true classes and of the candidates among the draws.

    Raises:
      InvalidArgumentError: `unique`, but there are fewer classes than draws.

    Source: UniformCandidateSampler in core/ops/candidate_sampling_ops.cc.
    """
    op = UniformCandidateSampler(
        int(num_true), int(num_sampled), unique, int(range_max), *seeds_of(seed)
    )
    return _named(op, true_classes, name=name)


@export("nn.log_uniform_candidate_sampler", "random.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes drawn by Zipf's law, for classes sorted by descending frequency.

    `p(class) = (log(class + 2) - log(class + 1)) / log(range_max + 1)`

    Arguments and result are those of `tf.random.uniform_candidate_sampler`.

    Source: LogUniformCandidateSampler in core/ops/candidate_sampling_ops.cc.
    """
    op = LogUniformCandidateSampler(
        int(num_true), int(num_sampled), unique, int(range_max), *seeds_of(seed)
    )
    return _named(op, true_classes, name=name)


@export(
    "nn.learned_unigram_candidate_sampler", "random.learned_unigram_candidate_sampler"
)
def learned_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes drawn in proportion to the true classes seen in this session.

    Arguments and result are those of `tf.random.uniform_candidate_sampler`.

    Source: LearnedUnigramCandidateSampler in core/ops/candidate_sampling_ops.cc.
    """
    op = LearnedUnigramCandidateSampler(
        int(num_true), int(num_sampled), unique, int(range_max), *seeds_of(seed)
    )
    return _named(op, true_classes, name=name)


@export("nn.fixed_unigram_candidate_sampler", "random.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes drawn with given weights.

    Args:
      true_classes, num_true, num_sampled, unique, range_max, seed, name: as in
        `tf.random.uniform_candidate_sampler`.
      vocab_file: a file with a line per class, in which the last comma-separated column
        is the weight; or
      unigrams: the weights.
      distortion: the exponent applied to the weights.
      num_reserved_ids: the number of classes before those listed, which are never
          drawn.
      num_shards, shard: draw only classes whose index modulo `num_shards` is `shard`.

    Returns:
      As `tf.random.uniform_candidate_sampler`.

    Raises:
      InvalidArgumentError: both or neither of `vocab_file` and `unigrams` are given, or
        there are not `range_max` weights.

    Source: FixedUnigramCandidateSampler in core/ops/candidate_sampling_ops.cc.
    """
    op = FixedUnigramCandidateSampler(
        int(num_true), int(num_sampled), unique, int(range_max), vocab_file,
        distortion, num_reserved_ids, num_shards, shard,
        tuple(float(w) for w in unigrams), *seeds_of(seed),
    )  # fmt: skip
    return _named(op, true_classes, name=name)


@export("nn.all_candidate_sampler", "random.all_candidate_sampler")
def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """All classes, for tests of sampled losses; `num_sampled` is the number of classes.

    Arguments and result are those of `tf.random.uniform_candidate_sampler`.

    Source: AllCandidateSampler in core/ops/candidate_sampling_ops.cc.
    """
    op = AllCandidateSampler(num_true, num_sampled, unique, *seeds_of(seed))
    return _named(op, true_classes, name=name)


@export("nn.compute_accidental_hits")
def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Candidates that are true classes of an example.

    Args:
      true_classes: int64 Tensor [batch, num_true].
      sampled_candidates: int64 Tensor [num_sampled].
      num_true: the number of true classes in each example.
      seed, name: without effect on the result; the op's name.

    Returns:
      A named tuple (indices, ids, weights): for each hit the row of `true_classes`, the
      index into `sampled_candidates`, and the lowest float32, to be added to the logit.

    Source: ComputeAccidentalHits in core/ops/candidate_sampling_ops.cc.
    """
    op = ComputeAccidentalHits(num_true, *seeds_of(seed))
    return _named(op, true_classes, sampled_candidates, name=name)
