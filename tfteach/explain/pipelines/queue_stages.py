"""The stages of pipelines of queues, read from a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tfteach.explain.pipelines.pipeline_stages import (
    STEP,
    Pipeline,
    Stage,
    in_order,
    number_of,
)
from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.lib.queues.queue_runner import QueueRunner
from tfteach.ops.image.decode_image_ops import DecodeImageOp
from tfteach.ops.io.decode_csv import DecodeCSV
from tfteach.ops.io.decode_json_example import DecodeJSONExample
from tfteach.ops.io.decode_raw import DecodeCompressed, DecodePaddedRaw, DecodeRaw
from tfteach.ops.io.file_ops import ReadFile
from tfteach.ops.io.parse_example import ParseExample
from tfteach.ops.io.parse_sequence_example import (
    ParseSequenceExample,
    ParseSingleSequenceExample,
)
from tfteach.ops.io.parse_single_example import ParseSingleExample
from tfteach.ops.queues.queue_ops import (
    Close,
    Dequeue,
    DequeueMany,
    Enqueue,
    EnqueueMany,
    QueueHandle,
)

_READING = (
    DecodeCSV,
    DecodeCompressed,
    DecodeImageOp,
    DecodeJSONExample,
    DecodePaddedRaw,
    DecodeRaw,
    ParseExample,
    ParseSequenceExample,
    ParseSingleExample,
    ParseSingleSequenceExample,
    ReadFile,
)
_PLAIN = 3  # ops between reading and enqueuing that are named


def queue_of(tensor: Tensor) -> Operation | None:
    """The op of the queue whose handle a tensor is; None if a run selects it."""
    op = tensor.op
    while op.inputs and not isinstance(op.spec, QueueHandle):
        if not op.spec.aliases and not op.spec.forwards_input:
            return None
        op = op.inputs[0].op
    return op if isinstance(op.spec, QueueHandle) else None


def runners_of(graph: Graph) -> dict[Operation, list[QueueRunner]]:
    """The QueueRunners of each queue, by its op; of all collections.

    A QueueRunner that is in no collection is not found.
    """
    found: dict[Operation, list[QueueRunner]] = {}
    for key in graph.get_all_collection_keys():
        for item in graph.get_collection_ref(key):
            if isinstance(item, QueueRunner):
                queue = item.queue
                op = getattr(getattr(queue, "queue_ref", None), "op", queue)
                runners = found.setdefault(op, [])
                if item not in runners:
                    runners.append(item)
    return found


def queue_pipelines(graph: Graph) -> list[Pipeline]:
    """A pipeline for each group of connected queues."""
    found = _Queues(graph)
    pipelines = []
    for queues in found.groups():
        stages = found.stages(queues)
        last = [s for s in stages if s.kind == "queue"]
        name = last[-1].key if last else queues[0].name
        pipelines.append(Pipeline("queues", name, stages, graph))
    return pipelines


class _Queues:
    """The queues of a graph, and the ops that use them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        ops = graph.get_operations()
        self.queues = [op for op in ops if isinstance(op.spec, QueueHandle)]
        self.fills: dict[Operation, list[Operation]] = {q: [] for q in self.queues}
        self.takes: dict[Operation, list[Operation]] = {q: [] for q in self.queues}
        if not self.queues:
            return
        for op in ops:
            if not op.spec.may_wait or isinstance(op.spec, Close):
                continue
            for tensor in op.inputs:
                queue = queue_of(tensor)
                if queue is not None:
                    uses = self.fills if isinstance(op.spec, Enqueue) else self.takes
                    uses[queue].append(op)
        self.took = {op: q for q, ops in self.takes.items() for op in ops}
        self.before = {op: ancestors(op) for ops in self.fills.values() for op in ops}
        self.threads = self._threads()

    def _threads(self) -> Counter[Operation]:
        """The number of threads that QueueRunners start for each enqueue op."""
        found: Counter[Operation] = Counter()
        for runners in runners_of(self.graph).values():
            for run in (op for runner in runners for op in runner.enqueue_ops):
                inside = ancestors(getattr(run, "op", run))  # cond returns a tensor
                found.update(op for op in self.before if op in inside)
        return found

    def groups(self) -> list[list[Operation]]:
        """The queues that are connected, together."""
        groups: list[set[Operation]] = []
        for queue in self.queues:
            near = {queue}
            for op in self.fills[queue]:
                near |= {self.took[each] for each in self.before[op] & set(self.took)}
            joined = [group for group in groups if group & near]
            groups = [group for group in groups if not group & near]
            groups.append(near.union(*joined))
        order = {queue: i for i, queue in enumerate(self.queues)}
        return [sorted(group, key=order.__getitem__) for group in groups]

    def stages(self, queues: list[Operation]) -> list[Stage]:
        """The stages of connected queues, with the step at the end."""
        found = []
        behind: set[Operation] = set()
        for queue in queues:
            for op in self.fills[queue]:
                takes = sorted(
                    self.before[op] & set(self.took), key=lambda each: each.node_id
                )
                behind.update(takes)
                found.append(self._fill(op, takes))
            found.append(self._queue(queue))
        last = [q for q in queues if not set(self.takes[q]) & behind]
        takes = [op for q in last for op in self.takes[q]]
        found.append(_step(takes, last))
        return in_order(found)

    def _queue(self, queue: Operation) -> Stage:
        spec: Any = queue.spec
        capacity = max(0, spec.capacity)
        least = getattr(spec, "min_after_dequeue", 0)
        detail = f"{capacity} elements at most" if capacity else "without limit"
        if least:
            detail += f", {least} stay for shuffling"
        fills = tuple(op.name for op in self.fills[queue])
        return Stage(
            queue.name, "queue", f"queue {queue.name}", detail, fills,
            op=queue.name, source=queue.source, capacity=capacity,
        )  # fmt: skip

    def _fill(self, op: Operation, takes: list[Operation]) -> Stage:
        threads = self.threads[op]
        names = [each for each in takes if not isinstance(each.spec, Dequeue)]
        between = _work(self.before[op])
        what = [readers_name(each) for each in names]
        what += [each.type for each in between[:_PLAIN]]
        title = "your program" if not threads else f"{threads} thread"
        if threads > 1:
            title += "s"
        detail = ", ".join(what) or op.name.rpartition("/")[2]
        inputs = dict.fromkeys(self.took[each].name for each in takes)
        size = _rows(op) if isinstance(op.spec, EnqueueMany) else 0
        return Stage(
            op.name, "threads", title, detail, tuple(inputs), op=op.name,
            source=op.source, threads=threads, size=size,
            takes=tuple(each.name for each in takes),
            calls_python=any(each.spec.calls_python for each in between),
            parses=any(not each.spec.calls_python for each in between),
        )  # fmt: skip


def ancestors(op: Operation) -> set[Operation]:
    """An op, and all that it depends on."""
    found, waiting = {op}, [op]
    while waiting:
        at = waiting.pop()
        for each in (*(t.op for t in at.inputs), *at.control_inputs):
            if each not in found:
                found.add(each)
                waiting.append(each)
    return found


def readers_name(op: Operation) -> str:
    """The class of the reader that an op reads with, such as "TextLineReader"."""
    handle = op.inputs[0].op
    return handle.type.removesuffix("V2")


def _work(ops: Iterable[Operation]) -> list[Operation]:
    """The ops that compute something from what was read, the first of each type."""
    found: dict[str, Operation] = {}
    for op in sorted(ops, key=lambda each: each.node_id):
        if op.spec.calls_python or isinstance(op.spec, _READING):
            found.setdefault(op.type, op)
    return list(found.values())


def _rows(op: Operation) -> int:
    dims = op.inputs[1].shape.dims
    return int(dims[0].value or 0) if dims else 0


def _step(takes: list[Operation], queues: list[Operation]) -> Stage:
    many = [op for op in takes if isinstance(op.spec, DequeueMany)]
    size = number_of(many[0].inputs[1]) if many else 0
    detail = f"takes {size} at a time" if size else ""
    if not takes:
        detail = "no op dequeues"
    first = takes[0] if takes else None
    return Stage(
        STEP, "step", "step", detail, tuple(q.name for q in queues),
        op="" if first is None else first.name,
        source=None if first is None else first.source, size=size,
        takes=tuple(op.name for op in takes),
    )  # fmt: skip
