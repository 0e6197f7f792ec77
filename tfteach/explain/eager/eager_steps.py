"""Ops that ran eagerly, as the steps of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from tfteach.engine.execute.program import Iterations
from tfteach.explain.runs.cluster_plan import label_of
from tfteach.explain.steps.recording import Step
from tfteach.explain.steps.step_recorder import StepLog, StepRecorder, When
from tfteach.explain.steps.value_summary import Seen
from tfteach.framework.dtypes import resource
from tfteach.framework.eager_tensor import HOST, EagerTensor
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.variable_cell import Cell


class EagerSteps:
    """Makes the steps of ops, each when the op has run.

    Args:
      when: as for `tfteach.explain.record`.
      max_bytes: the memory for copies of small arrays.
      most: the number of steps to record.

    Attributes:
      log: the steps so far.
    """

    def __init__(self, when: When | None, max_bytes: int, most: int) -> None:
        self.log = StepLog(when, max_bytes, most)
        self._seen: WeakKeyDictionary[Tensor, Seen] = WeakKeyDictionary()

    def made(
        self,
        node: Operation,
        iterations: Iterations,
        inputs: Sequence[Tensor],
        elapsed_s: float,
    ) -> Step:
        """The step of an op, without its outputs.

        Args:
          node: the op in the drawing.
          iterations: the loops that it ran in.
          inputs: the tensors that it read.
          elapsed_s: the execution time.
        """
        pairs = zip(node.inputs, inputs, strict=True)
        is_write = not node.outputs
        return Step(
            len(self.log.steps),
            node.name,
            node.type,
            iterations,
            tuple(self._taken(drawn.name, t, is_write) for drawn, t in pairs),
            (),
            (),
            label_of(node.device or HOST),
            elapsed_s * 1e6,
            self.log.alive.size_bytes,
        )

    def add(
        self,
        step: Step,
        node: Operation,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
    ) -> None:
        """Record a step; an op without outputs gives the variables that it changed."""
        values = [t.value for t in outputs if isinstance(t, EagerTensor)]
        for value in values:
            self.log.alive.add(value)
        made = [
            self._see(d.name, t) for d, t in zip(node.outputs, outputs, strict=True)
        ]
        handles = {
            t: drawn.name
            for drawn, t in zip(node.inputs, inputs, strict=True)
            if _is_variable(t)
        }
        changed = [self._see(name, t) for t, name in handles.items()]
        live = self.log.alive.size_bytes
        step = step._replace(
            number=len(self.log.steps), outputs=tuple(made or changed), live_bytes=live
        )
        self.log.add(step, values)

    def follower(self, node: Operation, iterations: Iterations) -> StepRecorder:
        """What records the ops of a function that is called."""
        return StepRecorder(self.log, f"{node.name}/", iterations)

    def _taken(self, name: str, tensor: Tensor, is_write: bool) -> Seen:
        """The value of an input before the op."""
        known = self._seen.get(tensor)
        if known is not None:
            return known if known.name == name else known._replace(name=name)
        if is_write and _is_variable(tensor):  # it has its new value now
            return Seen(name, "resource", (), "not seen before")
        return self._see(name, tensor)

    def _see(self, name: str, tensor: Tensor) -> Seen:
        value = tensor.value if isinstance(tensor, EagerTensor) else None
        found = self._seen[tensor] = self.log.see(name, value)
        return found


def _is_variable(tensor: Tensor) -> bool:
    return (
        tensor.dtype.base_dtype is resource
        and isinstance(tensor, EagerTensor)
        and isinstance(tensor.value, Cell)
    )
