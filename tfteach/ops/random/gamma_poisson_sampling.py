"""Rejection sampling in TensorFlow's order of draws: gamma and Poisson.

Each number draws from its own range of blocks until a candidate is accepted; so all
numbers take each step together, and those accepted drop out.
Papers: Marsaglia, Tsang, "A simple method for generating gamma variables" (2000);
Knuth, TAOCP 2, 3.4.1; Hörmann, "The transformed rejection method for generating Poisson
random variables" (1993).
Source: core/kernels/random_op.cc, random_poisson_op.cc.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfteach.ops.random.philox import (
    RESERVED_BLOCKS,
    Array,
    Philox,
    box_muller_float64,
    uniform_float64,
)
from tfteach.ops.special.erf_lgamma import special_of

_FEW_EVENTS = 10  # up to this mean Poisson numbers are sampled by counting events


class _Draws:
    """Pairs of float64 numbers of one kind, returned last first."""

    def __init__(self, count: int, make: Callable[[Array], Array]) -> None:
        self.make = make
        self.pairs = np.empty((count, 2))
        self.left = np.zeros(count, np.intp)


class _Lanes:
    """For each of `count` numbers its stream position, and numbers drawn ahead."""

    def __init__(self, generator: Philox, count: int) -> None:
        self.generator = generator
        self.block = np.arange(count, dtype=np.uint64) * np.uint64(RESERVED_BLOCKS)
        self._uniform = _Draws(count, uniform_float64)
        self._normal = _Draws(count, box_muller_float64)

    def uniform(self, lanes: Array) -> Array:
        """The next uniform number of each lane."""
        return self._next(self._uniform, lanes)

    def normal(self, lanes: Array) -> Array:
        """The next normal number of each lane."""
        return self._next(self._normal, lanes)

    def _next(self, draws: _Draws, lanes: Array) -> Array:
        empty = lanes[draws.left[lanes] == 0]
        if empty.size:
            words = self.generator.blocks_at(self.block[empty])
            draws.pairs[empty] = draws.make(words).reshape(-1, 2)
            self.block[empty] += np.uint64(1)
            draws.left[empty] = 2
        draws.left[lanes] -= 1
        return draws.pairs[lanes, draws.left[lanes]]


def _per_parameter(parameters: Array, samples: int) -> Array:
    return np.repeat(parameters.reshape(-1).astype(np.float64), samples)


def gammas(generator: Philox, alpha: Array, samples: int) -> Array:
    """`samples` gamma numbers for each alpha > 0: float64 [samples, alphas]."""
    shapes = _per_parameter(alpha, samples)
    lanes = _Lanes(generator, shapes.size)
    found = np.empty(shapes.size)
    is_exponential = shapes == 1
    ones = np.flatnonzero(is_exponential)
    found[ones] = -np.log1p(-lanes.uniform(ones))
    is_small = shapes < 1
    d = shapes + np.where(is_small, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / np.sqrt(d)
    pending = np.flatnonzero(~is_exponential)
    while pending.size:
        x = lanes.normal(pending)
        v = 1 + c[pending] * x
        positive = v > 0
        tried, x, v = pending[positive], x[positive], v[positive]
        v = v * v * v
        u = lanes.uniform(tried)
        accepted = (u < 1 - 0.0331 * (x * x) * (x * x)) | (
            np.log(u) < 0.5 * x * x + d[tried] * (1 - v + np.log(v))
        )
        done = tried[accepted]
        found[done] = d[done] * v[accepted]
        small = done[is_small[done]]
        found[small] *= np.power(lanes.uniform(small), 1 / shapes[small])
        pending = np.setdiff1d(pending, done, assume_unique=True)
    return found.reshape(-1, samples).T


def poissons(generator: Philox, rate: Array, samples: int) -> Array:
    """`samples` Poisson numbers for each rate >= 0: float64 [samples, rates]."""
    means = _per_parameter(rate, samples)
    lanes = _Lanes(generator, means.size)
    found = np.zeros(means.size)
    few = np.flatnonzero(means < _FEW_EVENTS)
    _count_events(lanes, few, means, found)
    _transformed_rejection(lanes, np.flatnonzero(means >= _FEW_EVENTS), means, found)
    return found.reshape(-1, samples).T


def _count_events(lanes: _Lanes, pending: Array, means: Array, found: Array) -> None:
    """The number of events until the sum of their waiting times exceeds 1."""
    limit = np.exp(-means)
    product = np.ones(means.size)
    while pending.size:
        product[pending] *= lanes.uniform(pending)
        pending = pending[product[pending] > limit[pending]]
        found[pending] += 1


def _transformed_rejection(
    lanes: _Lanes, pending: Array, means: Array, found: Array
) -> None:
    log_gamma = special_of(np).gammaln
    while pending.size:
        mean = means[pending]
        b = 0.931 + 2.53 * np.sqrt(mean)
        a = -0.059 + 0.02483 * b
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        u = lanes.uniform(pending) - 0.5
        v = lanes.uniform(pending)
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * a / shifted + b) * u + mean + 0.43)
        accepted = (shifted >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        refused = (k < 0) | ((shifted < 0.013) & (v > shifted))
        at = np.flatnonzero(~accepted & ~refused)
        if at.size:
            s = np.log(v[at] * inverse_alpha[at] / (a[at] / shifted[at] ** 2 + b[at]))
            t = -mean[at] + k[at] * np.log(mean[at]) - log_gamma(k[at] + 1)
            accepted[at] = s <= t
        found[pending[accepted]] = k[accepted]
        pending = pending[~accepted]
