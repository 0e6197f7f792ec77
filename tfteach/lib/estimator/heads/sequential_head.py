"""Heads of models that have logits for each step of a sequence.

Source: tensorflow_estimator/python/estimator/head/sequential_head.py.
"""

from __future__ import annotations

import abc

from tfteach.lib.estimator.heads.estimator_heads import Head


class SequentialHead(Head):
    """A head whose logits are [batch, steps, units].

    A model passes it the mask of the steps among the features, under the key
    `input_sequence_mask_key`.

    Source: tensorflow_estimator/python/estimator/head/sequential_head.py.
    """

    @property
    @abc.abstractmethod
    def input_sequence_mask_key(self) -> str:
        """The key of the feature that masks steps: bool [batch, steps]."""
