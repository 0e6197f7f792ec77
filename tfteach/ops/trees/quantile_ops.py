"""Ops that divide features into buckets, by quantiles of the values seen so far.

Source: core/ops/boosted_trees_ops.cc, core/kernels/boosted_trees/quantile_ops.cc.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import NotFoundError, invalid_argument
from tfteach.framework.op import MultiOutputOp, NoOutputOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule, KernelContext
from tfteach.ops.trees.ensemble_ops import TreeOp
from tfteach.ops.trees.handles import TreeResourceHandleOp
from tfteach.ops.trees.stats_summary_ops import StatsOp
from tfteach.ops.trees.weighted_quantiles import (
    QuantileStream,
    Summary,
    boundaries,
    quantiles,
    summarized,
)

_MANGLED = "N10tensorflow34BoostedTreesQuantileStreamResourceE"


class QuantileStreams:
    """The resource that a handle refers to: a stream for each feature.

    Attributes:
      streams: None until they are created.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.streams: list[QuantileStream] | None = None
        self.lock = threading.Lock()

    @property
    def shape(self) -> tuple[int, ...]:
        """The handle is a scalar."""
        return ()

    def created(self, number: int | None = None) -> list[QuantileStream]:
        """The streams.

        Args:
          number: how many there must be; None for any number.

        Raises:
          NotFoundError: they have not been created.
          InvalidArgumentError: there are more or fewer.
        """
        if self.streams is None:
            raise NotFoundError(
                None,
                None,
                f"Resource localhost/{self.name}/{_MANGLED} does not exist. Run "
                "BoostedTreesCreateQuantileStreamResource first.",
            )
        if number not in (None, len(self.streams)):
            raise invalid_argument(
                f"The resource has {len(self.streams)} quantile streams, expected "
                f"{number}"
            )
        return self.streams


class BoostedTreesBucketize(StatsOp, MultiOutputOp):
    """The bucket of each value: the first boundary that is not below it, or the last.

    Source: boosted_trees_ops.cc, BoostedTreesBucketize.
    """

    signature = (
        "float_values: num_features*float32, bucket_boundaries: num_features*float32 "
        "-> buckets: num_features*int32"
    )
    num_features: int

    minimum: ClassVar[dict[str, int]] = {"num_features": 0}

    def infer_shape(
        self, float_values: list[Shape], bucket_boundaries: list[Shape]
    ) -> list[Shape]:
        count: int | None = None
        found: list[Shape] = []
        for values in float_values:
            own = shapes.with_rank(values, 1)
            count = shapes.same_size(own[0], count)
            found.append(own)
        return found

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        number = self.num_features
        found = []
        for values, limits in zip(inputs[:number], inputs[number:], strict=True):
            if limits.ndim != 1:
                raise invalid_argument("Buckets should be flat vectors.")
            bucket = np.searchsorted(limits, values)
            bucket[np.isnan(values)] = 0  # nothing is below it
            found.append(np.clip(bucket, 0, max(len(limits) - 1, 0)).astype(np.int32))
        return tuple(found)


class BoostedTreesMakeQuantileSummaries(StatsOp, MultiOutputOp):
    """Summaries of features: [entries, 4] of value, weight and the bounds of its rank.

    Source: boosted_trees_ops.cc, BoostedTreesMakeQuantileSummaries.
    """

    signature = (
        "float_values: num_features*float32, example_weights: float32, "
        "epsilon: float32 -> summaries: num_features*float32"
    )
    num_features: int

    minimum: ClassVar[dict[str, int]] = {"num_features": 0}

    def infer_shape(
        self, float_values: list[Shape], example_weights: Shape, epsilon: Shape
    ) -> list[Shape]:
        shapes.with_rank(example_weights, 1)
        for values in float_values:
            shapes.with_rank(values, 1)
        shapes.with_rank(epsilon, 0)
        return [(None, 4)] * self.num_features

    def compute(self, xp: ArrayModule, *inputs: Any) -> Any:
        *features, weights, epsilon = inputs
        if epsilon.size != 1:
            raise invalid_argument(
                f"epsilon must be one number, got the shape {list(epsilon.shape)}"
            )
        epsilon = epsilon.reshape(())
        _check_epsilon(epsilon)
        found: list[Summary] = []
        for values in features:
            if len(weights) not in (1, len(values)):
                raise invalid_argument(
                    "example_weights must have one element, or one for each of the "
                    f"{len(values)} examples, got {len(weights)}"
                )
            each = np.broadcast_to(weights, values.shape)
            found.append(summarized(values, each, float(epsilon)))
        return tuple(found)


def _check_epsilon(epsilon: Any) -> None:
    if not epsilon > 0:
        raise invalid_argument(
            "An epsilon value of zero is not allowed. It must be positive, the error "
            f"allowed in ranks, got {epsilon}"
        )


# ---- the resource


class BoostedTreesQuantileStreamResourceHandleOp(TreeResourceHandleOp):
    """A handle to quantile streams, shared by name.  Source: boosted_trees_ops.cc."""

    kind: ClassVar[str] = "quantile_streams"
    factory: ClassVar[Callable[[str], Any]] = QuantileStreams


class IsBoostedTreesQuantileStreamResourceInitialized(TreeOp):
    """Whether quantile streams have been created.  Source: boosted_trees_ops.cc."""

    signature = "quantile_stream_resource_handle: resource -> is_initialized: bool"

    def infer_shape(self, quantile_stream_resource_handle: Shape) -> Shape:
        shapes.with_rank(quantile_stream_resource_handle, 0)
        return ()

    def compute(self, ctx: KernelContext, handle: QuantileStreams) -> Any:
        return np.bool_(handle.streams is not None)


class BoostedTreesCreateQuantileStreamResource(TreeOp, NoOutputOp):
    """Create quantile streams; existing ones stay as they are.

    Source: boosted_trees_ops.cc, BoostedTreesCreateQuantileStreamResource.
    """

    signature = (
        "quantile_stream_resource_handle: resource, epsilon: float32, "
        "num_streams: int64 ->"
    )
    max_elements: int = 1 << 40

    def infer_shape(self, *inputs: Shape) -> list[Shape]:
        for given in inputs:
            shapes.with_rank(given, 0)
        return []

    def compute(
        self,
        ctx: KernelContext,
        handle: QuantileStreams,
        epsilon: Any,
        num_streams: Any,
    ) -> Any:
        _check_epsilon(epsilon)
        if int(num_streams) < 0:
            raise invalid_argument(
                f"num_streams must not be negative, got {int(num_streams)}"
            )
        with handle.lock:
            if handle.streams is None:
                handle.streams = [
                    QuantileStream(float(epsilon), self.max_elements)
                    for _ in range(int(num_streams))
                ]
        return ()


class BoostedTreesQuantileStreamResourceAddSummaries(TreeOp, NoOutputOp):
    """Add a summary of further values to each stream.  Source: boosted_trees_ops.cc."""

    signature = (
        "quantile_stream_resource_handle: resource, summaries: num_features*float32 ->"
    )
    num_features: int

    minimum: ClassVar[dict[str, int]] = {"num_features": 0}

    def infer_shape(
        self, quantile_stream_resource_handle: Shape, summaries: list[Shape]
    ) -> list[Shape]:
        shapes.with_rank(quantile_stream_resource_handle, 0)
        for summary in summaries:
            shapes.merge(shapes.with_rank(summary, 2), (None, 4))
        return []

    def compute(
        self, ctx: KernelContext, handle: QuantileStreams, *summaries: Any
    ) -> Any:
        with handle.lock:
            streams = handle.created(len(summaries))
            for stream, summary in zip(streams, summaries, strict=True):
                stream.push(summary)
        return ()


class BoostedTreesQuantileStreamResourceFlush(TreeOp, NoOutputOp):
    """Turn what the streams have seen into boundaries, and start them anew.

    Source: boosted_trees_ops.cc, BoostedTreesQuantileStreamResourceFlush.
    """

    signature = "quantile_stream_resource_handle: resource, num_buckets: int64 ->"
    generate_quantiles: bool = False

    def infer_shape(self, *inputs: Shape) -> list[Shape]:
        for given in inputs:
            shapes.with_rank(given, 0)
        return []

    def compute(
        self, ctx: KernelContext, handle: QuantileStreams, num_buckets: Any
    ) -> Any:
        number = int(num_buckets)
        least = 3 if self.generate_quantiles else 1
        if number < least:
            raise invalid_argument(
                f"num_buckets must be at least {least}"
                f"{' to generate quantiles' if least > 1 else ''}, got {number}"
            )
        with handle.lock:
            for stream in handle.created():
                summary = stream.drain()
                if self.generate_quantiles:
                    stream.boundaries = quantiles(summary, number - 1)
                else:
                    stream.boundaries = boundaries(summary, number)
        return ()


class BoostedTreesFlushQuantileSummaries(TreeOp, MultiOutputOp):
    """The summaries of the streams, which start anew.  Source: boosted_trees_ops.cc."""

    signature = (
        "quantile_stream_resource_handle: resource -> summaries: num_features*float32"
    )
    num_features: int

    minimum: ClassVar[dict[str, int]] = {"num_features": 0}

    def infer_shape(self, quantile_stream_resource_handle: Shape) -> list[Shape]:
        shapes.with_rank(quantile_stream_resource_handle, 0)
        return [(None, 4)] * self.num_features

    def compute(self, ctx: KernelContext, handle: QuantileStreams) -> Any:
        with handle.lock:
            streams = handle.created(self.num_features)
            return tuple(stream.drain() for stream in streams)


class BoostedTreesQuantileStreamResourceGetBucketBoundaries(TreeOp, MultiOutputOp):
    """The boundaries of each stream.  Source: boosted_trees_ops.cc."""

    signature = (
        "quantile_stream_resource_handle: resource -> "
        "bucket_boundaries: num_features*float32"
    )
    num_features: int

    minimum: ClassVar[dict[str, int]] = {"num_features": 0}

    def infer_shape(self, quantile_stream_resource_handle: Shape) -> list[Shape]:
        shapes.with_rank(quantile_stream_resource_handle, 0)
        return [(None,)] * self.num_features

    def compute(self, ctx: KernelContext, handle: QuantileStreams) -> Any:
        with handle.lock:
            streams = handle.created(self.num_features)
            return tuple(stream.boundaries.copy() for stream in streams)


class BoostedTreesQuantileStreamResourceDeserialize(TreeOp, NoOutputOp):
    """Restore the boundaries of each stream.

    Source: boosted_trees_ops.cc, BoostedTreesQuantileStreamResourceDeserialize.
    """

    signature = (
        "quantile_stream_resource_handle: resource, "
        "bucket_boundaries: num_streams*float32 ->"
    )
    num_streams: int

    minimum: ClassVar[dict[str, int]] = {"num_streams": 1}

    def infer_shape(
        self, quantile_stream_resource_handle: Shape, bucket_boundaries: list[Shape]
    ) -> list[Shape]:
        shapes.with_rank(quantile_stream_resource_handle, 0)
        for limits in bucket_boundaries:
            shapes.with_rank(limits, 0)  # TensorFlow's rule; restored ones are unknown
        return []

    def compute(
        self, ctx: KernelContext, handle: QuantileStreams, *bucket_boundaries: Any
    ) -> Any:
        with handle.lock:
            streams = handle.created(len(bucket_boundaries))
            for stream, limits in zip(streams, bucket_boundaries, strict=True):
                stream.boundaries = np.array(limits, np.float32).reshape(-1)
        return ()
