"""One step of a cluster: which task ran what, and which tensors travelled when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.engine.session.base_session import BaseSession
from tfteach.engine.session.feeds import converter_for, flatten_feeds
from tfteach.engine.session.fetches import Fetches
from tfteach.explain.profiling.task_stats import joined, task_of
from tfteach.explain.profiling.timing import OpTime, StepTimes, time_text, times_of
from tfteach.explain.runs.cluster_plan import label_of
from tfteach.framework import protos
from tfteach.framework.graph import Tensor
from tfteach.framework.type_aliases import FeedDict, Proto

__all__ = ["ClusterStep", "Message", "messages_of", "trace_step"]

CLIENT = "client"
MOST_LINES = 40
_TENSORFLOWS = re.compile(r"(.+)_S(\d+)")
_TRACED = protos.RunOptions(
    trace_level=protos.RunOptions.FULL_TRACE, output_partition_graphs=True
)


class Message(NamedTuple):
    """A tensor that travels from task to task, or between a task and the client.

    Attributes:
      tensor: its name, such as "w/read:0"; "^a" for the order alone, "after a".
      source, target: short names of tasks, such as "ps:0", or "client".
      size_bytes: None if it is not known.
      sent_us: when it was sent, in microseconds after the step's first op.
      received_us: when it had arrived.
      readers: names of the ops that consume it on `target`.
      node: the name of the node that received it; "" for the client's.
    """

    tensor: str
    source: str
    target: str
    size_bytes: int | None
    sent_us: float
    received_us: float
    readers: tuple[str, ...] = ()
    node: str = ""

    @property
    def is_order(self) -> bool:
        """True if only an order is sent: a control edge between tasks."""
        return self.tensor.startswith("^")

    @property
    def is_clients(self) -> bool:
        """True for a feed or a fetch."""
        return CLIENT in (self.source, self.target)

    @property
    def size(self) -> str:
        """The size, for people."""
        if self.is_order:
            return "order only"
        return "" if self.size_bytes is None else show_bytes(self.size_bytes)

    @property
    def why(self) -> str:
        """What it is sent for."""
        if self.source == CLIENT:
            return "a feed"
        if self.target == CLIENT:
            return "a fetch"
        more = f" and {len(self.readers) - 2} more" if len(self.readers) > 2 else ""
        return f"for {', '.join(self.readers[:2])}{more}" if self.readers else ""

    @property
    def when(self) -> str:
        """When it was sent, and how long it took."""
        if self.is_clients:
            return "before the step" if self.source == CLIENT else "after the step"
        took_us = self.received_us - self.sent_us
        return f"at {time_text(self.sent_us)}, {time_text(took_us)} on its way"


class ClusterStep(NamedTuple):
    """One step of a cluster; `print` it for its messages in the order of sending.

    Attributes:
      fetches: names of the fetches.
      times: a `StepTimes`: its ops over time, those of all tasks on one clock.
      messages: a `Message` for each tensor that travelled, the feeds first.
      moved_us: task -> microseconds by which its clock was moved, because it
        contradicted a message; tasks whose clock was right are left out.
    """

    fetches: tuple[str, ...]
    times: StepTimes
    messages: tuple[Message, ...]
    moved_us: Mapping[str, float]

    @property
    def sent(self) -> list[Message]:
        """The messages between tasks."""
        return [message for message in self.messages if not message.is_clients]

    @property
    def span_us(self) -> float:
        """The time from the step's first op to the end of its last one."""
        return max((op.end_us for op in self.times.ops), default=0.0)

    @property
    def summary(self) -> str:
        """One line: what was fetched, how long it took, what travelled."""
        count = len(self.sent)
        size_bytes = sum(message.size_bytes or 0 for message in self.sent)
        sent = f"{count} message{'' if count == 1 else 's'} between tasks"
        size = f", {show_bytes(size_bytes)}" if count else ""
        return (
            f"A step of {', '.join(self.fetches)}: {time_text(self.span_us)}, "
            f"{len(self.times.ops)} ops timed, {sent}{size}"
        )

    def __str__(self) -> str:
        lines = [self.summary]
        for task, by_us in self.moved_us.items():
            lines.append(
                f"The clock of {label_of(task + '/device:CPU:0')} was moved by "
                f"{time_text(by_us)}: by it, a tensor was read before it was sent."
            )
        rows = [
            (f"{m.source} -> {m.target}", m.tensor, m.size, m.when, m.why)
            for m in self.messages[:MOST_LINES]
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = [f"{c:<{w}}" for c, w in zip(row, widths, strict=True)]
            lines.append(f"  {'  '.join(cells)}".rstrip())
        if (more := len(self.messages) - len(rows)) > 0:
            lines.append(f"  ... and {more} more")
        return "\n".join(lines)


def trace_step(
    session: Any, fetches: Any, feed_dict: FeedDict | None = None, runs: int = 1
) -> ClusterStep:
    """Run a step of a session on servers, and say which tensors travelled when.

    The runs have their usual effects: a training op trains.

    Args:
      session: an open session with the target of a server.
      fetches: as for `session.run`.
      feed_dict: as for `session.run`.
      runs: the number of traced runs, of which the fastest is reported; one more
        precedes them, in which the tasks get their parts of the graph.

    Returns:
      A `ClusterStep`; `print` it.

    Raises:
      ValueError: the session has no target, or `runs` is less than 1.

    Example:
      >>> server = tf.train.Server.create_local_server()
      >>> x = tf.placeholder(tf.float32, [2], name="x")
      >>> y = tf.square(x, name="y")
      >>> with tf.Session(server.target) as sess:
      ...     step = trace_step(sess, y, {x: [1.0, 2.0]})
      >>> [(message.tensor, message.target) for message in step.messages]
      [('x:0', 'local:0'), ('y:0', 'client')]
    """
    if runs < 1:
        raise ValueError(f"runs must be at least 1, got {runs}")
    if not isinstance(session, BaseSession) or session._remote is None:
        raise ValueError(
            "trace_step takes a session on servers, such as tf.Session("
            "cluster.target('worker', 0)); the step of another one has no messages"
        )
    elements = Fetches(session.graph, fetches).elements
    fed = flatten_feeds(session.graph, feed_dict) if feed_dict else {}
    session.run(elements, fed)
    found = []
    for _ in range(runs):
        metadata = protos.RunMetadata()
        values = session.run(elements, fed, options=_TRACED, run_metadata=metadata)
        found.append((times_of(metadata), metadata, values))
    times, metadata, values = min(found, key=lambda run: run[0].wall_us[0])
    master = label_of(session.list_devices()[0].name)
    end_us = times.wall_us[0]
    feeds = [
        Message(t.name, CLIENT, master, _size_of(converter_for(t)(v)), 0.0, 0.0)
        for t, v in fed.items()
    ]
    fetched = [
        Message(e.name, master, CLIENT, _size_of(value), end_us, end_us)
        for e, value in zip(elements, values, strict=True)
        if isinstance(e, Tensor)
    ]
    _, moved = joined(metadata.step_stats)
    messages = (*feeds, *messages_of(metadata), *fetched)
    return ClusterStep(tuple(e.name for e in elements), times, messages, moved)


def messages_of(run_metadata: Proto) -> list[Message]:
    """The tensors that travelled from task to task in a traced step.

    Args:
      run_metadata: a RunMetadata of a run with `FULL_TRACE`, of tfteach's servers or of
        TensorFlow's. Without partition graphs, each tensor is taken for the first
        output of its op.

    Returns:
      A list of `Message`, in the order of sending.

    Example:
      >>> server = tf.train.Server.create_local_server()
      >>> metadata = tf.RunMetadata()
      >>> options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
      >>> with tf.Session(server.target) as sess:
      ...     _ = sess.run(tf.constant(1.0), options=options, run_metadata=metadata)
      >>> messages_of(metadata)  # it is the only task
      []
    """
    times = times_of(run_metadata)
    readers: dict[str, list[str]] = {}
    for op in times.ops:
        for name in op.inputs:
            readers.setdefault(name, []).append(op.name)
    tensors = _sent_tensors(run_metadata.partition_graphs)
    found = []
    for send, receive in times.copies():
        if task_of(send.device) == task_of(receive.device):
            continue
        tensor = tensors.get(send.name, f"{send.name.rpartition('/')[0]}:0")
        after = readers.get(f"^{receive.name}", ())
        found.append(
            Message(
                tensor,
                label_of(_host(send)),
                label_of(_host(receive)),
                0 if tensor.startswith("^") else receive.size_bytes,
                send.start_us,
                receive.end_us,
                tuple(dict.fromkeys(readers.get(receive.name) or after)),
                receive.name,
            )
        )
    return sorted(found, key=lambda message: message.sent_us)


def _host(op: OpTime) -> str:
    """The CPU of the op's task, by whose name the task is called."""
    return f"{task_of(op.device)}/device:CPU:0"


def _sent_tensors(graphs: Iterable[Proto]) -> dict[str, str]:
    """`_Send` node, by our names -> the tensor that it sends."""
    found = {}
    for graph in graphs:
        nodes = {node.name: node for node in graph.node}
        for node in graph.node:
            if node.op not in ("_Send", "_HostSend") or not node.input:
                continue
            name = _TENSORFLOWS.sub(r"\1/_\2", node.name)
            source, _, slot = node.input[0].partition(":")
            tensor = f"{source}:{slot or 0}"
            made = nodes.get(source)
            if made is not None and _waits_alone(made):
                tensor = made.input[0]
            found[name] = tensor
    return found


def _waits_alone(node: Proto) -> bool:
    """True for an empty constant, which stands for a control edge."""
    if "value" not in node.attr:
        return False
    shape = node.attr["value"].tensor.tensor_shape
    is_empty = any(dim.size == 0 for dim in shape.dim)
    return is_empty and len(node.input) == 1 and node.input[0].startswith("^")


def _size_of(value: Any) -> int | None:
    array = np.asarray(value)
    return None if array.dtype.hasobject else array.nbytes
