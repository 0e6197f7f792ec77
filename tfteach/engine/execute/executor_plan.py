"""A compiled step divided among executors, one for each device.

An instruction may run once all those that it depends on have ended: they made its
inputs, or control edges name them, or both use the same state, whose reads and writes
keep the order of the step.  Between instructions of two devices the dependence is a
channel of the rendezvous: a `_Send` hands its value over, all others only say that
they have ended, for which TensorFlow sends an empty tensor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.engine.devices.devices import Device
from tfteach.engine.execute.block_kernel import BlockKernel, parts_of
from tfteach.engine.execute.compile import Compiled
from tfteach.engine.execute.concurrent_calls import may_wait
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.rendezvous import create_key
from tfteach.engine.plan.partition import UNCOPIED, Recv, Send
from tfteach.engine.plan.step import Node, Step, control_of, writes
from tfteach.framework.op_traits import Collection
from tfteach.framework.shape import size_of
from tfteach.framework.threads import LARGE
from tfteach.framework.variable_cell import Cell

# The state behind handles that are known at run time only, and outside the session.
_FED, _WORLD = "handles that are fed or made by ops", "Python, files"


class Channel(NamedTuple):
    """A dependence of one executor on an instruction of another.

    Attributes:
      key: its name in the rendezvous.
      slot: the register of the value that is handed over; -1 for none.
      users: the instructions that wait for it.
    """

    key: str
    slot: int
    users: tuple[int, ...]


class ExecutorPlan(NamedTuple):
    """What each executor of a step runs, and what it waits for.

    Attributes:
      code: the step's instructions, without a commit, in the order of the step.
      devices: the executors.
      executor_of: for each instruction the number of its executor.
      on_caller: for each instruction whether it runs on the thread that called
        `session.run`: user code expects that, and Ctrl-C interrupts only this one.
      waits: for each instruction whether it may wait for another one: its executor then
        goes on, and a thread waits.
      ranks: the number of each instruction in the order in which its executor prefers
        ready ones: first those after which it soonest has something for another device.
      by_rank: the instruction of each rank.
      pending: for each instruction the number of dependences.
      users: for each instruction those of the same executor that depend on it.
      channels: for each instruction those that it sends to.
      reads: for each instruction the registers that it reads or makes, each once.
      uses: for each register the instructions that have it in `reads`; 0 if it outlives
        the run.
      sources: for each instruction those that must have ended.
    """

    code: Sequence[Instruction]
    devices: tuple[Device, ...]
    executor_of: Sequence[int]
    on_caller: Sequence[bool]
    waits: Sequence[bool]
    ranks: Sequence[int]
    by_rank: Sequence[int]
    pending: Sequence[int]
    users: Sequence[tuple[int, ...]]
    channels: Sequence[tuple[Channel, ...]]
    reads: Sequence[tuple[int, ...]]
    uses: Sequence[int]
    sources: Sequence[set[int]]


def devices_of(compiled: Compiled) -> tuple[Device, ...]:
    """The devices that compute something, in the order of their first instruction."""
    return tuple(dict.fromkeys(i.node.device for i in compiled.instructions))


def executor_plan(compiled: Compiled, is_concurrent: bool = False) -> ExecutorPlan:
    """Divide a compiled step by devices.

    Args:
      compiled: the step; its blocks are compound instructions.
      is_concurrent: whether ops may wait for each other, which none does in the order
        of the step.
    """
    code = [i for i in compiled.instructions if not i.is_commit]
    devices = devices_of(compiled)
    number = {device: i for i, device in enumerate(devices)}
    executor_of = [number[instruction.node.device] for instruction in code]
    collections = run_collections(code)
    waits = [is_concurrent and may_wait(instruction.node) for instruction in code]
    sources = sources_of(compiled, code, collections, waits)
    users: list[list[int]] = [[] for _ in code]
    remote: list[dict[int, list[int]]] = [{} for _ in code]
    for i, needed in enumerate(sources):
        for source in needed:
            target = executor_of[i]
            if executor_of[source] == target:
                users[source].append(i)
            else:
                remote[source].setdefault(target, []).append(i)
    channels = _channels(code, devices, remote)
    pending = [0] * len(code)
    for local, sent in zip(users, channels, strict=True):
        for user in (*local, *(user for channel in sent for user in channel.users)):
            pending[user] += 1
    by_rank = _preferred(code, users, channels, waits)
    ranks = [0] * len(code)
    for rank, i in enumerate(by_rank):
        ranks[i] = rank
    reads = [tuple(dict.fromkeys((*i.inputs, *i.outputs))) for i in code]
    return ExecutorPlan(
        code,
        devices,
        executor_of,
        [_needs_caller(compiled, instruction, collections) for instruction in code],
        waits,
        ranks,
        by_rank,
        pending,
        [tuple(local) for local in users],
        channels,
        reads,
        _uses(compiled, reads),
        sources,
    )


def _preferred(
    code: Sequence[Instruction],
    users: Sequence[Sequence[int]],
    channels: Sequence[tuple[Channel, ...]],
    waits: Sequence[bool],
) -> list[int]:
    """The instructions, those nearest to a value for another device first.

    Before these come the ones that may wait, the first of them those without a result:
    what they enqueue others may dequeue.

    Otherwise the device that has the variables would compute its own tower before it
    sends them to the others.
    """
    steps = [0 if sent else len(users) for sent in channels]
    for i in reversed(range(len(users))):
        steps[i] = min([steps[i], *(steps[user] + 1 for user in users[i])])

    def place(i: int) -> tuple[bool, bool, int]:
        return not waits[i], bool(waits[i] and code[i].outputs), steps[i]

    return sorted(range(len(users)), key=place)


def _needs_caller(
    compiled: Compiled, instruction: Instruction, collections: Mapping[int, int]
) -> bool:
    """Whether the instruction, or one of its parts, may wait or call Python.

    That is assumed of all that use a resource other than a variable or a TensorArray,
    such as the iterator of a dataset.
    """
    for part in parts_of(instruction):
        spec = part.node.spec
        if spec.calls_python or spec.may_wait or spec.calls_function:
            return True
        if part.is_read or isinstance(spec, Send | Recv):
            continue
        for slot, tensor in zip(part.inputs, part.node.op.inputs, strict=False):
            is_handle = tensor.dtype.base_dtype.name in UNCOPIED
            is_known = isinstance(compiled.registers[slot], Cell) or slot in collections
            if is_handle and not is_known:
                return True
    return False


def _uses(compiled: Compiled, reads: Sequence[tuple[int, ...]]) -> list[int]:
    counts = Counter(slot for slots in reads for slot in slots)
    kept = {slot for slot, _ in compiled.fetches}
    kept.update(i for i, value in enumerate(compiled.registers) if value is not None)
    return [
        0 if slot in kept else counts[slot] for slot in range(len(compiled.registers))
    ]


def _channels(
    code: Sequence[Instruction],
    devices: Sequence[Device],
    remote: Sequence[dict[int, list[int]]],
) -> list[tuple[Channel, ...]]:
    taken: set[str] = set()
    found: list[tuple[Channel, ...]] = []
    for instruction, by_target in zip(code, remote, strict=True):
        made = []
        for target, users in by_target.items():
            node, slot = instruction.node, -1
            name = f"edge_{node.op.node_id}_^{node.name}"
            for receiver in map(code.__getitem__, users):
                spec = receiver.node.spec
                is_block = isinstance(receiver.function, BlockKernel)
                if isinstance(spec, Recv) and not is_block:
                    (slot,), name = receiver.inputs, spec.tensor_name
            key = create_key(node.device, devices[target], name)
            if key in taken:  # a reference is read once for each of its users
                key = create_key(node.device, devices[target], f"{name}/{len(taken)}")
            taken.add(key)
            made.append(Channel(key, slot, tuple(users)))
        found.append(tuple(made))
    return found


# ---- dependences


def run_collections(code: Iterable[Instruction]) -> dict[int, int]:
    """The registers of this run's TensorArrays and stacks, in the order of the step.

    Returns:
      Register -> the register of the TensorArray whose handle it holds; that of
      gradients counts as the same.
    """
    found: dict[int, int] = {}
    for instruction in code:
        for part in parts_of(instruction):
            spec, outputs = part.node.spec, part.outputs
            if not outputs or part.is_read:
                continue
            if spec.collection_role in (Collection.ARRAY, Collection.STACK):
                found[outputs[0]] = outputs[0]
            elif spec.passes_handle and part.inputs and part.inputs[0] in found:
                found[outputs[0]] = found[part.inputs[0]]
    return found


def sources_of(
    compiled: Compiled,
    code: Sequence[Instruction],
    collections: Mapping[int, int],
    waits: Sequence[bool] = (),
) -> list[set[int]]:
    """For each instruction the earlier ones that must have ended.

    Args:
      compiled: the step.
      code: its instructions, in an order in which they can run.
      collections: see `run_collections`.
      waits: for each instruction whether it may wait for another one; it is then
        ordered by edges and variables only, as two ops of one queue may be.
    """
    made_by: dict[int, int] = {}
    of_node: dict[Node, int] = {}
    for i, instruction in enumerate(code):
        of_node.update((part.node, i) for part in parts_of(instruction))
        made_by.update(dict.fromkeys(instruction.outputs, i))
    ended = _Ended(compiled.step, of_node)
    states = _States(compiled, collections)
    found = []
    for i, instruction in enumerate(code):
        needed = {made_by[slot] for slot in instruction.inputs if slot in made_by}
        for part in parts_of(instruction):
            needed |= ended.before(part.node)
        needed |= states.before(i, instruction, bool(waits and waits[i]))
        found.append({source for source in needed if source < i})
    return found


class _Ended:
    """The instructions after which a node has ended."""

    def __init__(self, step: Step, of_node: Mapping[Node, int]) -> None:
        self._of_node = of_node
        self._present = {*step.feeds.values(), *step.nodes}

    def before(self, node: Node) -> set[int]:
        """The last instructions of the node's control inputs.

        A node without instructions, such as an Identity, ends with its inputs.
        """
        found: set[int] = set()
        seen: set[Node] = set()
        stack = control_of(node, self._present) if node.control else []
        while stack:
            other = stack.pop()
            if other in seen:
                continue
            seen.add(other)
            own = self._of_node.get(other)
            if own is not None:
                found.add(own)
            elif other.values is None:
                stack += control_of(other, self._present)
                stack += [source for source, _ in other.inputs]
        return found


class _States:
    """Who has read and written each variable, queue and other resource so far."""

    def __init__(self, compiled: Compiled, collections: Mapping[int, int]) -> None:
        self._registers = compiled.registers
        self._collections = collections
        self._handles: dict[int, Any] = {
            slot: value
            for slot, value in enumerate(compiled.registers)
            if isinstance(value, Cell)
        }
        self._writers: dict[Any, int] = {}
        self._readers: dict[Any, list[int]] = {}

    def before(
        self, number: int, instruction: Instruction, only_variables: bool
    ) -> set[int]:
        """The instructions that must have ended, as they use the same state."""
        only_read: dict[Any, bool] = {}
        for part in parts_of(instruction):
            for state in self._used_by(part):
                if only_variables and not isinstance(state, Cell):
                    continue
                is_read = part.is_read or (
                    isinstance(state, Cell) and not writes(part.node)
                )
                only_read[state] = only_read.get(state, True) and is_read
        found: set[int] = set()
        for state, is_read in only_read.items():
            if state in self._writers:
                found.add(self._writers[state])
            if is_read:
                self._readers.setdefault(state, []).append(number)
            else:
                found.update(self._readers.pop(state, ()))
                self._writers[state] = number
        return found

    def _used_by(self, instruction: Instruction) -> Iterable[Any]:
        node, spec = instruction.node, instruction.node.spec
        found: dict[Any, None] = {}
        for slot in instruction.inputs:
            if slot in self._handles:
                found[self._handles[slot]] = None
        if instruction.is_read or isinstance(spec, Recv):
            return found
        if spec.is_stateful:
            for slot, tensor in zip(instruction.inputs, node.op.inputs, strict=False):
                if slot not in self._handles and _is_handle(tensor):
                    found[self._behind(slot)] = None
        if spec.calls_python or spec.writes_scratch_files:
            found[_WORLD] = None
        for slot, tensor in zip(instruction.outputs, node.op.outputs, strict=False):
            if tensor.dtype.is_ref and instruction.inputs:  # an update returns it
                handle = self._handles.get(instruction.inputs[0])
                if handle is not None:
                    self._handles[slot] = handle
        return found

    def _behind(self, slot: int) -> Any:
        """The state whose handle the register holds."""
        if slot in self._collections:
            return "collection", self._collections[slot]
        value = self._registers[slot]
        is_array = value is None or isinstance(value, np.ndarray)
        return _FED if is_array else id(value)


def _is_handle(tensor: Any) -> bool:
    return bool(tensor.dtype.is_ref or tensor.dtype.name == "resource")


# ---- whether it pays off


def has_large_kernels(compiled: Compiled) -> bool:
    """Whether two devices have large kernels, as far as static shapes tell."""
    large = (i for i in compiled.instructions if any(map(_is_large, parts_of(i))))
    return len({instruction.node.device for instruction in large}) > 1


def may_overlap(plan: ExecutorPlan) -> bool:
    """Whether large kernels of two devices do not depend on each other."""
    large = [
        i
        for i, instruction in enumerate(plan.code)
        if any(map(_is_large, parts_of(instruction)))
    ]
    bits = {i: 1 << n for n, i in enumerate(large)}
    behind = [0] * len(plan.code)
    earlier = 0
    of_executor: Counter[int] = Counter()
    for i, needed in enumerate(plan.sources):
        for source in needed:
            behind[i] |= behind[source] | bits.get(source, 0)
        if i in bits:
            executor = plan.executor_of[i]
            if earlier & ~behind[i] & ~of_executor[executor]:
                return True
            earlier |= bits[i]
            of_executor[executor] |= bits[i]
    return False


def _is_large(instruction: Instruction) -> bool:
    if instruction.is_read or instruction.is_commit:
        return False
    node = instruction.node
    if node.spec.is_heavy:
        return True
    sizes = (size_of(tensor.static_shape) for tensor in node.op.outputs)
    return any(size is not None and size >= LARGE for size in sizes)
