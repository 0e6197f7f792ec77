"""Chains of element-wise ops as one kernel of a card.

A kernel for each op reads its arguments from the card's memory and writes its result
there, which takes longer than computing it; and each has to be launched.  The kernel
of a chain is compiled from the formulas of its ops (framework/cuda_source.py), by CuPy,
which also broadcasts the arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.engine.execute.compile import literal
from tfteach.engine.execute.instruction import Chain, Instruction
from tfteach.engine.fusion.fuse_large import Fuser
from tfteach.engine.fusion.fuse_small import NewRegister, ShapeOf, is_one_operation
from tfteach.framework import shape as shapes
from tfteach.framework.cuda_source import C_TYPES, cuda_expression, number_type
from tfteach.framework.shape import Shape, size_of
from tfteach.framework.type_aliases import ArrayModule

# What the arguments of a kernel may take is limited: 4 KB, 40 bytes an array or more.
MAX_ARRAYS = 30
MAX_PARTS = 64


def fuse_on_card(
    code: Sequence[Instruction],
    shape_of: ShapeOf,
    keep: set[int],
    new_register: NewRegister,
) -> list[Instruction]:
    """The instructions with each chain of element-wise ones on a card fused.

    The arguments are those of `compile_chains`.
    """
    return _CardFuser(code, shape_of, keep).run()


class _CardFuser(Fuser):
    max_parts = MAX_PARTS

    def is_candidate(self, instruction: Instruction) -> bool:
        if not instruction.node.device.is_asynchronous:
            return False
        if formula_of(instruction) is None:
            return False
        shape = self.shape_of(instruction.outputs[0])
        if not shapes.is_full(shape):
            return False
        # Others than element-wise ops have rules of their own for unlike shapes.
        return instruction.is_elementwise or all(
            self.shape_of(slot) == shape or size_of(self.shape_of(slot)) == 1
            for slot in instruction.inputs
        )

    def fused(self, chain: Chain, shape: Shape) -> Instruction | None:
        parts, inputs, outputs = chain
        if len(parts) == 1 and is_one_operation(parts[0].expression):
            return None  # CuPy does it by one kernel too
        if len(inputs) + len(outputs) > MAX_ARRAYS:
            return None
        return chain.as_one(parts[0].node.device.bind(CardChain(chain)))


def _formula(spec: Any, literals: tuple[str | None, ...]) -> str | None:
    names = [number or f"{{{i}}}" for i, number in enumerate(literals)]
    found = spec.scalar_expression(*names)
    if found is None and spec.card_formula is not None:
        found = spec.card_formula.format(*names)
    return found  # type: ignore[no-any-return]


def formula_of(instruction: Instruction) -> str | None:
    """The formula of an instruction, with {0}, {1} ... for its inputs, or None."""
    node = instruction.node
    if len(instruction.outputs) != 1 or not instruction.can_fuse:
        return None
    tensors = (*node.op.inputs, *node.op.outputs)
    types = [tensor.dtype.numpy_dtype for tensor in tensors]
    if any(dtype.name not in C_TYPES for dtype in types):
        return None
    if not node.spec.converts and not all(
        dtype.kind == "b" or number_type(dtype) for dtype in types
    ):
        return None  # integers wrap around, and round otherwise
    return _formula(node.spec, tuple(literal(edge.constant) for edge in node.inputs))


class CardChain:
    """Several element-wise kernels as one.

    Args:
      chain: the instructions; a single output is returned bare.

    Attributes:
      parts: they.
      source: the parameters, the results and the body of the kernel.
    """

    def __init__(self, chain: Chain) -> None:
        self.parts = chain.parts
        self._xp = chain.parts[0].node.device.xp
        self.source = kernel_source(chain)

    def __call__(self, *arrays: Any) -> Any:
        return compiled(self._xp, *self.source)(*arrays)


@functools.lru_cache(maxsize=1024)
def compiled(
    xp: ArrayModule, inputs: str, outputs: str, body: str, name: str = "chain"
) -> Callable[..., Any]:
    """The kernel, which is compiled when it is called first."""
    return xp.ElementwiseKernel(inputs, outputs, body, name)  # type: ignore[no-any-return]


def kernel_source(chain: Chain) -> tuple[str, str, str]:
    """Parameters, results and body of the kernel of a chain.

    A number of two bytes is computed in four, and rounded after each part.
    """
    parts, inputs, outputs = chain
    types: dict[int, Any] = {}
    for part in parts:
        types[part.outputs[0]] = part.node.op.outputs[0].dtype.numpy_dtype
        for slot, tensor in zip(part.inputs, part.node.op.inputs, strict=True):
            types.setdefault(slot, tensor.dtype.numpy_dtype)
    # Chains that compute the same have the same source, whatever their registers.
    names = {slot: f"s{i}" for i, slot in enumerate(types)}
    lines = []
    for i, slot in enumerate(inputs):
        kind = number_type(types[slot]) or C_TYPES[types[slot].name]
        lines.append(f"{kind} {names[slot]} = a{i};")
    for part in parts:
        [slot] = part.outputs
        formula = formula_of(part)
        assert formula is not None
        given = [types[slot] for slot in (*part.inputs, *part.outputs)]
        is_double = any(dtype.name == "float64" for dtype in given)
        kind = "double" if is_double else "float"
        value = cuda_expression(
            formula.format(*(names[slot] for slot in part.inputs)), kind
        )
        stored = C_TYPES[types[slot].name]
        held = number_type(types[slot]) or stored
        rounded = f"({stored})((float)({value}))" if stored != held else value
        lines.append(f"{held} {names[slot]} = {rounded};")
    for i, slot in enumerate(outputs):
        lines.append(f"r{i} = {names[slot]};")
    taken = ", ".join(f"{types[slot].name} a{i}" for i, slot in enumerate(inputs))
    made = ", ".join(f"{types[slot].name} r{i}" for i, slot in enumerate(outputs))
    return taken, made, "\n".join(lines)
