"""Where the time of a run goes: op by op, by type, by scope."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.explain.placement import label_of
from tfteach.framework import protos

_FRAME = ("_Arg", "_Retval")
# What TensorFlow calls the feed of x:0, and the halves of copies.
_ARGUMENT = re.compile(r"^_arg_(.+)_(\d+)_\d+(?=$|/_\d+$)")
_HALF = re.compile(r"/_\d+$")
_COPY = re.compile(r"(.+)/_(\d+):(_Send|_Recv)")
_WHERE = re.compile(r"device=([^,]+)")
_LABEL = re.compile(r".* = (\w+)\((.*)\)")
MOST_LINES = 25


class OpTime(NamedTuple):
    """One op that ran.

    Attributes:
      name, op_type: of the op.
      device: full name.
      thread: a number.
      start_us, elapsed_us: microseconds; the start counts from the run's first op.
      size_bytes: of its outputs.
      inputs: what it took, "^name" for what it only waited for.
      is_simulated: whether the device is a GPU that is none.
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

    @property
    def end_us(self) -> float:
        return self.start_us + self.elapsed_us


class Total(NamedTuple):
    """What ops of one kind took together, for one run."""

    name: str
    calls: int
    elapsed_us: float
    size_bytes: int
    share: float  # of the time of all ops


class StepTimes(NamedTuple):
    """The ops of a run over time; `print` it for totals by type.

    Attributes:
      ops: in the order they began.
      wall_us: from the first op's start to the last one's end, for each run that was
        timed; `ops` is the fastest of them, the one that was disturbed least.
    """

    ops: tuple[OpTime, ...]
    wall_us: tuple[float, ...]

    @property
    def busy_us(self) -> float:
        """The time of all ops together; what `wall_us` has more is between them."""
        return sum(op.elapsed_us for op in self.ops)

    def by_type(self) -> list[Total]:
        """Totals by op type, the longest first."""
        return self._totals(lambda op: op.op_type)

    def by_scope(self, depth: int = 1) -> list[Total]:
        """Totals by the first `depth` scopes of the name; ops outside by their own."""
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
        """One line: how long the run took, and in which type of op most of it went."""
        if not self.ops:
            return (
                "Nothing was timed: no op ran. What is constant is computed once, "
                "before the run."
            )
        count = len(self.wall_us)
        runs = f"{count} runs, the fastest" if count > 1 else "one run"
        first = self.by_type()[0]
        return (
            f"{runs}: {_ms(min(self.wall_us))}, {len(self.ops)} ops; "
            f"{first.name} takes {first.share:.0%} of their time"
        )

    def __str__(self) -> str:
        rows = self.by_type()
        lines = [self.summary]
        width = max((len(row.name) for row in rows), default=4)
        lines.append(f"{'op type':<{width}}  calls        time  share       bytes")
        for row in rows[:MOST_LINES]:
            lines.append(
                f"{row.name:<{width}}  {row.calls:>5}  {_ms(row.elapsed_us):>10}  "
                f"{row.share:>5.1%}  {show_bytes(row.size_bytes):>10}"
            )
        if len(rows) > MOST_LINES:
            lines.append(f"and {len(rows) - MOST_LINES} more types")
        return "\n".join(lines)


def times_of(run_metadata: Any) -> StepTimes:
    """The times in a RunMetadata (or its step_stats), from here or from TensorFlow.

    Rows of feeds, fetches and other nodes without a kernel are left out.  Copies
    between devices are recorded from HARDWARE_TRACE on.

    Example:
      >>> print(times_of(run_metadata))
      one run: 1.24 ms, 31 ops; Conv2D takes 41% of their time
      ...
    """
    stats = getattr(run_metadata, "step_stats", run_metadata)
    simulated = {
        device.device
        for device in stats.dev_stats
        if "simulated" in device.thread_names.values()
    }
    sizes: dict[str, int] = {}
    found: list[OpTime] = []
    for device in stats.dev_stats:
        if re.fullmatch("/(host|device:GPU).*", device.device):  # told twice by TF
            continue
        for node in device.node_stats:
            op = _op_time(node, device.device, device.device in simulated)
            sizes[op.name] = op.size_bytes
            has_kernel = node.all_end_rel_nanos or not node.all_start_nanos
            if has_kernel and op.name != "_SOURCE" and op.op_type not in _FRAME:
                found.append(op)
    for device in stats.dev_stats:
        if device.device.startswith("/host"):
            found += _copies(device, sizes, simulated)
    first = min((op.start_us for op in found), default=0.0)
    ops = [op._replace(start_us=op.start_us - first) for op in found]
    ops.sort(key=lambda op: op.start_us)
    return StepTimes(tuple(ops), (max((op.end_us for op in ops), default=0.0),))


def timed(
    session: Any, fetches: Any, feed_dict: Any = None, runs: int = 5
) -> StepTimes:
    """Run `fetches` several times with full tracing; the times of the fastest run.

    What else the machine does only ever makes an op slower, and often a single one by
    more than all the others take: the fastest run is the one to look at.

    Traced runs take every op alone, while others may compute several as one: the shares
    are right, a plain run is faster.

    Args:
      session: a session.
      fetches, feed_dict: as for `session.run`; the runs do what they always do, so a
        training op trains.
      runs: how many runs are timed; one more comes before, to warm up.

    Raises:
      ValueError: `runs` is less than 1.
    """
    return times_and_stats(session, fetches, feed_dict, runs)[0]


def times_and_stats(
    session: Any, fetches: Any, feed_dict: Any = None, runs: int = 5
) -> tuple[StepTimes, Any]:
    """As `timed`, and the RunMetadata of the fastest run."""
    if runs < 1:
        raise ValueError(f"runs must be at least 1, got {runs}")
    options = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE)
    found = []
    for _ in range(runs + 1):
        metadata = protos.RunMetadata()
        session.run(fetches, feed_dict, options=options, run_metadata=metadata)
        found.append((times_of(metadata), metadata))
    found = sorted(found[1:], key=lambda pair: pair[0].wall_us[0])
    times, metadata = found[0]
    walls = tuple(each.wall_us[0] for each, _ in found)
    return StepTimes(times.ops, walls), metadata


def lane_of(op: OpTime) -> str:
    """The device's short name."""
    return label_of(op.device) or op.device


def _copies(host: Any, sizes: dict[str, int], simulated: set[str]) -> Iterator[OpTime]:
    """The halves of copies, which stand in the rows of the threads only."""
    for node in host.node_stats:
        half = half_of_copy(node)
        if half is None:
            continue
        source = half.source
        taken = source if half.kind == "_Send" else f"{source}/_{half.number - 1}"
        start_us, elapsed_us = _span(node)
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
        )


class HalfOfCopy(NamedTuple):
    """A `_Send` or `_Recv` in a row of a thread.

    Attributes:
      name: in the words of the graph: "x/_0", if `x:0` is fed.
      kind: the op's type.
      source: the name of the node that made the value.
      number: of this half; a `_Recv` has its `_Send`'s and 1.
      device: where it runs.
    """

    name: str
    kind: str
    source: str
    number: int
    device: str


def half_of_copy(row: Any) -> HalfOfCopy | None:
    """Parse a row of `/host:CPU`; None if it is not half a copy."""
    copy = _COPY.fullmatch(row.node_name)
    where = _WHERE.search(row.timeline_label)
    if copy is None or where is None:
        return None
    source, number, kind = copy.groups()
    name = _ARGUMENT.sub(r"\1", f"{source}/_{number}")
    return HalfOfCopy(name, kind, source, int(number), where[1])


def _shown(name: str) -> str:
    """An input by the name that it has in the graph."""
    return _ARGUMENT.sub(r"\1" if _HALF.search(name) else r"\1:\2", name)


def _span(node: Any) -> tuple[float, float]:
    """When a row begins, and how long it lasts, in microseconds."""
    if node.all_start_nanos:
        return node.all_start_nanos / 1000, node.all_end_rel_nanos / 1000
    return float(node.all_start_micros), float(node.all_end_rel_micros)


def _op_time(node: Any, device: str, is_simulated: bool) -> OpTime:
    match = _LABEL.fullmatch(node.timeline_label)
    kind, inputs = match.groups() if match else ("unknown", "")
    start, elapsed = _span(node)
    size = 0
    for output in node.output:
        size += output.tensor_description.allocation_description.requested_bytes
    taken = inputs.split(", ") if inputs else []
    return OpTime(
        node.node_name,
        kind,
        device,
        node.thread_id,
        start,
        elapsed,
        size,
        tuple(map(_shown, taken)),
        is_simulated,
    )


def _scope(name: str, depth: int) -> str:
    parts = name.split("/")
    return "/".join(parts[:depth]) + "/" if len(parts) > depth else name


def _ms(elapsed_us: float) -> str:
    if elapsed_us < 1000:
        return f"{elapsed_us:.1f} us"
    return f"{elapsed_us / 1000:.2f} ms"
