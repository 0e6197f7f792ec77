"""Times of a traced run as cards would take them, for GPUs that model one.

The ops of the run are laid out anew: an op of a modelled GPU begins once its inputs are
there and the GPU is free, and takes the time of the model (devices/card_models.py).
What is ready first begins first, as in TensorFlow's executors.  A copy occupies the
links of both its ends, in one direction each.  Ops of the CPU keep the time that was
measured.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from tfteach.engine.devices.card_models import DeviceModel, Modelled
from tfteach.engine.plan.partition import Recv, Send
from tfteach.engine.session.list_schedule import Task, scheduled
from tfteach.engine.session.partition_graphs import ExecutedNode
from tfteach.engine.session.tracing import Output, Row

Ran = tuple[ExecutedNode, Row]


def model_times(
    rows: Sequence[Ran], outputs: dict[str, list[Output]], start_ns: int
) -> dict[str, str]:
    """Replace the times of rows by modelled ones.

    Args:
      rows: the ops that ran, each after those that it needs.
      outputs: of each op that ran, by name.
      start_ns: the start of the run.

    Returns:
      For each modelled op its formula, by name.
    """
    layout = _Layout(outputs)
    measured = sorted((row.op_end_ns, i) for i, (_, row) in enumerate(rows))
    for node, row in rows:
        layout.add(node, row)
    for (_, row), slot in zip(rows, scheduled(layout.tasks), strict=True):
        row.start_ns = row.op_start_ns = start_ns + int(slot.begin)
        row.end_ns = row.op_end_ns = start_ns + int(slot.end)
    ends = [at for at, _ in measured]
    for _, row in rows:
        row.records = [
            (row.op_end_ns, size_bytes)
            if size_bytes > 0
            else (_moved(at, ends, measured, rows, start_ns), size_bytes)
            for at, size_bytes in row.records
        ]
    return layout.formulas


def _moved(
    at_ns: int,
    ends: Sequence[int],
    measured: Sequence[tuple[int, int]],
    rows: Sequence[Ran],
    start_ns: int,
) -> int:
    """When memory is freed: after the op that had ended last when it was."""
    before = bisect.bisect_right(ends, at_ns)
    return rows[measured[before - 1][1]][1].op_end_ns if before else start_ns


class _Layout:
    def __init__(self, outputs: dict[str, list[Output]]) -> None:
        self.formulas: dict[str, str] = {}
        self.tasks: list[Task] = []
        self._outputs = outputs
        self._last: dict[str, int] = {}
        self._sent: dict[tuple[str, str], ExecutedNode] = {}

    def add(self, node: ExecutedNode, row: Row) -> None:
        """Add an op, after those that it needs."""
        names = [name.lstrip("^").partition(":")[0] for name in node.inputs]
        occupied = [(node.device, "kernels")]
        length_ns = row.op_end_ns - row.op_start_ns
        if node.op_type == Send.op_type:
            self._sent[node.transfer] = node
            occupied, length_ns = [], 0
        elif node.op_type == Recv.op_type:
            sender = self._sent.get(node.transfer)
            if sender is not None:
                names.append(sender.name)
                ends = ((sender.device, "out"), (node.device, "in"))
                occupied = [end for end in ends if end[0].model is not None]
                length_ns = self._copied(node, sender, row, length_ns)
        elif node.device.model is not None:
            modelled = self._kernel(node, row, node.device.model)
            length_ns = round(modelled.seconds * 1e9)
            self.formulas[node.name] = modelled.formula
        needs = [self._last[name] for name in names if name in self._last]
        self._last[node.name] = len(self.tasks)
        self.tasks.append(Task(length_ns, needs, occupied if length_ns else ()))

    def _copied(
        self, node: ExecutedNode, sender: ExecutedNode, row: Row, measured_ns: int
    ) -> int:
        model = node.device.model or sender.device.model
        if model is None or not measured_ns:  # only its shape was needed
            return measured_ns
        modelled = model.copy(sum(output.size_bytes for output in row.outputs))
        self.formulas[node.name] = modelled.formula
        return round(modelled.seconds * 1e9)

    def _kernel(self, node: ExecutedNode, row: Row, model: DeviceModel) -> Modelled:
        found = node.node
        if found is None or node.value is not None or not found.spec.is_expensive:
            return Modelled(0.0, "no kernel of its own")
        inputs = []
        for name in node.inputs:
            if not name.startswith("^"):
                source, _, slot = name.partition(":")
                made = self._outputs.get(source, ())
                inputs += [o.shape for o in made if o.slot == int(slot or 0)]
        shapes = [output.shape for output in row.outputs]
        try:
            flops, moved = found.spec.work(inputs, shapes)
        except (IndexError, ValueError):  # an input is a handle, or is not there
            flops, moved = 0, 0
        dtype = found.op.outputs[0].dtype.base_dtype if found.op.outputs else None
        itemsize = 4 if dtype is None else dtype.size or 4
        name = "float32" if dtype is None else dtype.name
        return model.kernel(flops, moved * itemsize, name)
