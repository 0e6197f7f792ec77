"""The critical path of a run: what each op waited for, and so what bounds the step.

The longest chain of ops that had to follow each other (op_chains.py) is the path.  What
passes between them is waiting: for a thread while all are busy with other ops,
else for the host to start the next.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from tfteach.engine.devices.card_models import LAUNCH_S
from tfteach.explain.profiling.op_chains import (
    COPIES,
    TOLERANCE_US,
    Chains,
    Threads,
    in_time,
)
from tfteach.explain.profiling.timing import (
    OpTime,
    StepTimes,
    lane_of,
    time_text,
    timed,
)
from tfteach.framework.type_aliases import FeedDict

__all__ = [
    "Bound",
    "CriticalPath",
    "Idle",
    "PathPart",
    "critical_path_of",
    "explain_critical_path",
]

THREAD, HOST, GAPS = "one thread", "waiting for the host", "the time between ops"
SHORT = {"launch": "launches", "host": "host", "gap": "gaps"}  # by their kind
MOST_PARTS = 20
LEAST_SHARE = 0.02  # smaller ones are not worth a word
ALIKE = 0.1  # between the shares of devices that are told together


class PathPart(NamedTuple):
    """A stretch of the critical path.

    Attributes:
      op: the op that runs, or if `is_wait` the op that could not begin yet.
      start_us, elapsed_us: the stretch, after the start of the run's first op.
      bound: what it is due to, such as "the compute of GPU:0", "the link" or "one
        thread".
      because: why the op began no sooner; "" for the first one.
      is_wait: True if no op of the path runs.
    """

    op: OpTime
    start_us: float
    elapsed_us: float
    bound: str
    because: str = ""
    is_wait: bool = False


class Bound(NamedTuple):
    """What a share of the critical path is due to.

    Attributes:
      name: such as "the compute of GPU:0".
      elapsed_us: its parts of the path.
      share: of the run, from 0 to 1.
      kind: "compute", "launch", "copy", "host", "thread" or "gap".
      of: the `bound` of its parts: its name, and for the starts of kernels the name of
        their compute.
    """

    name: str
    elapsed_us: float
    share: float
    kind: str
    of: str

    @property
    def label(self) -> str:
        """A short name, for where there is little room: "GPU:0" or "the link"."""
        return SHORT.get(self.kind, self.name).removeprefix("the compute of ")


class Idle(NamedTuple):
    """When a device neither computes nor copies.

    Attributes:
      lane: its short name.
      share: of the run, from 0 to 1.
      waits: the shares of the run by what the critical path does meanwhile, the
        largest first: another device computes, "the link", "one thread", "the host".
    """

    lane: str
    share: float
    waits: tuple[tuple[str, float], ...]

    @property
    def reason(self) -> str:
        """What the device mostly waits for, in parentheses."""
        if not self.waits or self.share < LEAST_SHARE:
            return ""
        (first, share), *_ = self.waits
        mostly = "" if share > 0.95 * self.share else "mostly "
        if first == GAPS:
            return f" ({mostly}between ops)"
        thing = "a free thread" if "thread" in first else first
        return f" ({mostly}waiting for {thing})"

    def __str__(self) -> str:
        return f"{self.lane} {self.share:.0%}{self.reason}"


class CriticalPath(NamedTuple):
    """Why a run took as long as it did; `print` it.

    Attributes:
      wall_us: the duration of the run.
      parts: the path, from the run's start to its end.
      bounds: what it is due to, the largest share first.
      idle: an `Idle` for each device, in the order of their lanes.
      beside_us: the duration if devices worked at the same time, each op as long and
        nothing between ops.
      chain_us: the longest chain of ops that need each other's results: no number of
        devices or threads makes the run shorter.
      is_modelled: True if times come from the model of a card.
      is_shared: True if one thread ran the ops of several devices. The path is then
        that of the same ops on a thread for each device; the rest of the time is due
        to the one thread.
      one_thread: why it had to be one thread, if it had.
    """

    wall_us: float
    parts: tuple[PathPart, ...]
    bounds: tuple[Bound, ...]
    idle: tuple[Idle, ...]
    beside_us: float = 0.0
    chain_us: float = 0.0
    is_modelled: bool = False
    is_shared: bool = False
    one_thread: str = ""

    @property
    def sentence(self) -> str:
        """What bounds the step, and the next largest shares."""
        if not self.bounds:
            return ""
        first, *others = self.bounds
        verb = "bound" if first.name.endswith(("copies", "threads")) else "bounds"
        said = f"{first.name[:1].upper()}{first.name[1:]} {verb} the step"
        said += f": {first.share:.0%} of its critical path"
        told = [f"{b.name} {b.share:.0%}" for b in others if b.share >= LEAST_SHARE]
        said += f"; then {', '.join(told[:3])}." if told else "."
        return said + self._could_be()

    def _could_be(self) -> str:
        why = f" They cannot: {self.one_thread}." if self.one_thread else ""
        shared_us = sum(b.elapsed_us for b in self.bounds if b.kind == "thread")
        if self.is_shared and shared_us > 0.1 * self.wall_us:
            return (
                " If its devices worked at the same time, the step could take "
                f"{time_text(self.wall_us - shared_us)} of its "
                f"{time_text(self.wall_us)}.{why}"
            )
        if len(self.idle) == 1 and self.chain_us < 0.9 * self.wall_us:
            return (
                " The longest chain of ops that need each other takes "
                f"{time_text(self.chain_us)} of {time_text(self.wall_us)}."
            )
        return ""

    @property
    def idle_sentence(self) -> str:
        """How much each device is idle, and what it then waits for."""
        if len(self.idle) < 2:
            return ""
        said: list[str] = []
        for (_, reason), alike in groupby(self.idle, _kind_and_reason):
            group = list(alike)
            low, high = min(each.share for each in group), max(e.share for e in group)
            if len(group) < 3 or high - low > ALIKE:
                said += map(str, group)
                continue
            shares = dict.fromkeys((f"{low:.0%}", f"{high:.0%}"))
            lanes = f"{group[0].lane} to {group[-1].lane}"
            said.append(f"{lanes} {' to '.join(shares)}{reason}")
        return f"Idle: {', '.join(said)}."

    def why(self, op: str) -> str:
        """Tell that an op is on the path, and what bounds the step.

        Args:
          op: the op's name.

        Returns:
          A sentence; "" if the op is not on the path.
        """
        spent = [p for p in self.parts if p.op.name == op and not p.is_wait]
        if not spent:
            return ""
        elapsed = time_text(sum(part.elapsed_us for part in spent))
        return (
            f"{op!r} is on the critical path of the last timed run: {elapsed} of "
            f"{time_text(self.wall_us)}. {self.sentence.partition(': ')[0]}."
        )

    def __str__(self) -> str:
        if not self.parts:
            return "No critical path: no op was timed."
        model = " (modelled)" if self.is_modelled else ""
        lines = [f"{time_text(self.wall_us)}{model}. {self.sentence}"]
        if self.idle_sentence:
            lines.append(self.idle_sentence)
        shown = [part for part in self.parts if part.elapsed_us > 0]
        longest = sorted(shown, key=lambda part: -part.elapsed_us)[:MOST_PARTS]
        kept = [part for part in shown if part in longest]
        width = max((len(part.bound) for part in kept), default=0)
        lines.append(
            f"{'from':>10}  {'time':>10}  {'due to':<{width}}  "
            "op, which needs the one above unless a reason follows"
        )
        above, needs_above = "", True
        for part in self.parts:
            needs_above &= part.because in ("", f"needs {above}")
            above = above if part.is_wait else part.op.name
            if part not in kept:
                continue
            what = f"before {part.op.name}" if part.is_wait else part.op.name
            why = "" if needs_above else f"  ({part.because})"
            needs_above = True
            lines.append(
                f"{time_text(part.start_us):>10}  {time_text(part.elapsed_us):>10}  "
                f"{part.bound:<{width}}  {what}{why}"
            )
        if rest := len(shown) - len(kept):
            short_us = sum(p.elapsed_us for p in shown) - sum(
                p.elapsed_us for p in kept
            )
            parts = "1 shorter part" if rest == 1 else f"{rest} shorter parts"
            lines.append(f"and {parts}, {time_text(short_us)} in total")
        return "\n".join(lines)


def explain_critical_path(
    session: object,
    fetches: object,
    feed_dict: FeedDict | None = None,
    runs: int = 5,
    unfolded: bool = False,
) -> CriticalPath:
    """Run several times with full tracing, and return the critical path of the fastest.

    Args:
      session: an open session.
      fetches: as for `session.run`. The runs have their usual effects: a training op
        trains.
      feed_dict: as for `session.run`.
      runs: the number of timed runs; one more precedes them to warm up.
      unfolded: True to run every op, constants included, without the optimizer.

    Returns:
      A `CriticalPath`; `print` it.

    Raises:
      ValueError: `runs` is less than 1.

    Example:
      >>> x = tf.placeholder(tf.float32, [300, 300], name="x")
      >>> y = tf.matmul(x, x, name="y")
      >>> with tf.Session() as sess:
      ...     path = explain_critical_path(sess, y, {x: np.ones([300, 300])})
      >>> path.sentence
      'The compute of CPU:0 bounds the step: ...% of its critical path...'
      >>> [part.op.name for part in path.parts]
      ['y']
    """
    return critical_path_of(timed(session, fetches, feed_dict, runs, unfolded))


def critical_path_of(times: StepTimes) -> CriticalPath:
    """The critical path of a run that was timed.

    Args:
      times: the `StepTimes` of `timed` or `times_of`.

    Returns:
      A `CriticalPath`; `print` it.

    Example:
      >>> x = tf.placeholder(tf.float32, [300, 300])
      >>> with tf.Session() as sess:
      ...     times = timed(sess, tf.exp(x), {x: np.ones([300, 300])})
      >>> critical_path_of(times).bounds[0].name
      'the compute of CPU:0'
    """
    if not times.ops:
        return CriticalPath(0.0, (), (), ())
    path = _Path(times)
    parts = tuple(path.parts())
    return CriticalPath(
        path.wall_us,
        parts,
        tuple(path.bounds(parts)),
        tuple(path.idle(parts)),
        path.chain[-1].until_us,
        path.chains.longest(with_lanes=False)[-1].until_us,
        bool(times.cards),
        path.is_shared,
        times.one_thread,
    )


class _Path:
    """The path of a run, and what its parts are due to."""

    def __init__(self, times: StepTimes) -> None:
        self.chains = Chains(times)
        self.times = times
        self.wall_us = max(op.end_us for op in times.ops)
        self._has_gpus = any("GPU" in lane_of(op) for op in times.ops)
        is_cluster = len({_task(op) for op in times.ops}) > 1  # many pools of threads
        self._threads = Threads(() if is_cluster else times.ops)
        count = self._threads.count
        self._threads_name = THREAD if count == 1 else f"{count} threads"
        devices = {op.device for op in times.ops}
        one_thread = count == 1 and len(devices) > 1
        self.is_shared = one_thread and not times.cards
        self.chain = (
            self.chains.beside_each_other() if self.is_shared else self.chains.longest()
        )

    def parts(self) -> Iterator[PathPart]:
        if self.is_shared:  # its ops may have run in another order
            for link in self.chain:
                op, bound = link.op, self._bound(link.op)
                yield PathPart(op, op.start_us, op.elapsed_us, bound, link.because)
            return
        at_us = 0.0
        for link in self.chain:
            op = link.op
            yield from self._waits(op, at_us, link.began_us)
            elapsed_us = op.end_us - link.began_us
            bound = self._bound(op)
            yield PathPart(op, link.began_us, elapsed_us, bound, link.because)
            at_us = op.end_us
        yield from self._waits(self.chain[-1].op, at_us, self.wall_us)

    def _waits(self, op: OpTime, from_us: float, to_us: float) -> Iterator[PathPart]:
        wait_us = to_us - from_us
        if wait_us <= TOLERANCE_US:
            return
        full_us = 0.0 if self.times.cards else self._threads.full_us(from_us, to_us)
        if full_us > TOLERANCE_US:
            yield PathPart(op, from_us, full_us, self._threads_name, is_wait=True)
        if wait_us - full_us > TOLERANCE_US:
            bound = HOST if self._has_gpus else GAPS
            rest = from_us + full_us, wait_us - full_us
            yield PathPart(op, *rest, bound, is_wait=True)

    def _bound(self, op: OpTime) -> str:
        if op.op_type in COPIES:
            if _task(self.chains.sender(op)) != _task(op):
                return "the network"
            return "the link" if op.model else "copies"
        if self._has_gpus and "CPU" in lane_of(op):
            return HOST
        return f"the compute of {lane_of(op)}"

    def bounds(self, parts: Sequence[PathPart]) -> list[Bound]:
        spent = defaultdict[tuple[str, str], float](float)
        for part in parts:
            key = part.bound, part.bound
            spent[key] += part.elapsed_us
            if part.op.model and kind_of(part.bound) == "compute":
                launch_us = min(part.elapsed_us, LAUNCH_S * 1e6)
                launches = f"starting kernels on {lane_of(part.op)}"
                spent[launches, part.bound] += launch_us
                spent[key] -= launch_us
        if self.is_shared:
            spent[HOST, HOST] += sum(end - start for start, end in self._gaps())
            spent[THREAD, THREAD] = max(0.0, self.wall_us - sum(spent.values()))
        found = [
            Bound(name, us, us / self.wall_us, kind_of(name), of)
            for (name, of), us in spent.items()
            if us > TOLERANCE_US
        ]
        return sorted(found, key=lambda bound: (-bound.elapsed_us, bound.name))

    def idle(self, parts: Sequence[PathPart]) -> Iterator[Idle]:
        """For each device, when it does nothing, and what the path does meanwhile."""
        lanes: dict[str, list[OpTime]] = {op.device: [] for op in self.times.ops}
        for op in self.times.ops:
            lanes[op.device].append(op)
        meanwhile = [(p.bound, p.start_us, p.start_us + p.elapsed_us) for p in parts]
        if self.is_shared:
            bounds = {id(part.op): part.bound for part in parts}
            meanwhile = [
                (bounds.get(id(op), THREAD), op.start_us, op.end_us)
                for op in self.times.ops
            ]
            meanwhile += [(HOST, *gap) for gap in self._gaps()]
        for ops in map(lanes.__getitem__, sorted(lanes)):
            gaps = list(_gaps(ops, self.wall_us))
            ends = [end_us for _, end_us in gaps]
            waits: dict[str, float] = {}
            for bound, start_us, end_us in meanwhile:
                name = bound.removeprefix("the compute of ").removeprefix(
                    "waiting for "
                )
                number = bisect.bisect_right(ends, start_us)
                while number < len(gaps) and gaps[number][0] < end_us:
                    both_us = min(end_us, ends[number]) - max(start_us, gaps[number][0])
                    waits[name] = waits.get(name, 0.0) + both_us / self.wall_us
                    number += 1
            idle = sum(end - start for start, end in gaps) / self.wall_us
            ranked = sorted(waits.items(), key=lambda wait: (-wait[1], wait[0]))
            yield Idle(lane_of(ops[0]), idle, tuple(ranked))

    def _gaps(self) -> Iterator[tuple[float, float]]:
        return _gaps(self.times.ops, self.wall_us)


def _gaps(ops: Sequence[OpTime], wall_us: float) -> Iterator[tuple[float, float]]:
    """When none of some ops runs."""
    end_us = 0.0
    for op in sorted(ops, key=in_time):
        if op.elapsed_us and op.start_us > end_us:
            yield end_us, op.start_us
        end_us = max(end_us, op.end_us if op.elapsed_us else 0.0)
    if wall_us > end_us:
        yield end_us, wall_us


def kind_of(bound: str) -> str:
    """What a bound is: "compute", "launch", "copy", "host", "thread" or "gap"."""
    if bound.startswith(("the compute", "starting")):
        return "compute" if bound.startswith("the") else "launch"
    if bound in (HOST, GAPS):
        return "host" if bound == HOST else "gap"
    return "thread" if "thread" in bound else "copy"


def _kind_and_reason(idle: Idle) -> tuple[str, str]:
    return idle.lane.rpartition(":")[0], idle.reason


def _task(op: OpTime) -> str:
    return op.device.rpartition("/device:")[0]
