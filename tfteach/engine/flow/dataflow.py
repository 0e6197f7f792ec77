"""Dataflow execution of branches and loops: a node runs when its inputs arrive.

Each execution of a node belongs to a frame (one run of a loop) and an iteration of it.
A branch that is not taken sends dead values, which propagate through nodes without
running them and end at a Merge with a live input.  Enter opens a frame, Exit leaves it,
NextIteration passes a value to the next iteration.
Source: core/common_runtime/executor.cc (semantics); Yu et al., Dynamic Control Flow in
Large-Scale Machine Learning, 2018.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.engine.execute.compile import (
    fetch_cell,
    own_copy,
)
from tfteach.engine.execute.concurrent_calls import (
    ConcurrentCalls,
    may_wait_for_each_other,
)
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.execute.program import (
    FlowObserver,
    Iterations,
    StepObserver,
    ValueObserver,
)
from tfteach.engine.flow.flow_nodes import (
    DEAD,
    Arrived,
    FlowNode,
    Frame,
    flow_nodes_of,
    place_of_call,
)
from tfteach.engine.plan.frames import frames_of
from tfteach.engine.plan.references import (
    carries_reference,
    read_reference,
)
from tfteach.engine.plan.step import (
    Edge,
    Node,
    Step,
    return_names,
)
from tfteach.framework import errors
from tfteach.framework import shape as shapes
from tfteach.framework.op_traits import Flow
from tfteach.framework.transaction import atomically
from tfteach.framework.variable_cell import Cell
from tfteach.framework.waiting import Deadline, WouldWait, trying

SWITCH, MERGE, CONTROL_TRIGGER = Flow.SWITCH, Flow.MERGE, Flow.CONTROL_TRIGGER
ENTER, EXIT, NEXT_ITERATION = Flow.ENTER, Flow.EXIT, Flow.NEXT_ITERATION


class DataflowProgram:
    """A runnable step with control flow; the same interface as `execute.Program`."""

    def __init__(self, step: Step, resources: Resources, session: Any = None) -> None:
        self.calls_may_wait = may_wait_for_each_other(step)
        frames_of(step)  # raises for loops that no while_loop builds
        self.step = step
        self._flow_nodes = flow_nodes = flow_nodes_of(step, resources, session)
        self._sources = [
            flow_node
            for flow_node in flow_nodes.values()
            if flow_node.missing == 0 and not flow_node.node.is_feed
        ]

    def run(
        self,
        fed: Sequence[Any],
        observers: Sequence[StepObserver] = (),
        deadline: Deadline | None = None,
    ) -> Any:
        """Run once; see `Program.run`."""
        run = _Run(self, fed, observers, deadline)
        with np.errstate(all="ignore"):
            return atomically(run.finish, (), may_defer=False, deadline=deadline)

    @property
    def flow_nodes(self) -> dict[Node, FlowNode]:
        return self._flow_nodes

    @property
    def sources(self) -> list[FlowNode]:
        return self._sources


_Ready = tuple[FlowNode, Frame, int, list[Any], bool]


class _InTurns:
    """The ready nodes, for an observer: loops iteration by iteration.

    Nodes that a loop may depend on precede it; an iteration, inner loops included,
    precedes the next one.  Has the methods of the queue that is used otherwise.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[tuple[int, ...], int, _Ready]] = []
        self._count = 0
        self._frames: dict[Frame, int] = {}

    def __len__(self) -> int:
        return len(self._heap)

    def append(self, ready: _Ready) -> None:
        _, frame, iteration, _, _ = ready
        place: list[int] = []
        while frame.parent is not None:
            number = self._frames.setdefault(frame, len(self._frames))
            place[:0] = number, iteration
            frame, iteration = frame.parent, frame.parent_iteration
        self._count += 1
        heapq.heappush(self._heap, (tuple(place), self._count, ready))

    def popleft(self) -> _Ready:
        return heapq.heappop(self._heap)[-1]


def _is_dead(results: list[Any]) -> bool:
    """Whether a kernel received a dead value."""
    return bool(results) and results[0] is DEAD


def _alive(results: list[Any]) -> list[Any]:
    return [] if _is_dead(results) else results


def _iterations(frame: Frame, iteration: int) -> Iterations:
    """The enclosing loops, outermost first, and the iteration of each."""
    found = []
    while frame.parent is not None:
        found.append((frame.name, iteration))
        frame, iteration = frame.parent, frame.parent_iteration
    return tuple(reversed(found))


class _Run:
    """One run of a program: frames, the queue of ready nodes, results."""

    def __init__(
        self,
        program: DataflowProgram,
        fed: Sequence[Any],
        observers: Sequence[StepObserver],
        deadline: Deadline | None,
    ) -> None:
        self.program = program
        self.deadline = deadline
        self.calls = ConcurrentCalls()
        self.observers = observers
        self.followers = [o for o in observers if isinstance(o, ValueObserver)]
        self.watchers = [o for o in observers if isinstance(o, FlowObserver)]
        self.queue: deque[_Ready] | _InTurns = _InTurns() if self.followers else deque()
        self.root = Frame(None, 0)
        self.wanted = {read_reference(edge) for edge in program.step.fetches}
        self.wanted.update(program.step.fetches)
        self.results: dict[Edge, Any] = {}
        pairs = zip(program.step.feeds.items(), fed, strict=True)
        for (tensor, node), value in pairs:
            own = value.copy() if tensor.dtype.is_numpy_compatible else value
            self._send(program.flow_nodes[node], [own], False, self.root, 0)
        for flow_node in program.sources:
            self.queue.append((flow_node, self.root, 0, [], False))

    def finish(self) -> list[Any]:
        """Run until no node is ready, and return the fetches."""
        if not self.program.calls_may_wait:
            return self._finish()
        with self.calls.limited(self.deadline):
            return self._finish()

    def _finish(self) -> list[Any]:
        queue = self.queue
        while queue or self.calls:
            if queue:
                self._execute(*queue.popleft())
            else:
                self._end_call()
        values = []
        step = self.program.step
        for tensor, edge in zip(step.fetched, step.fetches, strict=True):
            value = self.results.get(edge, DEAD)
            if value is DEAD and step.may_fetch_dead:
                values.append(np.empty(0, tensor.dtype.numpy_dtype))
                continue
            if value is DEAD:
                index = step.fetches.index(edge)
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Retval[{index}] does not have value: {edge.node.name}:"
                    f"{edge.index} is in a branch that was not taken. Fetch what the "
                    "tf.cond or tf.while_loop returns instead.",
                ).at(edge.node.op)
            reference = self.results.get(read_reference(edge), DEAD)
            value = value if reference is DEAD else reference
            if isinstance(value, Cell) and carries_reference(read_reference(edge)):
                values.append(fetch_cell(value, return_names(step)[tensor]))
            else:
                values.append(own_copy(value))
        return values

    def _execute(
        self,
        flow_node: FlowNode,
        frame: Frame,
        iteration: int,
        values: list[Any],
        dead: bool,
    ) -> None:
        flow = flow_node.flow
        computes = flow is None or flow is CONTROL_TRIGGER
        if flow_node.exchanges:
            self._exchange(flow_node, frame, iteration, values, dead)
            return
        if dead and flow is not MERGE:
            if flow is NEXT_ITERATION or (flow is EXIT and not frame.is_dead):
                return  # the loop's end is told by the values that leave it
            results: list[Any] = [DEAD] * len(flow_node.users)
        elif computes:
            for follower in self.followers:
                follower.takes(flow_node.node, values, _iterations(frame, iteration))
            if self.program.calls_may_wait:
                found = self._compute_or_call(flow_node, values, frame, iteration)
                if found is None:
                    return
                results = found
            else:
                results = self._compute(flow_node, values)
        elif flow is SWITCH:
            pred = self._read(flow_node, values)[1]
            if pred.ndim:
                raise errors.invalid_argument(
                    "The second input must be a scalar, but it has shape "
                    f"{shapes.text(pred.shape)}"
                ).at(flow_node.node.op)
            taken = bool(pred)
            data = values[0]
            results = [DEAD if taken else data, data if taken else DEAD]
        elif flow is MERGE:
            live = [i for i, v in enumerate(values) if v is not None and v is not DEAD]
            if dead or not live:
                results = [DEAD, DEAD]
            else:
                results = [self._read(flow_node, values)[live[0]], np.int32(live[0])]
        else:  # Enter, Exit and NextIteration forward their input
            results = [self._read(flow_node, values)[0]]
        if self.watchers and not dead and not computes:
            handed = [None if value is DEAD else value for value in results]
            for watcher in self.watchers:
                watcher.passes(flow_node.node, handed, _iterations(frame, iteration))
        if flow is ENTER:
            self._enter(flow_node, results, frame, iteration)
        elif flow is EXIT:
            assert frame.parent is not None  # `frames_of` has checked it
            self._send(flow_node, results, dead, frame.parent, frame.parent_iteration)
        elif flow is NEXT_ITERATION:
            self._begin(frame, iteration + 1)
            self._send(flow_node, results, False, frame, iteration + 1)
        else:
            is_dead = dead or (flow is MERGE and results[0] is DEAD)
            self._send(flow_node, results, is_dead, frame, iteration)

    def _exchange(
        self,
        flow_node: FlowNode,
        frame: Frame,
        iteration: int,
        values: list[Any],
        dead: bool,
    ) -> None:
        """Send a value to another process, or receive one; it may be dead."""
        if dead and not flow_node.users:  # it sends
            values[0] = DEAD
        token = place_of_call.set((frame, iteration))
        try:
            results = self._compute_or_call(flow_node, values, frame, iteration)
        finally:
            place_of_call.reset(token)
        if results is not None:
            self._send(flow_node, results, _is_dead(results), frame, iteration)

    def _enter(
        self, flow_node: FlowNode, results: list[Any], frame: Frame, iteration: int
    ) -> None:
        key = iteration, flow_node.frame_name
        child = frame.children.get(key)
        if child is None:
            child = frame.children[key] = Frame(frame, iteration, flow_node.frame_name)
        if results[0] is DEAD and not flow_node.is_invariant:
            child.is_dead = True
        if flow_node.is_invariant:
            child.invariants.append((flow_node, results[0]))
            for i in range(child.last + 1):
                self._send(flow_node, results, results[0] is DEAD, child, i)
        else:
            self._send(flow_node, results, results[0] is DEAD, child, 0)

    def _begin(self, frame: Frame, iteration: int) -> None:
        """Open an iteration, and deliver the loop invariants to it."""
        if iteration <= frame.last:
            return
        frame.last = iteration
        frame.waiting[iteration] = {}
        for flow_node, value in frame.invariants:
            self._send(flow_node, [value], value is DEAD, frame, iteration)

    def _read(self, flow_node: FlowNode, values: list[Any]) -> list[Any]:
        """The inputs' values; variables are read where the node needs the value."""
        for i in flow_node.reads:
            if hasattr(values[i], "is_initialized"):
                values[i] = values[i].value
        return values

    def _compute_or_call(
        self, flow_node: FlowNode, values: list[Any], frame: Frame, iteration: int
    ) -> list[Any] | None:
        """The results; None if the op waits, or may, on a thread."""
        if not flow_node.node.spec.calls_python:
            if not flow_node.node.spec.may_wait:
                return self._compute(flow_node, values)
            if not self.observers:  # they follow only one attempt
                try:
                    with trying():
                        return self._compute(flow_node, values)
                except WouldWait:
                    pass
        self._begin_call(flow_node, values, frame, iteration)
        return None

    def _begin_call(
        self, flow_node: FlowNode, values: list[Any], frame: Frame, iteration: int
    ) -> None:
        """Start an op that may wait for another one, on a thread."""
        assert flow_node.instruction is not None
        for observer in self.observers:
            observer.before(flow_node.instruction)
        tag = flow_node, frame, iteration
        arguments = self._read(flow_node, values)
        ends = flow_node.node.spec.may_wait
        self.calls.start(flow_node.instruction.function, arguments, tag, ends)

    def _end_call(self) -> None:
        """Propagate the results of the next call to finish."""
        (flow_node, frame, iteration), result, error = self.calls.wait()
        try:
            if error is not None:
                raise error
            if self.deadline is not None:
                self.deadline.check()
            results = [result] if len(flow_node.users) == 1 else list(result or ())
            for observer in self.observers:
                observer.after(flow_node.instruction, _alive(results))
                observer.release(flow_node.instruction)
        except Exception as error:
            raise_blaming(error, flow_node.instruction)
        self._send(flow_node, results, _is_dead(results), frame, iteration)

    def _compute(self, flow_node: FlowNode, values: list[Any]) -> list[Any]:
        instruction = flow_node.instruction
        assert instruction is not None
        try:
            if self.deadline is not None:
                self.deadline.check()
            for observer in self.observers:
                observer.before(instruction)
            result = instruction.function(*self._read(flow_node, values))
            count = len(flow_node.users)
            results = [result] if count == 1 else list(result or ())
            for observer in self.observers:
                observer.after(instruction, _alive(results))
                observer.release(instruction)
        except Exception as error:
            raise_blaming(error, instruction)
        return results

    def _send(
        self,
        flow_node: FlowNode,
        results: list[Any],
        dead: bool,
        frame: Frame,
        iteration: int,
    ) -> None:
        """Deliver results to consumers, and queue those that are now ready."""
        waiting = frame.waiting.setdefault(iteration, {})
        for index, users in enumerate(flow_node.users):
            value = results[index]
            if frame is self.root:
                edge = Edge(flow_node.node, index)
                if edge in self.wanted:
                    self.results[edge] = value
            for user, position in users:
                self._arrive(
                    user, position, value, frame, iteration, waiting, flow_node
                )
        for user in flow_node.control_users:
            arrived = waiting.get(user)
            if arrived is None:
                arrived = waiting[user] = Arrived(user)
            arrived.missing -= 1
            # A Merge is dead by its data alone, a ControlTrigger never.
            heeds = user.flow is not MERGE and user.flow is not CONTROL_TRIGGER
            arrived.is_dead |= dead and heeds
            if arrived.missing == 0:
                self._queue(user, frame, iteration, waiting)
        # Not earlier: delivering results may add entries to this table.
        if not waiting and iteration < frame.last:
            frame.waiting.pop(iteration, None)

    def _arrive(
        self,
        user: FlowNode,
        position: int,
        value: Any,
        frame: Frame,
        iteration: int,
        waiting: dict[FlowNode, Arrived],
        source: FlowNode,
    ) -> None:
        arrived = waiting.get(user)
        if arrived is None:
            arrived = waiting[user] = Arrived(user)
        if user.flow is MERGE:
            arrived.coming -= 1
            if arrived.is_live:  # only the first live input counts
                if arrived.has_fired and not arrived.coming:
                    waiting.pop(user)
                return
            arrived.is_live = value is not DEAD
        arrived.values[position] = value
        if user.flow is MERGE:
            # The first live input fires it; dead ones only when all are dead.  A loop
            # that is entered dead never iterates.
            if (
                value is DEAD
                and source.flow is not ENTER
                and any(v is not DEAD for v in arrived.values)
            ):
                return
        elif value is DEAD:
            arrived.is_dead = True
        arrived.missing -= 1
        if arrived.missing == 0:
            self._queue(user, frame, iteration, waiting)

    def _queue(
        self,
        user: FlowNode,
        frame: Frame,
        iteration: int,
        waiting: dict[FlowNode, Arrived],
    ) -> None:
        arrived = waiting.pop(user)
        self.queue.append((user, frame, iteration, arrived.values, arrived.is_dead))
        if user.flow is MERGE and arrived.coming and not user.is_loop_head:
            arrived.has_fired = True
            arrived.values = []
            waiting[user] = arrived
