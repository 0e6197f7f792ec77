"""A model for each of several lengths, with shared variables.

Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.lib.contrib.legacy_seq2seq.loss import (
    sequence_loss,
    sequence_loss_by_example,
)
from tfteach.variables.scope import get_variable_scope, variable_scope


@export("contrib.legacy_seq2seq.model_with_buckets")
def model_with_buckets(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    targets: list[Any],
    weights: list[Any],
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[[list[Any], list[Any]], tuple[list[Any], Any]],
    softmax_loss_function: Callable[..., Tensor] | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[list[Any]], list[Tensor]]:
    """The outputs and the loss of a model for each bucket.

    Args:
      encoder_inputs, decoder_inputs: lists of inputs for `seq2seq`.
      targets: a list of int Tensors [batch].
      weights: a list of float Tensors [batch].
      buckets: pairs (number of encoder inputs, of decoder inputs), the largest last.
      seq2seq: a function of (encoder inputs, decoder inputs) that returns (outputs,
        state); from the second bucket on it must reuse the first one's variables.
      softmax_loss_function: as in `sequence_loss`.
      per_example_loss: whether losses are Tensors [batch] instead of scalars.
      name: the name scope.

    Returns:
      (a list of outputs for each bucket, a loss for each bucket).

    Raises:
      ValueError: a list is shorter than the last bucket.

    Source: contrib/legacy_seq2seq/python/ops/seq2seq.py.
    """
    longest_in, longest_out = buckets[-1][0], buckets[-1][1]
    if len(encoder_inputs) < longest_in:
        raise ValueError(
            f"Length of encoder_inputs ({len(encoder_inputs)}) must be at least that "
            f"of last bucket ({longest_in})."
        )
    for kind, given in (("targets", targets), ("weights", weights)):
        if len(given) < longest_out:
            raise ValueError(
                f"Length of {kind} ({len(given)}) must be at least that of last "
                f"bucket ({longest_out})."
            )
    measure = sequence_loss_by_example if per_example_loss else sequence_loss
    everything = [*encoder_inputs, *decoder_inputs, *targets, *weights]
    outputs, losses = [], []
    with name_scope(name, "model_with_buckets", everything):
        for number, (size_in, size_out) in enumerate(buckets):
            reuse = True if number > 0 else None
            with variable_scope(get_variable_scope(), reuse=reuse):
                found, _ = seq2seq(encoder_inputs[:size_in], decoder_inputs[:size_out])
                outputs.append(found)
                loss = measure(
                    found,
                    targets[:size_out],
                    weights[:size_out],
                    softmax_loss_function=softmax_loss_function,
                )
                losses.append(loss)
    return outputs, losses
