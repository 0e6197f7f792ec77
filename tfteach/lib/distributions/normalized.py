"""Base of distributions with a separate normalization constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfteach.framework.operation import Tensor
from tfteach.lib.distributions.base import Scalar
from tfteach.ops.core.fill import fill


class Normalized(Scalar):
    """Distributions with an unnormalized density and a normalization."""

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x: Any) -> Any:
        raise NotImplementedError

    def _log_normalization(self) -> Any:
        raise NotImplementedError

    def _undefined(self) -> Tensor:
        """nan of the batch's shape."""
        nan = np.array(np.nan, self.dtype.numpy_dtype)
        return fill(self.batch_shape_tensor(), nan, name="nan")
