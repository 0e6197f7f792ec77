"""Helpers for training that occasionally feed back samples (scheduled sampling).

Source: contrib/seq2seq/python/ops/helper.py; https://arxiv.org/abs/1506.03099.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.branch import cond
from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.contrib.seq2seq.helper import TrainingHelper, unstacked
from tfteach.lib.contrib.seq2seq.inference import embedding_function
from tfteach.lib.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample
from tfteach.lib.rnn.dynamic import transpose_batch_time
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.gather_nd import gather_nd
from tfteach.ops.array.scatter_nd import scatter_nd
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import Fill
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import logical_not, logical_or
from tfteach.ops.math.reduce_functions import reduce_all, reduce_any


def _probability(sampling_probability: Any) -> Tensor:
    converted = convert(sampling_probability, name="sampling_probability")
    if converted.shape.ndims not in (0, 1):
        raise ValueError(
            "sampling_probability must be either a scalar or a vector. saw shape: "
            f"{converted.shape}"
        )
    return converted


@export("contrib.seq2seq.ScheduledEmbeddingTrainingHelper")
class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """A helper that randomly reads the inputs, or samples a class and looks it up.

    Its samples are the sampled classes, and -1 where none was sampled.

    Args:
      inputs, sequence_length, time_major: as in `TrainingHelper`.
      embedding: a function of ids, or the table(s) for `tf.nn.embedding_lookup`.
      sampling_probability: float scalar (or vector), the probability of sampling.
      seed: the seed of the sampled classes.
      scheduling_seed: the seed of the choice whether to sample.
      name: the name scope.

    Raises:
      ValueError: `sampling_probability` is neither a scalar nor a vector.

    Source: contrib/seq2seq/python/ops/helper.py; https://arxiv.org/abs/1506.03099.
    """

    def __init__(
        self,
        inputs: TensorLike,
        sequence_length: TensorLike,
        embedding: Any,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        values = [embedding, sampling_probability]
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", values):
            self._embedding_fn = embedding_function(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(
        self, time: Tensor, outputs: Any, state: Any = None, name: str | None = None
    ) -> Tensor:
        """The sampled classes, -1 where none was sampled; int32 [batch]."""
        default = "ScheduledEmbeddingTrainingHelperSample"
        with name_scope(name, default, [time, outputs, state]):
            chosen = bernoulli_sample(
                self._sampling_probability,
                dtype=dtypes.bool_,
                sample_shape=self.batch_size,
                seed=self._scheduling_seed,
            )
            drawn = categorical_sample(outputs, seed=self._seed)
            return where(chosen, drawn, Fill()([self.batch_size], -1))

    def next_inputs(
        self,
        time: Tensor,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
    ) -> Any:
        """The next step: (finished bool [batch], inputs, state)."""
        default = "ScheduledEmbeddingTrainingHelperNextInputs"
        with name_scope(name, default, [time, outputs, state, sample_ids]):
            finished, base, state = super().next_inputs(
                time, outputs, state, sample_ids, name
            )

            def mixed() -> Tensor:
                rows = cast(where(sample_ids > -1), int32)
                others = cast(where(sample_ids <= -1), int32)
                ids = gather_nd(sample_ids, rows)
                kept = gather_nd(base, others)
                return _together(base, rows, self._embedding_fn(ids), others, kept)

            inputs = cond(reduce_all(finished), lambda: base, mixed)
            return finished, inputs, state


def _together(
    base: Tensor, rows: Tensor, sampled: Tensor, others: Tensor, kept: Tensor
) -> Tensor:
    """A Tensor like `base` composed of sampled and of retained rows."""
    whole = shape(base)
    return scatter_nd(indices=rows, updates=sampled, shape=whole) + scatter_nd(
        indices=others, updates=kept, shape=whole
    )


@export("contrib.seq2seq.ScheduledOutputTrainingHelper")
class ScheduledOutputTrainingHelper(TrainingHelper):
    """A helper that randomly either reads the inputs or uses the step's outputs.

    Its samples are 1 where outputs are used, otherwise 0.

    Args:
      inputs, sequence_length, time_major: as in `TrainingHelper`.
      sampling_probability: float scalar (or vector), the probability of using outputs.
      seed: the seed of the random numbers.
      next_inputs_fn: a function from outputs to inputs; None: the outputs themselves.
      auxiliary_inputs: a Tensor like `inputs` except for the last size, appended to
        both inputs and outputs; or None.
      name: the name scope.

    Raises:
      ValueError: `sampling_probability` is neither a scalar nor a vector.

    Source: contrib/seq2seq/python/ops/helper.py; https://arxiv.org/abs/1506.03099.
    """

    def __init__(
        self,
        inputs: TensorLike,
        sequence_length: TensorLike,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: TensorLike | None = None,
        name: str | None = None,
    ) -> None:
        values = [inputs, auxiliary_inputs, sampling_probability]
        with name_scope(name, "ScheduledOutputTrainingHelper", values):
            self._sampling_probability = _probability(sampling_probability)
            self._auxiliary_arrays = None
            if auxiliary_inputs is not None:
                inputs = convert(inputs, name="inputs")
                more = convert(auxiliary_inputs, name="auxiliary_inputs")
                inputs = concat((inputs, more), -1)
                if not time_major:
                    more = transpose_batch_time(more)
                self._auxiliary_arrays = unstacked(more)
            self._seed, self._next_inputs_fn = seed, next_inputs_fn
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(
        self, time: Tensor, outputs: Any, state: Any = None, name: str | None = None
    ) -> Tensor:
        """1 where outputs are used, otherwise 0; int32 [batch]."""
        default = "ScheduledOutputTrainingHelperSample"
        with name_scope(name, default, [time, outputs, state]):
            return bernoulli_sample(
                self._sampling_probability,
                sample_shape=self.batch_size,
                seed=self._seed,
            )

    def next_inputs(
        self,
        time: Tensor,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
    ) -> Any:
        """The next step: (finished bool [batch], inputs, state)."""
        default = "ScheduledOutputTrainingHelperNextInputs"
        with name_scope(name, default, [time, outputs, state, sample_ids]):
            finished, base, state = super().next_inputs(
                time, outputs, state, sample_ids, name
            )
            chosen = cast(sample_ids, dtypes.bool_)

            def mixed() -> Tensor:
                if self._next_inputs_fn is None:
                    return where(chosen, self._with_auxiliary(outputs, time), base)
                rows = cast(where(chosen), int32)
                others = cast(where(logical_not(chosen)), int32)
                taken = gather_nd(outputs, rows)
                kept = gather_nd(base, others)
                taken = self._next_inputs_fn(taken)
                taken = self._with_auxiliary(taken, time, rows)
                return _together(base, rows, taken, others, kept)

            all_finished = reduce_all(finished)
            none_chosen = logical_not(reduce_any(chosen))
            inputs = cond(logical_or(all_finished, none_chosen), lambda: base, mixed)
            return finished, inputs, state

    def _with_auxiliary(self, outputs: Any, time: Tensor, rows: Any = None) -> Any:
        """Outputs with the auxiliary inputs of the next step appended."""
        if self._auxiliary_arrays is None:
            return outputs
        more = self._auxiliary_arrays.read(time + 1)
        if rows is not None:
            more = gather_nd(more, rows)
        return concat((outputs, more), -1)
