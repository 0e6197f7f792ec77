"""The first centers of k-means.

Source: contrib/factorization/python/ops/clustering_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tfteach.control.branch import cond
from tfteach.control.checks.values import (
    assert_equal,
    assert_greater_equal,
    assert_positive,
)
from tfteach.control.loop import while_loop
from tfteach.framework.dtypes import int32, int64
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.control_flow_ops import no_op
from tfteach.ops.core.identity_reshape import reshape, squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.binary import maximum, minimum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import equal, less, less_equal
from tfteach.ops.nn.clustering import (
    KMC2ChainInitialization,
    KmeansPlusPlusInitialization,
    NearestNeighbors,
)
from tfteach.ops.nn.embedding_lookup import embedding_lookup
from tfteach.ops.nn.l2_loss import l2_normalize
from tfteach.ops.random.random_ops import random_uniform
from tfteach.ops.state.ref_variables import assign

RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"


class Start(NamedTuple):
    """How the first centers are chosen.

    Attributes:
      inputs: float Tensors [n, d].
      num_clusters: the number of centers, a Tensor.
      initial_clusters: a method's name, a Tensor [num_clusters, d], or a function.
      is_cosine: whether the centers are normalized.
      seed: the seed.
      retries: further tries of each choice of k-means++.
      chain_length: how many points each choice of KMC2 looks at.
      centers: the variable.
      centers_updated: that of the updates, maybe the same.
      is_initialized: the variable that is True once there are all centers.
    """

    inputs: list[Tensor]
    num_clusters: Tensor
    initial_clusters: Any
    is_cosine: bool
    seed: int | None
    retries: int
    chain_length: int
    centers: Any
    centers_updated: Any
    is_initialized: Any

    def op(self) -> Any:
        """The op that adds centers until there are all."""
        chosen = shape(self.centers)[0]
        missing = self.num_clusters - chosen
        rows: Any = [shape(inp)[0] for inp in self.inputs]
        available = rows[0] if len(rows) == 1 else add_n(rows)
        return cond(
            equal(missing, 0),
            lambda: assert_equal(self.is_initialized, True),
            lambda: self._added(chosen, missing, available),
        )

    def _added(self, chosen: Tensor, missing: Tensor, available: Tensor) -> Any:
        given = self.initial_clusters
        with control_dependencies([assert_positive(missing)]):
            if isinstance(given, str) and given == KMC2_INIT:
                left = self._left_after_chains(chosen, missing)
            else:
                left = self._left(chosen, missing, available)
            return cond(
                equal(left, 0), lambda: assign(self.is_initialized, True), no_op
            )

    def _left(self, chosen: Tensor, missing: Tensor, available: Tensor) -> Tensor:
        """Add centers; returns how many are still missing."""
        new = self._new_centers(missing, available)
        if self.is_cosine:
            new = l2_normalize(new, 1)
        every = cond(
            equal(chosen, 0), lambda: new, lambda: concat([self.centers, new], 0)
        )
        left: Tensor = self.num_clusters - shape(self._assigned(every))[0]
        return left

    def _assigned(self, centers: Tensor) -> Tensor:
        assigned: Tensor = assign(self.centers, centers, validate_shape=False)
        if self.centers_updated is not self.centers:
            assigned = assign(self.centers_updated, assigned, validate_shape=False)
        return assigned

    def _new_centers(self, missing: Tensor, available: Tensor) -> Any:
        given = self.initial_clusters
        if isinstance(given, str) and given == RANDOM_INIT:
            return cond(
                less_equal(available, missing),
                lambda: concat(self.inputs, 0),
                lambda: self._random(missing, available),
            )
        if isinstance(given, str) and given == KMEANS_PLUS_PLUS_INIT:
            return self._spread(missing, available)
        if callable(given):
            return given(self.inputs, missing)
        same = assert_equal(missing, shape(given)[0])
        with control_dependencies([same]):
            return given

    def _random(self, missing: Tensor, available: Tensor) -> Tensor:
        """Random rows of the input, maybe some twice."""
        rows = random_uniform(
            reshape(missing, [-1]), minval=0, maxval=cast(available, int64),
            seed=self.seed, dtype=int64,
        )  # fmt: skip
        return embedding_lookup(self.inputs, rows, partition_strategy="div")

    def _spread(self, missing: Tensor, available: Tensor) -> Any:
        """Rows far from each other."""
        points = self.inputs[0]
        with control_dependencies([assert_greater_equal(available, missing)]):
            if self.is_cosine:
                points = l2_normalize(points, 1)
            return KmeansPlusPlusInitialization()(
                points, cast(missing, int64), self.seed, self.retries
            )  # fmt: skip

    def _left_after_chains(self, chosen: Tensor, missing: Tensor) -> Tensor:
        """Add the ends of Markov chains over the points; returns what is missing."""
        points: Any = self.inputs[0]
        length = self.chain_length
        chains = cast(shape(points)[0] / length, int32)

        def as_center(point: Any) -> Tensor:
            row = reshape(point, [1, -1])
            return l2_normalize(row, 1) if self.is_cosine else row

        def sampled(chain: Any) -> Tensor:
            first = chain * length
            part = points[first : first + length]
            _, distances = NearestNeighbors()(part, self.centers, 1)
            end: Any = KMC2ChainInitialization()(squeeze(distances), self.seed)
            return concat([self.centers, as_center(part[end])], 0)

        def body(chain: Any, _: Any) -> list[Any]:
            centers = cond(
                equal(chosen, 0),
                lambda: as_center(points[0]),
                lambda: sampled(chain),
            )
            assigned = self._assigned(centers)
            return [chain + 1, self.num_clusters - shape(assigned)[0]]

        count = maximum(minimum(missing, chains), 1)
        _, left = while_loop(lambda chain, _: less(chain, count), body, [0, 0])
        found: Tensor = left
        return found


InitialClusters = Tensor | str | Callable[..., Tensor]
