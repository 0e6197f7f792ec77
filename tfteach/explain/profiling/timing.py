"""Where the time of a run goes: op by op, by op type, by scope."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.engine.plan.partition import Recv, Send
from tfteach.engine.session.unfolded import is_unfolded
from tfteach.engine.session.unfolded import unfolded as as_graph
from tfteach.explain.profiling.task_stats import joined
from tfteach.explain.runs.cluster_plan import label_of
from tfteach.explain.runs.folding import NOTHING, Folded, folded_run, why_one_thread
from tfteach.framework import protos
from tfteach.framework.graph import Graph
from tfteach.framework.type_aliases import FeedDict

__all__ = ["OpTime", "StepTimes", "Total", "timed", "times_of"]

_FRAME = ("_Arg", "_Retval")
# TensorFlow's names for the feed of x:0 and for the halves of copies.
_ARGUMENT = re.compile(r"^_arg_(.+)_(\d+)_\d+(?=$|/_\d+$)")
_HALF = re.compile(r"/_\d+$")
_COPY = re.compile(r"(.+)/_(\d+):(_Send|_Recv)")
_WHERE = re.compile(r"device=([^,]+)")
_MODELLED = re.compile(r"\[modelled: (.*?)\] ")
_LABEL = re.compile(r".* = (\w+)\((.*)\)")
MOST_LINES = 25
_LAST: WeakKeyDictionary[Graph, StepTimes] = WeakKeyDictionary()


class OpTime(NamedTuple):
    """The execution of one op.

    Attributes:
      name: the op's name.
      op_type: the op's type.
      device: the full name of the device.
      thread: the number of the thread.
      start_us: the start, in microseconds after that of the run's first op.
      elapsed_us: the duration in microseconds.
      size_bytes: the size of its outputs.
      inputs: the names of its inputs; "^name" for control inputs.
      is_simulated: True if the device is a simulated GPU.
      model: how `elapsed_us` comes about, if it is modelled; "" if it was measured.
      host_thread: the number of the thread that ran it, on any device; 0 if unknown.
    """

    name: str
    op_type: str
    device: str
    thread: int
    start_us: float
    elapsed_us: float
    size_bytes: int
    inputs: tuple[str, ...]
    is_simulated: bool = False
    model: str = ""
    host_thread: int = 0

    @property
    def end_us(self) -> float:
        """The end, in microseconds after the start of the run's first op."""
        return self.start_us + self.elapsed_us


class Total(NamedTuple):
    """The ops of one type or scope in one run, added up.

    Attributes:
      name: the type or scope.
      calls: the number of ops executed.
      elapsed_us: their time in microseconds.
      size_bytes: the size of their outputs.
      share: their share of the time of all ops, from 0 to 1.
    """

    name: str
    calls: int
    elapsed_us: float
    size_bytes: int
    share: float


class StepTimes(NamedTuple):
    """The ops of a run over time; `print` it for totals by type.

    Attributes:
      ops: an `OpTime` for each op of the fastest run, in the order in which they began.
      wall_us: for each timed run, microseconds from the start of the first op to the
        end of the last one.
      folded: a `Folded`: the ops that the session's optimizer leaves out of the run.
      unfolded: True if the run was made without the optimizer.
      cards: device name -> the card that its times are modelled after.
      through: name -> inputs of the nodes that have no kernel, such as constants and
        `tf.group`: the ops behind them wait for those before.
      one_thread: why one thread had to run the ops of all devices; "" if it need not.
    """

    ops: tuple[OpTime, ...]
    wall_us: tuple[float, ...]
    folded: Folded = NOTHING
    unfolded: bool = False
    cards: Mapping[str, str] = MappingProxyType({})
    through: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    one_thread: str = ""

    @property
    def busy_us(self) -> float:
        """The time of all ops together; the rest of `wall_us` lies between ops."""
        return sum(op.elapsed_us for op in self.ops)

    def busy_share(self, device: str) -> float:
        """The share of the run in which a device computes or copies.

        Args:
          device: its name, as in `OpTime.device`.

        Returns:
          A number from 0 to 1.
        """
        end_us = busy_us = 0.0
        for op in self.ops:  # in the order of their starts
            if op.device == device:
                busy_us += max(0.0, op.end_us - max(op.start_us, end_us))
                end_us = max(end_us, op.end_us)
        return busy_us / (max((op.end_us for op in self.ops), default=0.0) or 1.0)

    def copies(self) -> list[tuple[OpTime, OpTime]]:
        """The copies between devices: the `_Send` and the `_Recv` of each.

        Returns:
          A list of (send, receive), in the order in which they were received.
        """
        sent = {op.name: op for op in self.ops if op.op_type == Send.op_type}
        return [
            (sent[op.inputs[0]], op)
            for op in self.ops
            if op.op_type == Recv.op_type and op.inputs[:1] and op.inputs[0] in sent
        ]

    def by_type(self) -> list[Total]:
        """Totals by op type.

        Returns:
          A list of `Total`, the longest first.
        """
        return self._totals(lambda op: op.op_type)

    def by_scope(self, depth: int = 1) -> list[Total]:
        """Totals by name scope.

        Args:
          depth: the number of scope levels to distinguish. Ops outside scopes have a
            total each.

        Returns:
          A list of `Total`, the longest first.
        """
        return self._totals(lambda op: _scope(op.name, depth))

    def _totals(self, key: Callable[[OpTime], str]) -> list[Total]:
        groups: dict[str, list[OpTime]] = {}
        for op in self.ops:
            groups.setdefault(key(op), []).append(op)
        busy = self.busy_us or 1.0
        totals = []
        for name, ops in groups.items():
            spent = sum(op.elapsed_us for op in ops)
            size = sum(op.size_bytes for op in ops)
            totals.append(Total(name, len(ops), spent, size, spent / busy))
        return sorted(totals, key=lambda total: (-total.elapsed_us, total.name))

    @property
    def summary(self) -> str:
        """One line: the duration of the run, and the op type that takes most of it."""
        if not self.ops:
            known = self.folded.is_notable  # from RunMetadata alone it is not
            why = "" if known else " Constants are computed once, before the run."
            return f"Nothing was timed: no op ran.{why}"
        count = len(self.wall_us)
        runs = f"{count} runs, the fastest" if count > 1 else "One run"
        first = self.by_type()[0]
        like = "; ".join(sorted(set(self.cards.values())))
        model = f" (a model of {like} at peak rates, not measured)" if like else ""
        return (
            f"{runs}: {time_text(min(self.wall_us))}{model}, {len(self.ops)} ops; "
            f"{first.name} takes {first.share:.0%} of their time"
        )

    def __str__(self) -> str:
        rows = self.by_type()
        lines = [self.summary]
        if said := self.folded.sentence(self.unfolded):
            lines.append(said)
        if not rows:
            return "\n".join(lines)
        width = max(len(row.name) for row in rows)
        lines.append(f"{'op type':<{width}}  calls        time  share       bytes")
        for row in rows[:MOST_LINES]:
            spent = time_text(row.elapsed_us)
            lines.append(
                f"{row.name:<{width}}  {row.calls:>5}  {spent:>10}  "
                f"{row.share:>5.1%}  {show_bytes(row.size_bytes):>10}"
            )
        if len(rows) > MOST_LINES:
            lines.append(f"and {len(rows) - MOST_LINES} more types")
        return "\n".join(lines)


def times_of(run_metadata: Any) -> StepTimes:
    """The times in the RunMetadata of a traced run, from tfteach or TensorFlow.

    Rows without a kernel, such as those of feeds and fetches, are left out. Copies
    between devices are recorded from HARDWARE_TRACE on.

    Args:
      run_metadata: a RunMetadata, or its step_stats.

    Returns:
      A `StepTimes`; `print` it.

    Example:
      >>> y = tf.square(tf.placeholder_with_default(2.0, [], name="x"), name="y")
      >>> metadata = tf.RunMetadata()
      >>> with tf.Session() as sess:
      ...     _ = sess.run(
      ...         y,
      ...         options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
      ...         run_metadata=metadata,
      ...     )
      >>> [op.name for op in times_of(metadata).ops]
      ['x', 'y']
    """
    stats, _ = joined(getattr(run_metadata, "step_stats", run_metadata))
    simulated, cards = set[str](), dict[str, str]()
    for device in stats.dev_stats:
        for name in device.thread_names.values():
            what, _, like = name.partition(" ")
            if what == "simulated":
                simulated.add(device.device)
                cards |= {device.device: like} if like else {}
    sizes: dict[str, int] = {}
    origin_ns = min(
        (_start_ns(n) for d in stats.dev_stats for n in d.node_stats), default=0
    )
    found: list[OpTime] = []
    through: dict[str, tuple[str, ...]] = {}
    threads = _threads(stats)
    for device in stats.dev_stats:
        if re.fullmatch("/(host|device:GPU).*", device.device):  # duplicates
            continue
        for node in device.node_stats:
            op = _op_time(node, device.device, origin_ns)
            thread = threads.get(
                (op.name, node.all_start_nanos + node.op_start_rel_nanos), 0
            )
            op = op._replace(
                is_simulated=device.device in simulated, host_thread=thread
            )
            sizes[op.name] = op.size_bytes
            has_kernel = node.all_end_rel_nanos or not node.all_start_nanos
            if has_kernel and op.name != "_SOURCE" and op.op_type not in _FRAME:
                found.append(op)
            else:
                through[op.name] = op.inputs
    for device in stats.dev_stats:
        if device.device.startswith("/host"):
            found += _copies(device, sizes, simulated, origin_ns)
    first = min((op.start_us for op in found), default=0.0)
    ops = [op._replace(start_us=op.start_us - first) for op in found]
    ops.sort(key=lambda op: op.start_us)
    wall_us = max((op.end_us for op in ops), default=0.0)
    return StepTimes(tuple(ops), (wall_us,), cards=cards, through=through)


def timed(
    session: Any,
    fetches: Any,
    feed_dict: FeedDict | None = None,
    runs: int = 5,
    unfolded: bool = False,
) -> StepTimes:
    """Run several times with full tracing, and return the times of the fastest run.

    Other work on the machine only ever slows ops down, sometimes a single op by more
    than all others take: the fastest run is the most representative.

    A traced run executes every op separately, where a plain run may fuse several: the
    shares are right, but a plain run is faster.

    Args:
      session: an open session.
      fetches: as for `session.run`. The runs have their usual effects: a training op
        trains.
      feed_dict: as for `session.run`.
      runs: the number of timed runs; one more precedes them to warm up.
      unfolded: True to run every op, constants included, without the optimizer.

    Returns:
      A `StepTimes`; `print` it.

    Raises:
      ValueError: `runs` is less than 1.

    Example:
      >>> x = tf.placeholder(tf.float32, [None, 2])
      >>> with tf.Session() as sess:
      ...     times = timed(sess, tf.matmul(x, x, transpose_b=True), {x: [[1, 2]]})
      >>> print(times)
      5 runs, the fastest: ..., 1 ops; MatMul takes 100% of their time
      op type  calls        time  share       bytes
      MatMul       1 ...
    """
    return times_and_stats(session, fetches, feed_dict, runs, unfolded)[0]


def times_and_stats(
    session: Any,
    fetches: Any,
    feed_dict: FeedDict | None = None,
    runs: int = 5,
    unfolded: bool = False,
) -> tuple[StepTimes, Any]:
    """As `timed`, with the RunMetadata of the fastest run.

    Returns:
      (times, run_metadata)
    """
    if runs < 1:
        raise ValueError(f"runs must be at least 1, got {runs}")
    unfolded = unfolded or is_unfolded()
    options = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE)
    found = []
    for _ in range(runs + 1):
        metadata = protos.RunMetadata()
        with as_graph(unfolded):
            session.run(fetches, feed_dict, options=options, run_metadata=metadata)
        found.append((times_of(metadata), metadata))
    found = sorted(found[1:], key=lambda pair: pair[0].wall_us[0])
    times, metadata = found[0]
    walls = tuple(each.wall_us[0] for each, _ in found)
    folded = folded_run(session, fetches, feed_dict, unfolded)
    times = times._replace(wall_us=walls, folded=folded, unfolded=unfolded)
    if not unfolded:
        reason = why_one_thread(session, fetches, feed_dict)
        times = times._replace(one_thread=reason)
    _LAST[session.graph] = times
    return times, metadata


def last_times(graph: Graph) -> StepTimes | None:
    """The times of the graph's last timed run, or None."""
    return _LAST.get(graph)


def lane_of(op: OpTime) -> str:
    """The short name of the op's device."""
    return label_of(op.device) or op.device


def _threads(stats: Any) -> dict[tuple[str, int], int]:
    """The threads that ran kernels, by the op's name and the kernel's start."""
    return {
        (row.node_name.rpartition(":")[0], row.all_start_nanos): row.thread_id
        for device in stats.dev_stats
        if device.device.startswith("/host")
        for row in device.node_stats
        if row.all_start_nanos
    }


def _copies(
    host: Any, sizes: dict[str, int], simulated: set[str], origin_ns: int
) -> Iterator[OpTime]:
    """The `_Send` and `_Recv` rows, which only the threads' lanes contain."""
    for node in host.node_stats:
        half = half_of_copy(node)
        if half is None:
            continue
        # What precedes: of a `_Recv` the `_Send`, of a `_Send` that tells the end of an
        # op the constant that it sends.
        source, before = half.source, f"{half.source}/_{half.number - 1}"
        taken = before if half.kind != Send.op_type or before in sizes else source
        start_us, elapsed_us = _span(node, origin_ns)
        yield OpTime(
            half.name,
            half.kind,
            half.device,
            0,
            start_us,
            elapsed_us,
            sizes.get(source, 0),
            (_shown(taken),),
            half.device in simulated,
            _model(node),
            node.thread_id,
        )


class HalfOfCopy(NamedTuple):
    """A `_Send` or `_Recv` in a row of a thread.

    Attributes:
      name: the name as in the graph: "x/_0" if `x:0` is fed.
      kind: the op type.
      source: the name of the node that produced the value.
      number: the number of the node; a `_Recv` has that of its `_Send` plus 1.
      device: the device on which it runs.
    """

    name: str
    kind: str
    source: str
    number: int
    device: str


def half_of_copy(row: Any) -> HalfOfCopy | None:
    """Parse a row of `/host:CPU`; None if it is not half of a copy."""
    copy = _COPY.fullmatch(row.node_name)
    where = _WHERE.search(row.timeline_label)
    if copy is None or where is None:
        return None
    source, number, kind = copy.groups()
    name = _ARGUMENT.sub(r"\1", f"{source}/_{number}")
    return HalfOfCopy(name, kind, source, int(number), where[1])


def _shown(name: str) -> str:
    """An input by its name in the graph."""
    return _ARGUMENT.sub(r"\1" if _HALF.search(name) else r"\1:\2", name)


def _start_ns(node: Any) -> int:
    return int(node.all_start_nanos or 1000 * node.all_start_micros)


def _span(node: Any, origin_ns: int) -> tuple[float, float]:
    """The start and the duration of a row, in microseconds."""
    # Of times since 1970 a float has a resolution of 250 ns.
    start_us = (_start_ns(node) - origin_ns) / 1000
    if node.all_start_nanos:
        return start_us, node.all_end_rel_nanos / 1000
    return start_us, float(node.all_end_rel_micros)


def _op_time(node: Any, device: str, origin_ns: int) -> OpTime:
    match = _LABEL.fullmatch(node.timeline_label)
    kind, inputs = match.groups() if match else ("unknown", "")
    start_us, elapsed_us = _span(node, origin_ns)
    size = 0
    for output in node.output:
        size += output.tensor_description.allocation_description.requested_bytes
    taken = inputs.split(", ") if inputs else []
    return OpTime(
        node.node_name,
        kind,
        device,
        node.thread_id,
        start_us,
        elapsed_us,
        size,
        tuple(map(_shown, taken)),
        model=_model(node),
    )


def _model(node: Any) -> str:
    match = _MODELLED.match(node.timeline_label)
    return match[1] if match else ""


def _scope(name: str, depth: int) -> str:
    parts = name.split("/")
    return "/".join(parts[:depth]) + "/" if len(parts) > depth else name


def time_text(elapsed_us: float) -> str:
    """Microseconds as text: "12.3 us", "4.56 ms"."""
    if elapsed_us < 1000:
        return f"{elapsed_us:.1f} us"
    return f"{elapsed_us / 1000:.2f} ms"
