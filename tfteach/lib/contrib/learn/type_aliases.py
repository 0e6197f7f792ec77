"""Types of the arguments of `tf.contrib.learn`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Array, FeedDict
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.lib.training.optimizer import Optimizer
from tfteach.ops.core.sparse_tensor import SparseTensor


class Frame(Protocol):
    """Data of pandas."""

    def to_numpy(self) -> Array:
        """The values as an array."""


class MonitorLike(Protocol):
    """A monitor of `tf.contrib.learn.monitors`."""

    def set_estimator(self, estimator: Any) -> None:
        """Called before the training."""


# Features or labels of many examples.
Rows: TypeAlias = "Array | Mapping[str, Array] | Iterator[Any] | Frame"
# An optimizer, its name, or a function that makes it.
OptimizerLike: TypeAlias = "Optimizer | str | Callable[[], Optimizer] | None"
# What a graph has of features, labels or predictions.
Tensors: TypeAlias = "Tensor | Mapping[str, Tensor]"
HeadLabels: TypeAlias = "Tensor | SparseTensor | Mapping[str, Tensor | SparseTensor]"
InputFn: TypeAlias = Callable[[], Any]
FeedFn: TypeAlias = "Callable[[], FeedDict]"
Monitors: TypeAlias = "Sequence[MonitorLike | SessionRunHook]"
Metrics: TypeAlias = Mapping[Any, Any]
