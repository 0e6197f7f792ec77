"""`Distribution`: the base class of all distributions.

A subclass implements the methods it can compute under names with an underscore
(`_log_prob`, `_sample_n`, ...); the public methods open the distribution's name scope
and derive missing ones from others: a probability from its logarithm, a variance from a
standard deviation.
Source: python/ops/distributions/distribution.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int32
from tfteach.framework.export import export, export_value
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import TensorShape, as_tensor_shape
from tfteach.framework.type_aliases import DTypeLike, T, TensorLike
from tfteach.lib.distributions import divergence
from tfteach.lib.distributions.sizes import as_vector, is_scalar
from tfteach.ops.array.broadcast_to import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
)
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import reshape
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.exponential import exp, log, log1p
from tfteach.ops.math.unary import sqrt, square


@export(
    "distributions.ReparameterizationType",
    "contrib.distributions.ReparameterizationType",
)
class ReparameterizationType:
    """Whether samples are a differentiable function of the parameters."""

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameteriation Type: {self._rep_type}>"  # TF's spelling


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")
for _name in ("FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED"):
    publics = f"distributions.{_name} contrib.distributions.{_name}"
    export_value(__name__, **{_name: publics})


@export("distributions.Distribution", "contrib.distributions.Distribution")
class Distribution:
    """Base of all distributions.

    Args:
      dtype: the type of samples.
      reparameterization_type: `FULLY_REPARAMETERIZED` or `NOT_REPARAMETERIZED`.
      validate_args: check arguments in every run.
      allow_nan_stats: return nan for undefined moments instead of an error.
      parameters: the constructor's arguments.
      graph_parents: the parameter tensors.
      name: the prefix of all ops' names.

    Raises:
      ValueError: a graph parent is not a Tensor.

    Source: python/ops/distributions/distribution.py.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        reparameterization_type: Any,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: list[Any] | None = None,
        name: str | None = None,
    ) -> None:
        for i, parent in enumerate(graph_parents or []):
            if not isinstance(parent, Tensor):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if not name or name[-1] != "/":
            with name_scope(name or type(self).__name__) as scope:
                name = scope
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._allow_nan_stats, self._validate_args = allow_nan_stats, validate_args
        self._parameters = dict(parameters or {})
        self._graph_parents = graph_parents or []
        self._name = name

    # ---- properties

    @property
    def name(self) -> str:
        """The name scope of all ops."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The type of samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            key: value
            for key, value in self._parameters.items()
            if not key.startswith("__") and key != "self"
        }

    @property
    def reparameterization_type(self) -> Any:
        """Whether gradients flow from samples to the parameters."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether undefined moments are nan."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether the arguments are checked in every run."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """A copy with some arguments replaced."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        raise NotImplementedError("_param_shapes not implemented")

    @classmethod
    def param_shapes(
        cls, sample_shape: TensorLike, name: str = "DistributionParamShapes"
    ) -> dict[str, Any]:
        """The shapes of the parameters for samples of `sample_shape`."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: TensorLike) -> dict[str, TensorShape]:
        """`param_shapes` as static shapes.

        Raises:
          ValueError: the shape is not fully known.
        """
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        found = {}
        for name, tensor in cls.param_shapes(sample_shape).items():
            value = constant_value(tensor)
            if value is None:
                raise ValueError(
                    "sample_shape must be a fully-defined TensorShape or list/tuple"
                )
            found[name] = TensorShape(value)
        return found

    @contextmanager
    def _name_scope(self, name: str | None = None, values: Any = None) -> Iterator[str]:
        with (
            name_scope(self.name),
            name_scope(name, values=(values or []) + self._graph_parents) as scope,
        ):
            yield scope

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{what} is not implemented: {type(self).__name__}")

    # ---- shapes

    def _batch_shape_tensor(self) -> Tensor:
        raise self._missing("batch_shape_tensor")

    def _event_shape_tensor(self) -> Tensor:
        raise self._missing("event_shape_tensor")

    def _batch_shape(self) -> Any:
        return TensorShape(None)

    def _event_shape(self) -> Any:
        return TensorShape(None)

    @property
    def batch_shape(self) -> TensorShape:
        """The static batch shape."""
        return as_tensor_shape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The static shape of a single sample."""
        return as_tensor_shape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """`batch_shape` as an int32 Tensor."""
        with self._name_scope(name):
            known = self.batch_shape
            if known.is_fully_defined():
                return convert(known.as_list(), int32, "batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """`event_shape` as an int32 Tensor."""
        with self._name_scope(name):
            known = self.event_shape
            if known.is_fully_defined():
                return convert(known.as_list(), int32, "event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether samples are scalars, as a bool Tensor."""
        with self._name_scope(name):
            found = is_scalar(self.event_shape, self.event_shape_tensor)
            return convert(found, name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether the batch is a single distribution, as a bool Tensor."""
        with self._name_scope(name):
            found = is_scalar(self.batch_shape, self.batch_shape_tensor)
            return convert(found, name="is_scalar_batch")

    # ---- samples

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        raise self._missing("sample_n")

    def sample(
        self,
        sample_shape: TensorLike = (),
        seed: int | None = None,
        name: str = "sample",
    ) -> Tensor:
        """Independent samples.

        Args:
          sample_shape: the number of samples, an int32 scalar or vector.
          seed: makes them the same in every session (see `tf.get_seed`).
          name: the name of the scope.

        Returns:
          A Tensor sample_shape + batch_shape + event_shape.
        """
        with self._name_scope(name, values=[sample_shape]):
            sizes = convert(sample_shape, int32, "sample_shape")
            sizes, n = as_vector(sizes, "sample_shape")
            samples = self._sample_n(n, seed)
            rest = shape(samples)[1:]
            samples = reshape(samples, concat([sizes, rest], 0))
            return self._with_static_shape(samples, sizes)

    def _with_static_shape(self, samples: Tensor, sizes: Tensor) -> Tensor:
        known = constant_value(sizes)
        front = TensorShape(None if known is None else known)
        whole = front.concatenate(self.batch_shape).concatenate(self.event_shape)
        if whole.ndims is not None:
            samples.set_shape(whole)
        return samples

    # ---- probabilities

    def _log_prob(self, value: Any) -> Any:
        raise self._missing("log_prob")

    def _prob(self, value: Any) -> Any:
        raise self._missing("prob")

    def _log_cdf(self, value: Any) -> Any:
        raise self._missing("log_cdf")

    def _cdf(self, value: Any) -> Any:
        raise self._missing("cdf")

    def _log_survival_function(self, value: Any) -> Any:
        raise self._missing("log_survival_function")

    def _survival_function(self, value: Any) -> Any:
        raise self._missing("survival_function")

    def _quantile(self, value: Any) -> Any:
        raise self._missing("quantile")

    def _at(self, value: Any, name: str, direct: Any, derived: Any) -> Tensor:
        """The value of `direct`, or the one derived from another function."""
        with self._name_scope(name, values=[value]):
            value = convert(value, None, "value", self.dtype)
            result: Tensor = _first(lambda: direct(value), lambda: derived(value))
            return result

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> Tensor:
        """The log probability (or log density) at `value`.

        Args:
          value: Tensor sample_shape + batch_shape + event_shape, or one that
              broadcasts.
          name: the name of the scope.

        Returns:
          A Tensor sample_shape + batch_shape.
        """
        return self._at(value, name, self._log_prob, lambda v: log(self._prob(v)))

    def prob(self, value: TensorLike, name: str = "prob") -> Tensor:
        """The probability (or density) at `value`; see `log_prob`."""
        return self._at(value, name, self._prob, lambda v: exp(self._log_prob(v)))

    def log_cdf(self, value: TensorLike, name: str = "log_cdf") -> Tensor:
        """ln P(X <= value)."""
        return self._at(value, name, self._log_cdf, lambda v: log(self._cdf(v)))

    def cdf(self, value: TensorLike, name: str = "cdf") -> Tensor:
        """P(X <= value)."""
        return self._at(value, name, self._cdf, lambda v: exp(self._log_cdf(v)))

    def log_survival_function(
        self, value: TensorLike, name: str = "log_survival_function"
    ) -> Tensor:
        """ln P(X > value)."""
        return self._at(
            value, name, self._log_survival_function, lambda v: log1p(-self.cdf(v))
        )

    def survival_function(
        self, value: TensorLike, name: str = "survival_function"
    ) -> Tensor:
        """P(X > value)."""
        return self._at(
            value, name, self._survival_function, lambda v: 1.0 - self.cdf(v)
        )

    def quantile(self, value: TensorLike, name: str = "quantile") -> Tensor:
        """The x with P(X <= x) = `value`."""
        return self._at(value, name, self._quantile, self._quantile)

    # ---- moments

    def _entropy(self) -> Tensor:
        raise self._missing("entropy")

    def _mean(self) -> Tensor:
        raise self._missing("mean")

    def _variance(self) -> Tensor:
        raise self._missing("variance")

    def _stddev(self) -> Tensor:
        raise self._missing("stddev")

    def _covariance(self) -> Tensor:
        raise self._missing("covariance")

    def _mode(self) -> Tensor:
        raise self._missing("mode")

    def entropy(self, name: str = "entropy") -> Tensor:
        """Shannon's entropy in nats."""
        with self._name_scope(name):
            return self._entropy()

    def mean(self, name: str = "mean") -> Tensor:
        """The mean, of shape batch_shape + event_shape."""
        with self._name_scope(name):
            return self._mean()

    def variance(self, name: str = "variance") -> Tensor:
        """The variance of each component."""
        with self._name_scope(name):
            return _first(self._variance, lambda: square(self._stddev()))

    def stddev(self, name: str = "stddev") -> Tensor:
        """The standard deviation of each component."""
        with self._name_scope(name):
            return _first(self._stddev, lambda: sqrt(self._variance()))

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariances of the components, batch_shape + [k, k]."""
        with self._name_scope(name):
            return self._covariance()

    def mode(self, name: str = "mode") -> Tensor:
        """The most probable value."""
        with self._name_scope(name):
            return self._mode()

    # ---- comparison of two distributions

    def cross_entropy(self, other: TensorLike, name: str = "cross_entropy") -> Tensor:
        """-E[ln other(X)], X from this distribution."""
        with self._name_scope(name):
            return divergence.cross_entropy(
                self, other, allow_nan_stats=self.allow_nan_stats
            )

    def kl_divergence(self, other: TensorLike, name: str = "kl_divergence") -> Tensor:
        """KL(self || other); see `tf.distributions.kl_divergence`."""
        with self._name_scope(name):
            return divergence.kl_divergence(
                self, other, allow_nan_stats=self.allow_nan_stats
            )

    # ---- representation

    def __str__(self) -> str:
        batch = event = ""
        if self.batch_shape.ndims is not None:
            batch = f", batch_shape={self.batch_shape}"
        if self.event_shape.ndims is not None:
            event = f", event_shape={self.event_shape}"
        return (
            f'tfp.distributions.{type(self).__name__}("{self.name}"{batch}{event}, '
            f"dtype={self.dtype.name})"
        )

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' "
            f"batch_shape={self.batch_shape} event_shape={self.event_shape} "
            f"dtype={self.dtype.name}>"
        )


class Scalar(Distribution):
    """Distributions of scalars whose parameters broadcast to the batch shape.

    Attributes:
      _own: the names of the parameter properties.
    """

    _own: tuple[str, ...] = ()

    @property
    def _tensors(self) -> list[Tensor]:
        return [getattr(self, name) for name in self._own]

    def _batch_shape_tensor(self) -> Tensor:
        *outer, last = [shape(t) for t in self._tensors]
        for sizes in reversed(outer):
            last = broadcast_dynamic_shape(sizes, last)
        return last

    def _batch_shape(self) -> Any:
        first, *others = [t.shape for t in self._tensors]
        for known in others:
            first = broadcast_static_shape(first, known)
        return first

    def _event_shape_tensor(self) -> Tensor:
        return constant([], dtype=int32)

    def _event_shape(self) -> Any:
        return TensorShape([])


def _first(direct: Callable[[], T], derived: Callable[[], T]) -> T:
    """`direct()`, or `derived()` if the subclass does not define `direct`."""
    try:
        return direct()
    except NotImplementedError as missing:
        try:
            return derived()
        except NotImplementedError:
            raise missing from None
