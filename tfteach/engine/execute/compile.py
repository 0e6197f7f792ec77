"""Compiles a step to a flat list of instructions on numbered registers.

Nodes with the same result in every run (constants, handles of variables) are evaluated
while compiling and become preset registers; every other node is one instruction.  A
reference edge to an ordinary input gets a `read` instruction, so that a variable is
read immediately before its consumer runs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from tfteach.engine.devices.array_module import to_host
from tfteach.engine.devices.memory_ledger import no_room_for
from tfteach.engine.execute.code_blocks import Statement
from tfteach.engine.execute.deferred_updates import allow_deferral
from tfteach.engine.execute.instruction import (
    Halves,
    Instruction,
    read_cell,
    with_frees,
)
from tfteach.engine.execute.kernel_context import Context, Resources
from tfteach.engine.plan.ownership import held_edges
from tfteach.engine.plan.references import (
    accepts_reference,
    carries_reference,
    read_reference,
)
from tfteach.engine.plan.shared_buffers import buffer_of, sharing_buffers
from tfteach.engine.plan.step import (
    Edge,
    Node,
    Step,
    checking_shapes,
    keeping_strings,
    kernel_of,
    needs_context,
    return_names,
    writes,
)
from tfteach.framework.errors import FailedPreconditionError, ResourceExhaustedError
from tfteach.framework.large_array_pool import is_sole_view
from tfteach.framework.shape import Shape, is_full, size_of
from tfteach.framework.threads import LARGE
from tfteach.framework.variable_cell import Cell


class Fuse(Protocol):
    """Replaces chains of element-wise instructions by one instruction each.

    Args:
      code: the instructions.
      shape_of: the static shape of a register.
      keep: registers that are read after the last instruction.
      new_register: makes a register of a shape.
    """

    def __call__(
        self,
        code: Sequence[Instruction],
        shape_of: Callable[[int], Shape],
        keep: set[int],
        new_register: Callable[[Shape], int],
    ) -> list[Instruction]: ...


class Compiled(NamedTuple):
    """A step compiled to instructions.

    Attributes:
      step: the step.
      registers: the initial registers; those of constants and handles are set.
      feeds: the registers of the fed values, in the order of the feeds.
      kept_feeds: the feeds that may outlive the run, so that they must be copied.
      instructions: in execution order.
      fused: the same, with each chain of element-wise ones as one instruction.
      is_heavy: whether all cores should work on one kernel at a time.
      fetches: for each fetch its register, and the function that detaches its value.
      is_transaction: whether writes may have to be undone after a failure.
    """

    step: Step
    registers: list[Any]
    feeds: tuple[int, ...]
    kept_feeds: tuple[int, ...]
    instructions: list[Instruction]
    fetches: tuple[tuple[int, Callable[[Any], Any]], ...]
    fused: list[Instruction]
    is_heavy: bool
    is_transaction: bool


def compile_step(
    step: Step, resources: Resources, session: Any = None, fuse: Fuse | None = None
) -> Compiled:
    """Compile a placed step to instructions; `fuse` joins element-wise ones."""
    return Compiler(step, resources, session).compile(fuse)


class Compiler:
    """Assigns registers to edges, and instructions to nodes."""

    def __init__(self, step: Step, resources: Resources, session: Any) -> None:
        self.step = step
        self.resources = resources
        self.session = session
        self.registers: list[Any] = []
        self.slots: dict[Edge, int] = {}
        self.preset: set[int] = set()
        self.scalars: set[int] = set()
        self.shapes: dict[int, Shape] = {}
        self.cells: set[Edge] = set()
        self.code: list[Instruction] = []
        self.contexts: dict[Node, Context] = {}
        self.held = held_edges(step)

    def add_nodes(self) -> None:
        """The registers and instructions of the step's nodes."""
        for node in self.step.nodes:
            if node.values is not None:
                for i, value in enumerate(node.values):
                    self.preset_constant(node, i, value)
            elif node.spec.returns_handle:
                context = Context(node.op, node.device, self.resources, self.session)
                handle = buffer_of(self.step, node, node.spec.compute(context))
                self.preset_value(Edge(node, 0), handle)
            elif node.forwards_input and not node.op.outputs[0].dtype.is_ref:
                self.forward(node)
            else:
                self.emit(node)

    def compile(self, fuse: Fuse | None = None) -> Compiled:
        step = self.step
        feeds = self.add_feeds()
        self.add_nodes()
        fetched = self.fetch_all()
        keep = {slot for slot, _ in fetched}
        code = self.with_frees(self.code, keep)
        fused = code
        if fuse is not None:
            fused = fuse(self.code, self.shapes.get, keep, self.new_register)
            fused = self.with_frees(fused, keep)
        is_transaction = bool(step.shared) or _needs_transaction(self.code)
        if is_transaction:
            commit = self.allow_deferral(self.code)
            code, fused = [*code, *commit], [*fused, *commit]
        return Compiled(
            step,
            self.registers,
            feeds,
            self.kept_feeds(),
            code,
            fetched,
            fused,
            self.is_heavy(),
            is_transaction,
        )

    def allow_deferral(self, statements: Sequence[Statement]) -> list[Instruction]:
        """Defer updates to the end of the run; returns the instructions that commit."""
        if self.step.shared:  # values read earlier observe them
            return []
        return allow_deferral(statements, self.registers, self.contexts)

    def add_feeds(self) -> tuple[int, ...]:
        """The registers of the feeds."""
        feeds = []
        for tensor, node in self.step.feeds.items():
            edge = Edge(node, 0)
            slot = self.slot(edge)
            self.shapes[slot] = self.step.shapes.get(edge, tensor.static_shape)
            feeds.append(slot)
        return tuple(feeds)

    def is_heavy(self) -> bool:
        """Whether all cores should work on one kernel at a time."""
        return any(
            node.spec.is_heavy
            or any(
                self.size(Edge(node, i)) >= LARGE for i in range(len(node.op.outputs))
            )
            for node in self.step.nodes
        )

    def size(self, edge: Edge) -> int:
        """The number of elements of a result, if its shape is known."""
        shape = self.step.shapes.get(
            edge, edge.node.op.outputs[edge.index].static_shape
        )
        return math.prod(n or 0 for n in shape) if shape else 0

    def slot(self, edge: Edge) -> int:
        found = self.slots.get(edge)
        if found is None:
            found = self.slots[edge] = len(self.registers)
            self.registers.append(None)
        return found

    def new_register(self, shape: Shape = None) -> int:
        """Allocate a register for values of a shape."""
        self.registers.append(None)
        self.shapes[len(self.registers) - 1] = shape
        return len(self.registers) - 1

    def preset_constant(self, node: Node, index: int, value: Any) -> None:
        self.preset_value(Edge(node, index), _normal(node.device.put(value)))

    def add(self, instruction: Instruction) -> None:
        self.code.append(instruction)

    def preset_value(self, edge: Edge, value: Any) -> None:
        slot = self.slot(edge)
        self.registers[slot] = value
        self.preset.add(slot)
        self.shapes[slot] = getattr(value, "shape", None)

    def forward(self, node: Node) -> None:
        """An Identity is an alias of its input, or the read of a variable."""
        source = node.inputs[0]
        if source.node.device is not node.device:
            self.emit(node)
        elif carries_reference(source):
            output = (self.slot(Edge(node, 0)),)
            self.shapes[output[0]] = node.op.outputs[0].static_shape
            read = Instruction(read_cell, (self.slot(source),), output, (), node)
            self.add(read)
        else:
            self.slots[Edge(node, 0)] = self.slot(source)

    def emit(self, node: Node) -> None:
        spec = node.spec
        inputs = tuple(self.argument(node, i) for i in range(len(node.inputs)))
        function: Callable[..., Any] | None = None
        first: Any = node.device.xp
        if needs_context(spec):
            first = Context(node.op, node.device, self.resources, self.session)
            self.contexts[node] = first
        else:
            function = spec.prepared(first, [edge.constant for edge in node.inputs])
        if function is None:
            function = kernel_of(spec, first)
        static = [self.shapes.get(slot) for slot in inputs]
        kernel = checking_shapes(spec, function, static)
        is_checked = kernel is not function
        function = keeping_strings(kernel, node.op.outputs)
        function = sharing_buffers(self.step, node, function)
        bound = node.device.bind(function)
        count = len(node.op.outputs)
        outputs = tuple(self.slot(Edge(node, i)) for i in range(count))
        for i, tensor in enumerate(node.op.outputs):
            shape = self.step.shapes.get(Edge(node, i), tensor.static_shape)
            self.shapes[outputs[i]] = shape
            if size_of(shape) == 1:
                self.scalars.add(outputs[i])
        names = [f"{{{i}}}" for i in range(len(inputs))]
        is_current = bound is function  # else accounted for, or on another card
        is_plain = count == 1 and (is_current or node.device.is_asynchronous)
        # Operators on 0-d object arrays return bare objects: strings need the kernel.
        has_objects = any(t.dtype.numpy_dtype.hasobject for t in node.op.inputs)
        is_plain = is_plain and not has_objects
        fuses = not self.step.shared  # else its inputs may change before it runs
        is_elementwise = is_plain and spec.is_elementwise and fuses
        # Source has no checks; what broadcasts is checked in a program's first runs.
        is_plain = is_plain and (spec.is_elementwise or not is_checked)
        expression = spec.expression(*names) if is_plain and is_current else None
        scalar = None
        if is_plain and fuses and not node.device.is_asynchronous:
            known = (edge.constant for edge in node.inputs)
            scalar = spec.scalar_expression(
                *(literal(c) or n for c, n in zip(known, names, strict=True))
            )
        can_fuse = is_plain and fuses
        halves = None
        if spec.has_host_part and node.device.is_asynchronous:
            halves = _halves(node, first, self.shapes[outputs[0]])
        self.add(
            Instruction(
                *(bound, inputs, outputs, (), node),
                *(expression, is_elementwise, scalar, can_fuse, halves),
            )
        )

    def argument(self, node: Node, index: int) -> int:
        """The register of one input, read from its variable if it is a reference."""
        edge = node.inputs[index]
        slot = self.slot(edge)
        if not carries_reference(edge) or accepts_reference(node, index):
            return slot
        value = self.new_register(edge.node.op.outputs[edge.index].static_shape)
        self.add(Instruction(read_cell, (slot,), (value,), (), node))
        return value

    def kept_feeds(self) -> tuple[int, ...]:
        """The numbers of the feeds that must be copied, since the run may keep them."""
        return tuple(
            i
            for i, (tensor, node) in enumerate(self.step.feeds.items())
            if Edge(node, 0) in self.held and tensor.dtype.is_numpy_compatible
        )

    def fetch_all(self) -> tuple[tuple[int, Callable[[Any], Any]], ...]:
        """The register of each fetch, and the function that detaches its value."""
        fetched = [self.fetch(edge) for edge in self.step.fetches]
        names = return_names(self.step)
        for i, ((slot, own), tensor) in enumerate(
            zip(fetched, self.step.fetched, strict=True)
        ):
            if own is fetch_cell:
                fetched[i] = slot, functools.partial(fetch_cell, name=names[tensor])
        seen: set[int] = set()
        for i, (slot, own) in enumerate(fetched):
            if slot in seen and own is own_value:  # two fetches are one after merging
                fetched[i] = slot, own_copy
            seen.add(slot)
        return tuple(fetched)

    def fetch(self, edge: Edge) -> tuple[int, Callable[[Any], Any]]:
        edge = read_reference(edge)
        slot = self.slot(edge)
        if carries_reference(edge):
            return slot, fetch_cell
        node = edge.node
        if (
            node.is_feed
            or slot in self.preset
            or node.spec.aliases
            or node.spec.is_stateful
            or edge in self.held
            or self.step.shared
        ):
            return slot, own_copy
        return slot, own_value

    def with_frees(self, code: list[Instruction], keep: set[int]) -> list[Instruction]:
        """Record where each register has its last use and can be freed."""
        return with_frees(code, keep | self.preset | self.scalars)


def _halves(node: Node, first: Any, shape: Shape) -> Halves | None:
    """The parts of a kernel that `has_host_part`, if the output's shape is known."""
    if not is_full(shape):
        return None
    spec, device = node.spec, node.device
    dtype = node.op.outputs[0].dtype.numpy_dtype
    on_card = functools.partial(spec.card_part, device.xp, shape, dtype)
    return Halves(functools.partial(spec.host_part, first), device.bind(on_card))


def _needs_transaction(code: Sequence[Instruction]) -> bool:
    """Whether a failed run has anything to undo.

    That is, whether any instruction can fail after the first write to a variable, or
    leave a file behind.
    """
    return any(writes(i.node) and not i.is_read for i in code[:-1]) or any(
        i.node.spec.writes_scratch_files for i in code
    )


def literal(constant: Any) -> str | None:
    """A small integer as source; None for anything else."""
    if constant is None or constant.ndim or constant.dtype.kind != "f":
        return None
    number = float(constant)
    return str(int(number)) if number in range(1000) else None


# ---- values of fetches


def _normal(value: Any) -> Any:
    """Scalars as NumPy scalars, which compute faster than arrays of rank 0."""
    if isinstance(value, np.ndarray) and value.ndim == 0 and not value.dtype.hasobject:
        return value[()]
    return value


def own_value(value: Any) -> Any:
    """A fetched value that nothing else references."""
    if isinstance(value, np.ndarray):
        if value.base is not None and not is_sole_view(value):
            value = _copied(value)
        return value if value.ndim else value[()]
    return to_host(value)


def own_copy(value: Any) -> Any:
    """A copy of a fetched value that may be shared."""
    if isinstance(value, Cell):  # a resource handle, fetched for its identity
        return value
    if isinstance(value, np.ndarray):
        return _copied(value) if value.ndim else value[()]
    return to_host(value)


def _copied(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    try:
        return value.copy()
    except MemoryError:  # of a constant, say, that is one number and a large shape
        raise ResourceExhaustedError(
            None, None, no_room_for(value.shape, value.dtype, "the host", "cpu")
        ) from None


def fetch_cell(cell: Any, name: str = "") -> Any:
    """A copy of a variable for the caller; `name` is TF's name of the fetch."""
    try:
        return own_copy(cell.value)
    except FailedPreconditionError as error:
        error._message += f"\n\t [[{{{{node {name}}}}}]]"
        raise
