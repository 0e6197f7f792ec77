"""Attention mechanisms over a memory.

Source: contrib/seq2seq/python/ops/attention_wrapper.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.control.checks.values import assert_positive
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, float32, int32
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.layers.base import Layer
from tfteach.lib.layers.core import Dense
from tfteach.lib.rnn.cell import zero_tensors
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.one_hot import one_hot, sequence_mask
from tfteach.ops.array.where_select import where
from tfteach.ops.core.fill import ones, ones_like
from tfteach.ops.core.identity_reshape import expand_dims, reshape, squeeze
from tfteach.ops.core.shape_ops import rank, shape
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.exponential import tanh
from tfteach.ops.math.reduce_functions import argmax, reduce_sum
from tfteach.ops.math.unary import rsqrt, square
from tfteach.ops.nn.softmax import softmax
from tfteach.variables.initializers import Constant, Ones, Zeros
from tfteach.variables.scope import get_variable, variable_scope


def size_of(tensor: Tensor, axis: int) -> Any:
    """A size of a Tensor: an int if it is known, otherwise a Tensor."""
    return tensor.shape.as_list()[axis] or shape(tensor)[axis]


@export("contrib.seq2seq.AttentionMechanism")
class AttentionMechanism:
    """Base of all mechanisms: `alignments, state = mechanism(query, state)`.

    Source: contrib/seq2seq/python/ops/attention_wrapper.py.
    """

    @property
    def alignments_size(self) -> Any:
        """The number of positions in the memory."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the mechanism's state."""
        raise NotImplementedError


class MemoryAttention(AttentionMechanism):
    """A mechanism with values, and keys computed from a memory by a layer.

    Args:
      query_layer: the layer for queries, or None.
      memory: a Tensor [batch, time, ...] or a nest of them.
      probability_fn: a function of scores [batch, time] and the previous state.
      memory_sequence_length: int Tensor [batch]; later positions count as zeros.
      memory_layer: the layer that computes keys.
      check_inner_dims_defined: require all dimensions except batch and time to be
          known.
      score_mask_value: the score of positions after the end; -inf if None.
      custom_key_value_fn: a function that maps keys and values to others.
      name: the name scope.
    """

    _name: str

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[..., Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        for what, layer in (("query", query_layer), ("memory", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what}_layer is not a Layer: {type(layer).__name__}")
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self.dtype = memory_layer.dtype
        if not callable(probability_fn):
            raise TypeError(
                "probability_fn must be callable, saw type: "
                f"{type(probability_fn).__name__}"
            )
        if score_mask_value is None:
            score_mask_value = as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn: Callable[..., Tensor] = lambda score, state: (
            probability_fn(
                _masked_score(score, memory_sequence_length, score_mask_value), state
            )
        )
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _prepared_memory(
                memory, memory_sequence_length, check_inner_dims_defined
            )
            self._keys = memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = size_of(self._keys, 0)
            self._alignments_size = size_of(self._keys, 1)

    @property
    def memory_layer(self) -> Any:
        """The layer that computes keys from the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer applied to queries, or None."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory, with zeros after the ends of sequences."""
        return self._values

    @property
    def keys(self) -> Any:
        """The keys that queries are compared with."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """The batch size, an int or a scalar Tensor."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """The number of positions in the memory, an int or a scalar Tensor."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """The number of positions: the state is the previous alignments."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """The alignments before the first step: zeros [batch, time]."""
        return zero_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """The state before the first step, here the alignments."""
        return self.initial_alignments(batch_size, dtype)

    def _score(self, query: Tensor) -> Tensor:
        raise NotImplementedError

    _scope: str

    def __call__(self, query: Tensor, state: Any) -> tuple[Any, Any]:
        """Attention weights of a query over the positions of the memory.

        Args:
          query: a Tensor [batch, depth].
          state: the state after the previous step.

        Returns:
          (alignments [batch, time], the next state).
        """
        with variable_scope(None, self._scope, [query]):
            score = self._score(query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _prepared_memory(memory: Any, lengths: Any, is_checked: bool) -> Any:
    """The memory with zeros after the ends of sequences."""
    memory = nest.map_structure(lambda m: convert(m, name="memory"), memory)
    if lengths is not None:
        lengths = convert(lengths, name="memory_sequence_length")
    tensors = nest.flatten(memory)
    for tensor in tensors if is_checked else ():
        if not tensor.shape[2:].is_fully_defined():
            raise ValueError(
                f"Expected memory {tensor.name} to have fully defined inner dims, but "
                f"saw shape: {tensor.shape}"
            )
    if lengths is None:
        return memory
    first = tensors[0]
    mask = sequence_mask(lengths, maxlen=shape(first)[1], dtype=first.dtype)

    def masked(tensor: Tensor) -> Tensor:
        ndims = tensor.shape.ndims
        more = ones((rank(tensor) if ndims is None else ndims) - 2, dtype=int32)
        return tensor * reshape(mask, concat((shape(mask), more), 0))

    return nest.map_structure(masked, memory)


def _masked_score(score: Tensor, lengths: Any, mask_value: Any) -> Tensor:
    """The scores, with `mask_value` after the ends of sequences."""
    if lengths is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    with control_dependencies([assert_positive(lengths, message=message)]):
        mask = sequence_mask(lengths, maxlen=shape(score)[1])
    return where(mask, score, mask_value * ones_like(score))


@export("contrib.seq2seq.hardmax")
def hardmax(logits: TensorLike, name: str | None = None) -> Tensor:
    """1 at each row's largest logit, otherwise 0.

    Args:
      logits: a Tensor [..., classes].
      name: the name scope.

    Returns:
      A Tensor like `logits`.

    Example:
      >>> tf.contrib.seq2seq.hardmax([[0.1, 0.7, 0.2]])  # [[0., 1., 0.]]

    Source: contrib/seq2seq/python/ops/attention_wrapper.py.
    """
    with name_scope(name, "Hardmax", [logits]):
        logits = convert(logits, name="logits")
        size = logits.shape.as_list()[-1]
        depth = shape(logits)[-1] if size is None else size
        return one_hot(argmax(logits, -1), depth, dtype=logits.dtype)


# ---- the two scores


def luong_score(query: Tensor, keys: Any, scale: Any) -> Tensor:
    """query . key, times `scale` unless that is None.

    Raises:
      ValueError: the depths of queries and keys differ, or are not known.
    """
    depth, units = query.shape[-1], keys.shape[-1]
    if depth != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  "
            f"Query ({query}) has units: {depth}.  Keys ({keys}) have units: "
            f"{units}.  Perhaps you need to set num_units to the keys' dimension "
            f"({units})?"
        )
    score = matmul(expand_dims(query, 1), keys, transpose_b=True)
    score = squeeze(score, [1])
    return score if scale is None else scale * score


def bahdanau_score(
    processed_query: Tensor,
    keys: Any,
    attention_v: Any,
    attention_g: Any = None,
    attention_b: Any = None,
) -> Tensor:
    """sum(v * tanh(key + query + b)); v is scaled to length g if b and g are given."""
    query = expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return reduce_sum(attention_v * tanh(keys + query), [2])
    direction = attention_g * attention_v * rsqrt(reduce_sum(square(attention_v)))
    return reduce_sum(direction * tanh(keys + query + attention_b), [2])


class Luong(MemoryAttention):
    """A mechanism with the score query . key; with `scale` multiplied by a variable."""

    _scale: bool

    def _score(self, query: Tensor) -> Tensor:
        factor = None
        if self._scale:
            factor = get_variable(
                "attention_g", dtype=query.dtype, initializer=Ones(), shape=()
            )
        return luong_score(query, self._keys, factor)


class Bahdanau(MemoryAttention):
    """A mechanism with the score sum(v * tanh(query + key)).

    With `normalize`, v is scaled to a variable length, and a bias is added.
    """

    _num_units: int
    _normalize: bool

    def _score(self, query: Tensor) -> Tensor:
        query = self.query_layer(query)
        units, kind = self._num_units, query.dtype
        v = get_variable("attention_v", [units], dtype=kind)
        length = bias = None
        if self._normalize:
            length = get_variable(
                "attention_g",
                dtype=kind,
                initializer=Constant(math.sqrt(1.0 / units)),
                shape=(),
            )
            bias = get_variable("attention_b", [units], dtype=kind, initializer=Zeros())
        return bahdanau_score(query, self._keys, v, length, bias)


def memory_layer(
    units: int, dtype: DTypeLike | None, name: str = "memory_layer"
) -> Dense:
    """The layer that computes keys."""
    return Dense(units, name=name, use_bias=False, dtype=dtype or float32)


@export("contrib.seq2seq.LuongAttention")
class LuongAttention(Luong):
    """Multiplicative attention: softmax(query . key).

    Args:
      num_units: the depth of keys, which must be that of queries.
      memory: a Tensor [batch, time, depth], usually an encoder's outputs.
      memory_sequence_length: int Tensor [batch]; later positions get no attention.
      scale: multiply scores by a variable.
      probability_fn: the function from scores to alignments; `tf.nn.softmax` if None.
      score_mask_value: the score of positions after the end; -inf if None.
      dtype: the type of the layer's variables; float32 if None.
      custom_key_value_fn: a function that maps (keys, values) to others.
      name: the name scope.

    Raises:
      ValueError: memory's depth is not known; the depths of queries and keys differ.

    Example:
      >>> memory = tf.random_normal([2, 5, 3])
      >>> attention = tf.contrib.seq2seq.LuongAttention(4, memory, [5, 2])
      >>> cell = tf.contrib.seq2seq.AttentionWrapper(
      ...     tf.nn.rnn_cell.GRUCell(4), attention, attention_layer_size=4)

    Source: contrib/seq2seq/python/ops/attention_wrapper.py;
    https://arxiv.org/abs/1508.04025.
    """

    _scope = "luong_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: DType | None = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        chosen = softmax if probability_fn is None else probability_fn
        super().__init__(
            query_layer=None,
            memory_layer=memory_layer(num_units, dtype),
            memory=memory,
            probability_fn=lambda score, _: chosen(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name


@export("contrib.seq2seq.BahdanauAttention")
class BahdanauAttention(Bahdanau):
    """Additive attention: softmax(sum(v * tanh(query + key))).

    Args:
      num_units: the depth of keys, to which queries are projected as well.
      normalize: scale v to a variable length, and add a bias.
      memory, memory_sequence_length, probability_fn, score_mask_value, dtype,
        custom_key_value_fn, name: as in `LuongAttention`.

    Raises:
      ValueError: memory's depth is not known.

    Source: contrib/seq2seq/python/ops/attention_wrapper.py;
    https://arxiv.org/abs/1409.0473, https://arxiv.org/abs/1602.07868.
    """

    _scope = "bahdanau_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: DType | None = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        chosen = softmax if probability_fn is None else probability_fn
        super().__init__(
            query_layer=memory_layer(num_units, dtype, "query_layer"),
            memory_layer=memory_layer(num_units, dtype),
            memory=memory,
            probability_fn=lambda score, _: chosen(score),
            custom_key_value_fn=custom_key_value_fn,
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name
