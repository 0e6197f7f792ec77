"""Helpers: they sample a decoder's outputs and determine its next inputs.

Source: contrib/seq2seq/python/ops/helper.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from tfteach.control.branch import cond
from tfteach.control.tensor_array import TensorArray
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import DTypeLike, ShapeLike, TensorLike
from tfteach.lib.rnn.dynamic import transpose_batch_time
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.shape_ops import shape, size
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal
from tfteach.ops.math.reduce_functions import argmax, reduce_all


@export("contrib.seq2seq.Helper")
class Helper(ABC):
    """Base of the helpers of a `BasicDecoder`: sampling, and the next inputs.

    Source: contrib/seq2seq/python/ops/helper.py.
    """

    @property
    @abstractmethod
    def batch_size(self) -> Any:
        """The batch size, a scalar int32 Tensor."""

    @property
    @abstractmethod
    def sample_ids_shape(self) -> Any:
        """The shape of one sequence's sample in a step."""

    @property
    @abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The type of samples."""

    @abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """Initialize; returns (finished bool [batch], inputs)."""

    @abstractmethod
    def sample(
        self, time: Tensor, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """The samples of a step's outputs."""

    @abstractmethod
    def next_inputs(
        self,
        time: Tensor,
        outputs: Any,
        state: Any,
        sample_ids: Tensor,
        name: str | None = None,
    ) -> Any:
        """The next step: (finished bool [batch], inputs, state)."""


class OneIdHelper(Helper):
    """A helper whose samples are one id per sequence.

    Attributes:
      _batch_size: the number of sequences.
    """

    _batch_size: Tensor

    @property
    def batch_size(self) -> Tensor:
        """The batch size."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """A sample is a scalar."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """The type of samples."""
        return int32


@export("contrib.seq2seq.CustomHelper")
class CustomHelper(Helper):
    """A helper composed of functions.

    Args:
      initialize_fn: returns (finished bool [batch], inputs) of the first step.
      sample_fn: accepts `time`, `outputs` and `state`; returns samples.
      next_inputs_fn: accepts these and `sample_ids`; returns (finished, inputs, state).
      sample_ids_shape: the shape of one sequence's sample; a scalar if None.
      sample_ids_dtype: the type of samples; int32 if None.

    Source: contrib/seq2seq/python/ops/helper.py.
    """

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: ShapeLike | None = None,
        sample_ids_dtype: DTypeLike | None = None,
    ) -> None:
        self._initialize_fn, self._sample_fn = initialize_fn, sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or int32

    @property
    def batch_size(self) -> Any:
        """The batch size, known once `initialize` has been called."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of one sequence's sample in a step."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The type of samples."""
        return self._sample_ids_dtype

    def _scope(self, name: str | None, method: str, *values: Any) -> Any:
        return name_scope(name, type(self).__name__ + method, values)

    def initialize(self, name: str | None = None) -> Any:
        """Initialize; returns (finished bool [batch], inputs)."""
        with self._scope(name, "Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = size(finished)
        return finished, inputs

    def sample(
        self, time: Tensor, outputs: Any, state: Any, name: str | None = None
    ) -> Any:
        """The samples of a step's outputs."""
        with self._scope(name, "Sample", time, outputs, state):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self,
        time: Tensor,
        outputs: Any,
        state: Any,
        sample_ids: Tensor,
        name: str | None = None,
    ) -> Any:
        """The next step: (finished bool [batch], inputs, state)."""
        with self._scope(name, "NextInputs", time, outputs, state):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


def unstacked(tensor: Tensor) -> TensorArray:
    """A time-major Tensor as a TensorArray with one element per step."""
    array = TensorArray(
        dtype=tensor.dtype, size=shape(tensor)[0], element_shape=tensor.shape[1:]
    )
    return array.unstack(tensor)


@export("contrib.seq2seq.TrainingHelper")
class TrainingHelper(OneIdHelper):
    """A helper that reads the given inputs, regardless of the outputs; for training.

    Its samples are the classes with the largest outputs.

    Args:
      inputs: a Tensor [batch, time, ...].
      sequence_length: int32 Tensor [batch].
      time_major: inputs are [time, batch, ...].
      name: the name scope.

    Raises:
      ValueError: `sequence_length` is not a vector.

    Source: contrib/seq2seq/python/ops/helper.py.
    """

    def __init__(
        self,
        inputs: TensorLike,
        sequence_length: TensorLike,
        time_major: bool = False,
        name: str | None = None,
    ) -> None:
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = convert(inputs, name="inputs")
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(transpose_batch_time, inputs)
            self._input_arrays = nest.map_structure(unstacked, inputs)
            self._sequence_length = convert(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape: "
                    f"{self._sequence_length.shape}"
                )
            self._zero_inputs = nest.map_structure(
                lambda x: zeros_like(x[0, :]), inputs
            )
            self._batch_size = size(sequence_length)

    @property
    def inputs(self) -> Any:
        """The given inputs."""
        return self._inputs

    @property
    def sequence_length(self) -> Tensor:
        """The lengths, int32 [batch]."""
        return self._sequence_length

    def _inputs_at(self, time: Tensor | int, finished: Tensor) -> Any:
        """The inputs of a step; zeros after the end."""
        return cond(
            reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda ta: ta.read(time), self._input_arrays),
        )

    def initialize(self, name: str | None = None) -> Any:
        """Initialize; returns (finished bool [batch], inputs)."""
        with name_scope(name, "TrainingHelperInitialize"):
            finished = equal(0, self._sequence_length)
            return finished, self._inputs_at(0, finished)

    def sample(
        self, time: Tensor, outputs: Any, state: Any = None, name: str | None = None
    ) -> Any:
        """The classes with the largest outputs, int32 [batch]."""
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return cast(argmax(outputs, axis=-1), int32)

    def next_inputs(
        self,
        time: Tensor,
        outputs: Any,
        state: Any,
        sample_ids: Tensor | None = None,
        name: str | None = None,
    ) -> Any:
        """The next step: (finished bool [batch], inputs, state)."""
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            return finished, self._inputs_at(next_time, finished), state
