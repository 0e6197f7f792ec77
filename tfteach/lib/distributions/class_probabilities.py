"""Base of distributions over classes: logits and probabilities."""

from __future__ import annotations

from tfteach.framework.operation import Tensor
from tfteach.lib.distributions.base import Distribution


class ClassProbabilities(Distribution):
    """Distributions with `logits` and `probs`."""

    _logits: Tensor
    _probs: Tensor

    @property
    def logits(self) -> Tensor:
        """Log-odds, or log-probabilities of the classes."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self._probs
