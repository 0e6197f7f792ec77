"""Helpers whose next inputs are computed from the samples.

Source: contrib/seq2seq/python/ops/helper.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.control.branch import cond
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.contrib.seq2seq.helper import Helper, OneIdHelper
from tfteach.lib.contrib.seq2seq.sampling import categorical_sample
from tfteach.ops.array.tile import tile
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.math.compare import equal
from tfteach.ops.math.reduce_functions import argmax, reduce_all
from tfteach.ops.nn.embedding_lookup import embedding_lookup


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """A function of ids: the given one, or the lookup in the given table."""
    if callable(embedding):
        function: Callable[[Any], Any] = embedding
        return function
    return lambda ids: embedding_lookup(embedding, ids)


@export("contrib.seq2seq.GreedyEmbeddingHelper")
class GreedyEmbeddingHelper(OneIdHelper):
    """A helper that selects the class with the largest output, and looks it up.

    Args:
      embedding: a function of ids int32 [batch], or the table(s) for
        `tf.nn.embedding_lookup`.
      start_tokens: int32 Tensor [batch], the ids before the first step.
      end_token: int32 scalar; the sequence ends after it.

    Raises:
      ValueError: `start_tokens` is not a vector, or `end_token` not a scalar.

    Source: contrib/seq2seq/python/ops/helper.py.
    """

    def __init__(
        self, embedding: TensorLike, start_tokens: TensorLike, end_token: TensorLike
    ) -> None:
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = convert(start_tokens, int32, name="start_tokens")
        self._end_token = convert(end_token, int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = size(start_tokens)
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: str | None = None) -> Any:
        """Initialize; returns (finished bool [batch], inputs)."""
        return tile([False], [self._batch_size]), self._start_inputs

    def sample(
        self, time: Tensor, outputs: Any, state: Any, name: str | None = None
    ) -> Tensor:
        """The classes with the largest outputs, int32 [batch]."""
        _require_tensor(outputs)
        return argmax(outputs, axis=-1, output_type=int32)

    def next_inputs(
        self,
        time: Tensor,
        outputs: Any,
        state: Any,
        sample_ids: Tensor,
        name: str | None = None,
    ) -> Any:
        """The next step: (finished bool [batch], inputs, state)."""
        finished = equal(sample_ids, self._end_token)
        inputs = cond(
            reduce_all(finished),
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, inputs, state


def _require_tensor(outputs: Any) -> None:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")


@export("contrib.seq2seq.SampleEmbeddingHelper")
class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """A helper that samples a class with the outputs as logits, and looks it up.

    Args:
      embedding, start_tokens, end_token: as in `GreedyEmbeddingHelper`.
      softmax_temperature: a divisor of the logits; a smaller one favours the largest
        logit.
      seed: of the random numbers.

    Raises:
      ValueError: `start_tokens` is not a vector, or `end_token` not a scalar.

    Source: contrib/seq2seq/python/ops/helper.py.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: TensorLike,
        end_token: TensorLike,
        softmax_temperature: TensorLike | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(
        self, time: Tensor, outputs: Any, state: Any, name: str | None = None
    ) -> Tensor:
        """The sampled classes, int32 [batch]."""
        _require_tensor(outputs)
        if self._softmax_temperature is not None:
            outputs = outputs / self._softmax_temperature
        return categorical_sample(outputs, seed=self._seed)


@export("contrib.seq2seq.InferenceHelper")
class InferenceHelper(Helper):
    """A helper that derives the next inputs from samples by functions.

    Args:
      sample_fn: a function from outputs to samples.
      sample_shape: the shape of one sequence's sample.
      sample_dtype: the type of samples.
      start_inputs: a Tensor [batch, ...], the inputs of the first step.
      end_fn: a function from samples to bool [batch]: whether the sequence ends.
      next_inputs_fn: a function from samples to the next inputs; None: the samples.

    Source: contrib/seq2seq/python/ops/helper.py.
    """

    def __init__(
        self,
        sample_fn: Callable[..., Any],
        sample_shape: TensorLike,
        sample_dtype: DTypeLike,
        start_inputs: TensorLike,
        end_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any] | None = None,
    ) -> None:
        self._sample_fn, self._end_fn = sample_fn, end_fn
        self._sample_shape = TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = shape(start_inputs)[0]
        self._start_inputs = convert(start_inputs, name="start_inputs")

    @property
    def batch_size(self) -> Tensor:
        """The batch size."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of one sequence's sample in a step."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The type of samples."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> Any:
        """Initialize; returns (finished bool [batch], inputs)."""
        return tile([False], [self._batch_size]), self._start_inputs

    def sample(
        self, time: Tensor, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """The samples of a step's outputs."""
        return self._sample_fn(outputs)

    def next_inputs(
        self,
        time: Tensor,
        outputs: Any,
        state: Any,
        sample_ids: Tensor,
        name: str | None = None,
    ) -> Any:
        """The next step: (finished bool [batch], inputs, state)."""
        inputs = sample_ids
        if self._next_inputs_fn is not None:
            inputs = self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state
