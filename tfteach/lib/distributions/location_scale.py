"""Base of distributions with a location and a scale."""

from __future__ import annotations

from typing import Any

from tfteach.control.checks.types import assert_same_float_dtype
from tfteach.control.checks.values import assert_positive
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.lib.distributions.base import Scalar
from tfteach.lib.distributions.sizes import same_shapes
from tfteach.ops.core.identity_reshape import identity


class LocationScale(Scalar):
    """Distributions of loc + scale * Z."""

    _own = ("loc", "scale")

    def _place(self, name: str, loc: Any, scale: Any, validate_args: bool) -> str:
        """Create the parameter tensors; returns their name scope."""
        with name_scope(name, values=[loc, scale]) as scope:
            checks = [assert_positive(scale)] if validate_args else []
            with control_dependencies(checks):
                self._loc = identity(loc, name="loc")
                self._scale = identity(scale, name="scale")
                assert_same_float_dtype([self._loc, self._scale])
        return scope

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return same_shapes(sample_shape, "loc", "scale")

    @property
    def loc(self) -> Tensor:
        """The location parameter."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale parameter."""
        return self._scale

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _mode(self) -> Any:
        return self._mean()

    def _log_unnormalized_prob(self, x: Any) -> Any:
        raise NotImplementedError

    def _log_normalization(self) -> Any:
        raise NotImplementedError
