"""`tf.simulate_cluster`: the modelled step time of a cluster of any size."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.lib.distributed_runtime.simulated.cluster_clock import (
    Gradient,
    Network,
    Stragglers,
    gradients,
)
from tfteach.lib.distributed_runtime.simulated.network_links import (
    LATENCY_S,
    NETWORK_LINKS,
)

if TYPE_CHECKING:
    from tfteach.framework.operation import Tensor
    from tfteach.framework.type_aliases import FeedDict
    from tfteach.lib.distributed_runtime.simulated.stale_gradients import LossCurves
    from tfteach.lib.training.optimizer import Optimizer

SYNCHRONOUS, ASYNCHRONOUS = "synchronous", "asynchronous"
STEPS = 100  # of which the figures are means
SATURATED = 0.9


class TrainingTimes(NamedTuple):
    """The modelled training speed of a cluster in one mode.

    Attributes:
      name: "synchronous", "with 4 backup workers" or "asynchronous".
      update_s: from one update of the variables to the next.
      gradients_per_s: those that updates are made of.
      staleness: the updates between reading the variables and applying the gradient.
      dropped: the share of the gradients that came too late.
      network_share: the share of the time in which the links of the parameter servers
        carry all they can, in one direction at least.
      formula: how `update_s` comes about.
    """

    name: str
    update_s: float
    gradients_per_s: float
    staleness: float
    dropped: float
    network_share: float
    formula: str

    @property
    def is_saturated(self) -> bool:
        """True if the network is saturated: more workers would not help."""
        return self.network_share >= SATURATED


class SimulatedCluster:
    """A cluster that exists as a model; see `tf.simulate_cluster`.

    `print` it for a table; a notebook shows how it scales.

    Attributes:
      workers, ps, link, seed: as given.
      backup_workers: of the workers, those whose gradients a step does not wait for.
      network: a `Network`, and `stragglers`: a `Stragglers`, for the clock.
      times: a `TrainingTimes` for each way to train.
    """

    def __init__(
        self,
        workers: int,
        backup_workers: int,
        link: str,
        network: Network,
        stragglers: Stragglers,
        seed: int,
    ) -> None:
        self.workers = workers
        self.ps = network.ps
        self.backup_workers = backup_workers
        self.link = link
        self.network = network
        self.stragglers = stragglers
        self.seed = seed
        self.times = [self._times(name, needed) for name, needed in self.ways.items()]

    @property
    def ways(self) -> dict[str, int | None]:
        """Each training mode, with the gradients per update; None for asynchronous."""
        found: dict[str, int | None] = {SYNCHRONOUS: self.workers}
        if self.backup_workers:
            word = "worker" if self.backup_workers == 1 else "workers"
            name = f"with {self.backup_workers} backup {word}"
            found[name] = self.workers - self.backup_workers
        return {**found, ASYNCHRONOUS: None}

    @property
    def saturates_at(self) -> int:
        """The number of workers that saturates the parameter servers' links.

        A worker needs its own link for `model_bytes`, reads and sends; the parameter
        servers serve `ps` of them at full rate, and others while these compute.
        """
        transfer_s = self.network.model_bytes / self.network.bytes_per_s
        cycle_s = 2 * (transfer_s + self.network.latency_s) + self._mean_compute_s()
        return -int(-self.ps * cycle_s // transfer_s)

    def gradients(self, way: str) -> Iterator[Gradient]:
        """The gradients in order of arrival, an infinite iterator.

        Args:
          way: a name in `ways`.

        Raises:
          ValueError: there is no such way.
        """
        if way not in self.ways:
            raise ValueError(f"way must be one of {', '.join(self.ways)}, not {way!r}")
        known = self.network, self.stragglers, self.workers, self.ways[way], self.seed
        return gradients(*known)

    def at(self, workers: int) -> SimulatedCluster:
        """The same cluster with another number of workers."""
        backup = round(self.backup_workers * workers / self.workers)
        return SimulatedCluster(
            workers, min(backup, workers - 1), self.link, self.network,
            self.stragglers, self.seed,
        )  # fmt: skip

    def scaling(self) -> list[SimulatedCluster]:
        """The same cluster with 1, 2, 4 workers and so on, up to twice as many."""
        counts = [1]
        while 2 * counts[-1] <= 2 * self.workers:
            counts.append(2 * counts[-1])
        return [self.at(workers) for workers in counts]

    def train(
        self,
        loss: Tensor,
        feeds: Callable[[int, int], FeedDict],
        optimizer: Optimizer | None = None,
        updates: int = 20,
        evaluate: FeedDict | None = None,
        points: int = 40,
    ) -> LossCurves:
        """The loss over modelled time, with gradients that are really computed.

        Each gradient is computed at the values that its worker would have read, and
        applied when it would arrive. All ways begin with the same values, and have the
        time that `updates` synchronous ones take.

        Args:
          loss: a scalar of a small model in this process. The graph gets ops to load
            variables and to apply gradients.
          feeds: `feeds(worker, k)` returns the feeds of a worker's k-th gradient.
          optimizer: a tf.train.Optimizer; by default gradient descent with rate 0.1.
          updates: synchronous updates.
          evaluate: the feeds of the loss in the curves; those of the first gradient by
            default.
          points: of each curve, at most.

        Returns:
          A `LossCurves`; `print` it.

        Raises:
          ValueError: the loss has no trainable variables, or there are no updates.

        Example:
          >>> w = tf.Variable(3.0)
          >>> cluster = tf.simulate_cluster(workers=4, seed=1)
          >>> curves = cluster.train(tf.square(w), lambda worker, k: {}, updates=5)
          >>> sorted(curves.curves)
          ['asynchronous', 'synchronous', 'with 1 backup worker']
        """
        from tfteach.lib.distributed_runtime.simulated.stale_gradients import (
            LossCurves,
            train,
        )

        if updates < 1 or points < 2:
            raise ValueError(
                f"updates must be at least 1 and points 2, got {updates} and {points}"
            )
        arriving = {w: (n or 1, self.gradients(w)) for w, n in self.ways.items()}
        until_s = self._time_of(updates)
        curves = train(arriving, until_s, loss, feeds, optimizer, evaluate, points)
        staleness = {times.name: times.staleness for times in self.times}
        return LossCurves(curves, self.workers, staleness)

    def _time_of(self, updates: int) -> float:
        """The modelled time of the last of a number of synchronous updates."""
        last = updates * self.workers - 1
        return next(itertools.islice(self.gradients(SYNCHRONOUS), last, None)).at_s

    def _times(self, name: str, needed: int | None) -> TrainingTimes:
        """Run the clock for a number of updates, and average."""
        count = STEPS if needed is not None else STEPS * self.workers
        arrived = used = dropped = stale = 0
        at_s = full_s = 0.0
        for gradient in self.gradients(name):
            arrived += 1
            used += gradient.is_used
            dropped += not gradient.is_used
            stale += gradient.staleness if gradient.is_used else 0
            at_s, full_s = gradient.at_s, gradient.full_s
            if used == count * (needed or 1):
                break
        return TrainingTimes(
            name,
            at_s / count,
            used / at_s,
            stale / used,
            dropped / arrived,
            full_s / at_s,
            self._formula(needed),
        )

    def _mean_compute_s(self) -> float:
        known = self.stragglers
        usual = sum(known.slow_workers.get(w, 1.0) for w in range(self.workers))
        slowed = 1 + known.share * (known.slowdown - 1)
        return known.compute_s * usual / self.workers * slowed

    def _formula(self, needed: int | None) -> str:
        size, ps, rate, latency_s = self.network
        one = f"{size / 1e6:g} MB / {rate / 1e9:.3g} GB/s"
        if needed is None:
            network = f"{one} / {ps} ps"
            worker = f"2 x ({latency_s * 1e6:g} us + {one}) + compute"
            return f"max({network}, ({worker}) / {self.workers} workers)"
        sharing = max(1.0, self.workers / ps)
        return (
            f"2 x ({latency_s * 1e6:g} us + {one} x {sharing:g} sharing a link) + the "
            f"compute of the {'slowest' if needed == self.workers else f'{needed}th'}"
        )

    @property
    def summary(self) -> str:
        """One line: what is modelled, and where its network is the limit."""
        size = f"{self.network.model_bytes / 1e6:g} MB"
        return (
            f"A model of {self.workers} workers and {self.ps} ps with "
            f"{NETWORK_LINKS[self.link].name}, {size} of "
            f"variables, {self.stragglers.compute_s:g} s per gradient: the links of "
            f"the ps are full from {self.saturates_at} asynchronous workers on."
        )

    def __str__(self) -> str:
        width = max(len(times.name) for times in self.times)
        lines = [
            self.summary,
            f"{'':{width}}  per update  gradients/s  staleness  dropped  ps links full",
        ]
        for times in self.times:
            lines.append(
                f"{times.name:{width}}  {_seconds(times.update_s):>10}  "
                f"{times.gradients_per_s:>11.1f}  {times.staleness:>9.1f}  "
                f"{times.dropped:>7.1%}  {times.network_share:>13.0%}"
            )
        lines.append("time per update:")
        lines += [f"{times.name:{width}}  {times.formula}" for times in self.times]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"SimulatedCluster(workers={self.workers}, ps={self.ps}, {self.link})"


def simulate_cluster(
    workers: int,
    ps: int = 1,
    link: str = "10GbE",
    compute_s: float = 0.1,
    model_bytes: float | None = None,
    stragglers: float | Mapping[int, float] = 0.0,
    slowdown: float = 4.0,
    backup_workers: int | None = None,
    seed: int = 0,
) -> SimulatedCluster:
    """Model how a cluster with parameter servers would train, on one clock.

    A worker reads all variables over its link, computes a gradient, and sends it back;
    the parameter servers hold equal parts. All links are full duplex, and those who use
    the link of a parameter server at the same time share it equally. It is a model:
    nothing is started, and applying gradients takes no time.

        transfer = model_bytes / rate x max(1, those who transfer / ps)
        synchronous update = 2 x (latency + transfer) + compute of the slowest worker
        asynchronous updates/s = min(workers / (2 x (latency + transfer) + compute),
                                     ps x rate / model_bytes)

    Rates are those of the standards (IEEE 802.3 for Ethernet), of which TCP's payload
    is 1460 of 1538 bytes; the latency of 50 us is an assumption.

    Args:
      workers: their number; each has a machine.
      ps: the number of parameter servers; each has a machine.
      link: of each machine: "1GbE", "10GbE", "25GbE", "40GbE", "100GbE", "200GbE", or
        InfiniBand "EDR" or "HDR".
      compute_s: what a gradient takes.
      model_bytes: of all variables; by default of the default graph's trainable ones.
        ResNet-50 has 102e6.
      stragglers: the share of gradients that take `slowdown` times as long, or a dict
        worker -> how many times as long its gradients always take.
      slowdown: see `stragglers`.
      backup_workers: how many of the workers a step does not wait for, as with
        `tf.train.SyncReplicasOptimizer(replicas_to_aggregate=workers - backup)`. By
        default one in 16, and one of few.
      seed: of the choice of slow gradients.

    Returns:
      A `SimulatedCluster`: `print` it for a table, and see its `train`.

    Raises:
      ValueError: a number is out of range, there is no such link, or no variables.

    Example:
      >>> cluster = tf.simulate_cluster(
      ...     workers=64, ps=8, link="10GbE", model_bytes=102e6, stragglers=0.02
      ... )
      >>> print(cluster)
      A model of 64 workers and 8 ps with 10 Gigabit Ethernet, 102 MB of variables, ...
      >>> [times.name for times in cluster.times]
      ['synchronous', 'with 4 backup workers', 'asynchronous']

    Source: arXiv:1604.00981 (backup workers); IEEE 802.3 (rates).
    """
    if workers < 1 or ps < 1:
        raise ValueError(f"workers and ps must be at least 1, got {workers} and {ps}")
    if link not in NETWORK_LINKS:
        known = ", ".join(NETWORK_LINKS)
        raise ValueError(f"link={link!r} is not known; choose one of {known}")
    if backup_workers is None:
        backup_workers = min(workers - 1, max(1, workers // 16))
    if not 0 <= backup_workers < workers:
        raise ValueError(
            f"backup_workers must be in [0, {workers}), not {backup_workers}"
        )
    share, slow = (0.0, stragglers) if isinstance(stragglers, Mapping) else (
        stragglers, {}
    )  # fmt: skip
    if not 0 <= share <= 1 or compute_s <= 0 or slowdown < 1:
        raise ValueError(
            "stragglers must be in [0, 1], compute_s positive and slowdown at least 1, "
            f"got {share}, {compute_s} and {slowdown}"
        )
    if any(not 0 <= w < workers or factor <= 0 for w, factor in slow.items()):
        raise ValueError(f"stragglers must map workers to factors, got {dict(slow)}")
    if model_bytes is None:
        model_bytes = _trainable_bytes()
    if model_bytes <= 0:
        raise ValueError("No trainable variables; pass model_bytes")
    network = Network(model_bytes, ps, NETWORK_LINKS[link].bytes_per_s, LATENCY_S)
    known_slow = Stragglers(compute_s, share, slowdown, dict(slow))
    return SimulatedCluster(workers, backup_workers, link, network, known_slow, seed)


def _trainable_bytes() -> float:
    """The total size of the default graph's variables."""
    variables = get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)
    return float(
        sum(v.shape.num_elements() * v.dtype.base_dtype.size for v in variables)
    )


def _seconds(value_s: float) -> str:
    return f"{value_s:.2f} s" if value_s >= 1 else f"{value_s * 1e3:.1f} ms"
