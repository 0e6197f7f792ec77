"""Mixtures of Gaussians: `tf.contrib.factorization.gmm` and `GmmAlgorithm`.

Source: contrib/factorization/python/ops/gmm_ops.py; A. Dempster and others, "Maximum
Likelihood from Incomplete Data via the EM Algorithm" (1977).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.control.branch import cond
from tfteach.control.checks.values import assert_less_equal
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import float32, int64
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.array.concat_split import concat
from tfteach.ops.array.tile import tile
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group, no_op, with_dependencies
from tfteach.ops.core.fill import ones
from tfteach.ops.core.identity_reshape import expand_dims, identity, reshape, squeeze
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.linalg.cholesky import cholesky
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.linalg.matrix_diag import diag, diag_part, matrix_diag_part
from tfteach.ops.linalg.solve import matrix_triangular_solve
from tfteach.ops.math.add_n import add_n
from tfteach.ops.math.binary import squared_difference
from tfteach.ops.math.cast import cast
from tfteach.ops.math.division import div
from tfteach.ops.math.exponential import exp, log
from tfteach.ops.math.reduce_functions import argmax, reduce_mean, reduce_sum
from tfteach.ops.math.statistics import reduce_logsumexp
from tfteach.ops.math.unary import square
from tfteach.ops.nn.embedding_lookup import embedding_lookup
from tfteach.ops.random.random_ops import random_uniform
from tfteach.ops.state.ref_variables import assign
from tfteach.variables.base import Variable

_LEAST_VARIANCE = 1e-3
_NO_POINTS = np.finfo(float).eps  # a class without points divides by no 0
_FULL, _DIAG = "full", "diag"
Gmm = tuple[Tensor, Tensor, list[list[Tensor]], Operation, Operation, Variable]


def _covariance(x: Any, diag: bool) -> Any:
    """The covariance of the rows of `x`, [d, d]; the variances, [1, d], if `diag`."""
    count = cast(shape(x)[0], float32)
    x = x - reduce_mean(x, 0, keepdims=True)
    if diag:
        squares = reduce_sum(square(x), 0, keepdims=True)
    else:
        squares = matmul(x, x, transpose_a=True)
    return squares / (count - 1)


def _random_rows(data: list[Any], count: int, seed: int | None) -> Tensor:
    """`count` random rows of all inputs, some maybe twice: [count, d]."""
    sizes: list[Any] = [shape(points)[0] for points in data]
    available = sizes[0] if len(sizes) == 1 else add_n(sizes)
    with control_dependencies([assert_less_equal(count, available)]):
        rows: Any = random_uniform(
            [count], minval=0, maxval=cast(available, int64), seed=seed, dtype=int64
        )
    rows = rows % cast(available, int64)
    return embedding_lookup(data, rows, partition_strategy="div")


def _variable(value: Any, name: str, **options: Any) -> Variable:
    make: Any = Variable  # the metaclass makes the kind of the variable scope
    made: Variable = make(
        value, name=name, collections=[GraphKeys.GLOBAL_VARIABLES], **options
    )
    return made


@export("contrib.factorization.GmmAlgorithm")
class GmmAlgorithm:
    """Builds the graph that fits a mixture of Gaussians by expectation maximization.

    The points x are drawn from class k with probability alphas[k], then from the normal
    distribution of mean clusters[k] and covariance clusters_covs[k].

    Args:
      data: a list of float32 Tensors [n, d]; together they are the points.
      num_classes: the number of Gaussians.
      initial_means: the first means, [num_classes, d]; None for random points.
      params: what a step updates: "w" for the weights, "m" for the means, "c" for the
        covariances.  The means are updated only with "c": so it is in TensorFlow.
      covariance_type: "full", or "diag" for covariances 0.
      random_seed: the seed of the random points.

    Raises:
      Exception: there is no such `covariance_type` (TensorFlow's class).

    Example:
      >>> gmm = tf.contrib.factorization.GmmAlgorithm([x], 2, [[3.0, 3.0], [0.0, 0.0]])
      >>> train_op = gmm.training_ops()
      >>> session.run(tf.global_variables_initializer())
      >>> session.run(gmm.init_ops())
      >>> for _ in range(40):
      ...     session.run(train_op)
      >>> session.run(gmm.clusters())

    Source: contrib/factorization/python/ops/gmm_ops.py.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: Sequence[Any],
        num_classes: int,
        initial_means: TensorLike | None = None,
        params: str = "wmc",
        covariance_type: str = _FULL,
        random_seed: int | None = 0,
    ) -> None:
        if covariance_type not in (_FULL, _DIAG):
            raise Exception(
                f"programmer error: Invalid covariance type: {covariance_type}"
            )
        self._params, self._is_diag = params, covariance_type == _DIAG
        self._num_classes, self._count = num_classes, len(data)
        self._dimensions: Any = shape(data[0])[1]
        self._least: Any = diag(ones(stack([self._dimensions]))) * _LEAST_VARIANCE
        nothing = constant([], dtype=float32)
        self._means = _variable(nothing, self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covs = _variable(
            nothing, self.CLUSTERS_COVS_VARIABLE, validate_shape=False
        )
        self._alphas = _variable(
            tile([1.0 / num_classes], [num_classes]),
            self.CLUSTERS_WEIGHT,
            validate_shape=False,
        )
        self._is_initialized = _variable(False, "initialized")
        self._init_ops = self._initialized(list(data), initial_means, random_seed)
        self._define([convert(points) for points in data])

    def _initialized(
        self, data: list[Any], initial_means: Any, seed: int | None
    ) -> list[Any]:
        """Ops that assign the first means and covariances, once."""
        if initial_means is None:
            means = expand_dims(_random_rows(data, self._num_classes, seed), 1)
        else:
            means = expand_dims(initial_means, 1)
        cov: Any = _covariance(data[0], self._is_diag) + self._least
        multiples = [self._num_classes, 1, 1]
        if self._is_diag:
            cov, multiples = diag_part(cov), multiples[:2]
        covs = tile(expand_dims(cov, 0), multiples)
        with get_default_graph().colocate_with(self._is_initialized):
            flag = identity(self._is_initialized)
        is_initialized = with_dependencies([means, covs], flag)
        return [
            self._unless(is_initialized, self._means, means),
            self._unless(is_initialized, self._covs, covs),
        ]

    def _unless(self, is_initialized: Tensor, variable: Variable, value: Any) -> Any:
        with get_default_graph().colocate_with(variable, ignore_existing=True):
            assigned = assign(variable, value, validate_shape=False)
            done = with_dependencies([assigned], assign(self._is_initialized, True))
            return cond(is_initialized, no_op, lambda: done)

    def _define(self, data: list[Any]) -> None:
        # Of each input: log p(x), [n, 1]; p(class | x), [n, classes]; and the sums of
        # the latter, [1, classes], times x, [classes, 1, d], and x x', [classes, d, d].
        self._log_marginals: list[Any] = []
        self._shares: list[Any] = []
        points, sums, squares = [], [], []
        for rows in data:
            count = shape(rows)[0]
            expanded = expand_dims(rows, 0)
            made = self._diag_probs if self._is_diag else self._full_probs
            joint: Any = made(expanded) + log(self._alphas)
            marginal = reduce_logsumexp(joint, 1, keepdims=True)
            share: Any = reshape(
                exp(expand_dims(joint, 0) - marginal), stack([count, self._num_classes])
            )
            self._log_marginals.append(marginal)
            self._shares.append(share)
            points.append(reduce_sum(share, 0, keepdims=True))
            sums.append(
                expand_dims(matmul(share, squeeze(expanded, [0]), transpose_a=True), 1)
            )
            squares.append(self._weighted_squares(expanded, share))
        self._maximize(points, sums, squares)
        self._log_likelihood = reduce_logsumexp(
            [reduce_logsumexp(marginal) for marginal in self._log_marginals]
        )
        scores = [
            marginal + log(share)
            for marginal, share in zip(self._log_marginals, self._shares, strict=True)
        ]
        self._scores = squeeze(reduce_logsumexp(scores, axis=2, keepdims=True), [0])

    def _full_probs(self, points: Any) -> Any:
        """log p(x | class), [n, classes], of points [1, n, d]."""
        differences: Any = points - self._means
        factors = cholesky(self._covs + self._least)
        log_det: Any = 2.0 * reduce_sum(log(matrix_diag_part(factors)), 1)
        solved = matrix_triangular_solve(
            factors, transpose(differences, perm=[0, 2, 1]), lower=True
        )
        distances: Any = transpose(reduce_sum(square(solved), 1))
        return -0.5 * (distances + self._log_volume() + log_det)

    def _diag_probs(self, points: Any) -> Any:
        """The same for covariances 0."""
        variances: Any = self._covs
        log_det = reduce_sum(log(variances + _LEAST_VARIANCE), 1, keepdims=True)
        squares = squared_difference(points, self._means)
        precisions = expand_dims(1.0 / (variances + _LEAST_VARIANCE), 2)
        distances = transpose(squeeze(matmul(squares, precisions), [2]))
        return -0.5 * (self._log_volume() + transpose(log_det) + distances)

    def _log_volume(self) -> Any:
        return cast(self._dimensions, float32) * log(2 * math.pi)

    def _weighted_squares(self, points: Any, share: Any) -> Any:
        """The sums of x x', weighted: [classes, d, d]."""
        repeated = concat([points for _ in range(self._num_classes)], 0)
        transposed: Any = transpose(repeated, perm=[0, 2, 1])
        weighted = [
            expand_dims(transposed[k, :, :] * share[:, k], 0)
            for k in range(self._num_classes)
        ]
        return matmul(concat(weighted, 0), repeated)

    def _maximize(self, points: list[Any], sums: list[Any], squares: list[Any]) -> None:
        """Ops that assign the parameters of the greatest likelihood."""
        several = self._count > 1
        with control_dependencies(self._shares):
            total: Any = squeeze(add_n(points) if several else points[0], [0])
            self._train_ops: list[Any] = [self._weights_op(total)]
            each: Any = reshape(total, [self._num_classes, 1, 1])
            means_op: Any = None
            if "m" in self._params:
                every = add_n(sums) if several else sums[0]
                means = div(every, each + _NO_POINTS)
                means_op = assign(self._means, means, validate_shape=False)
            else:
                means_op = no_op()
            with control_dependencies([means_op]):
                every_square: Any = add_n(squares) if several else squares[0]
                moments = every_square / (each + _NO_POINTS)
                covs = concat(
                    [self._new_cov(k, moments) for k in range(self._num_classes)], 0
                )
                if "c" in self._params:
                    self._train_ops.append(
                        assign(self._covs, covs, validate_shape=False)
                    )

    def _weights_op(self, total: Any) -> Any:
        if "w" not in self._params:
            return no_op()
        mean: Any = total / self._count
        return assign(self._alphas, mean / (reduce_sum(mean) + _NO_POINTS))

    def _new_cov(self, k: int, moments: Any) -> Tensor:
        mean = self._means[k, :, :]
        square_of_mean = matmul(mean, mean, transpose_a=True)
        cov: Any = moments[k, :, :] - square_of_mean + self._least
        return expand_dims(diag_part(cov) if self._is_diag else cov, 0)

    def init_ops(self) -> Operation:
        """An op that chooses the first parameters; it runs before the training."""
        return group(*self._init_ops)

    def training_ops(self) -> Operation:
        """An op that takes a step of the training."""
        return group(*self._train_ops)

    def is_initialized(self) -> Variable:
        """A bool variable, True once `init_ops` has run."""
        return self._is_initialized

    def alphas(self) -> Variable:
        """The variable of the classes' weights, float32 [num_classes]."""
        return self._alphas

    def clusters(self) -> Variable:
        """The variable of the means, float32 [num_classes, 1, d]."""
        return self._means

    def covariances(self) -> Variable:
        """The variable of the covariances.

        float32 [num_classes, d, d]; the variances, [num_classes, d], for "diag".
        """
        return self._covs

    def assignments(self) -> list[Tensor]:
        """The likeliest class of each point: for each input an int64 Tensor [n]."""
        return [argmax(share, 1) for share in self._shares]

    def scores(self) -> Tensor:
        """The log likelihood of each point, float32 [n, 1]; of all inputs together.

        TensorFlow adds p(class | x) over the classes in it, which is 1.
        """
        return self._scores

    def log_likelihood_op(self) -> Tensor:
        """The logarithm of the sum of the points' likelihoods, a float32 scalar."""
        return self._log_likelihood


@export("contrib.factorization.gmm")
def gmm(
    inp: TensorLike,
    initial_clusters: TensorLike | str,
    num_clusters: int,
    random_seed: int | None,
    covariance_type: str = _FULL,
    params: str = "wmc",
) -> Gmm:
    """The graph that fits a mixture of Gaussians to points.

    Args:
      inp: float32 Tensor [n, d].
      initial_clusters: the first means, [num_clusters, d], or "random" for points.
      num_clusters: the number of Gaussians.
      random_seed: the seed of the random points.
      covariance_type, params: see `tf.contrib.factorization.GmmAlgorithm`.

    Returns:
      The log likelihood, a float32 scalar; the points' scores, float32 [n, 1]; their
      classes, an int64 Tensor [n] in a list in a list; the op of a training step; the
      op to run before; and a bool variable, True once it has run.

    Raises:
      Exception: there is no such `covariance_type` (TensorFlow's class).

    Example:
      >>> loss, scores, classes, train_op, init_op, _ = tf.contrib.factorization.gmm(
      ...     x, "random", 2, random_seed=1)

    Source: contrib/factorization/python/ops/gmm_ops.py.
    """
    is_random = isinstance(initial_clusters, str) and initial_clusters == "random"
    means = None if is_random else convert(initial_clusters, dtype=float32)
    algorithm = GmmAlgorithm(
        [inp], num_clusters, means, params, covariance_type, random_seed
    )
    return (
        algorithm.log_likelihood_op(),
        algorithm.scores(),
        [algorithm.assignments()],
        algorithm.training_ops(),
        algorithm.init_ops(),
        algorithm.is_initialized(),
    )
