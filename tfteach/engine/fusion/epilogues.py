"""Compiled chains as epilogues of the kernels whose results they read.

A convolution computes its result part by part; a bias and Relu that follow change each
part while it is cached (framework/epilogue.py), by the loop that would run afterwards,
in place.  Ops with `takes_epilogue` can be followed so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.execute.kernel_errors import raise_blaming
from tfteach.engine.fusion.fuse_small import ChainKernel
from tfteach.engine.plan.step import writes
from tfteach.framework.epilogue import Epilogue
from tfteach.framework.loops.compile_loop import Loop
from tfteach.framework.shape import size_of

# Elements from which it pays: smaller arrays stay in the cache of a core.
MIN_ELEMENTS = 1 << 17


def join_epilogues(code: Sequence[Instruction], keep: set[int]) -> list[Instruction]:
    """The instructions, with each chain that can be an epilogue joined to its kernel.

    Args:
      code: in execution order; their `frees` are ignored.
      keep: registers that are used after the last instruction.
    """
    uses = Counter(slot for i in code for slot in set(i.inputs))
    single = {slot for slot, count in uses.items() if count == 1} - keep
    # Instructions that may move down to a chain.  Behind an update they would hold an
    # array that it could have changed in place.
    movable: dict[int, Instruction] = {}
    result: list[Instruction] = []
    for instruction in code:
        if writes(instruction.node) and not instruction.is_read:
            movable.clear()
        joined = _joined(instruction, movable)
        if joined is not None:
            first, instruction = joined
            result.remove(first)
            del movable[first.outputs[0]]
        elif instruction.node.spec.takes_epilogue and single.issuperset(
            instruction.outputs
        ):
            movable[instruction.outputs[0]] = instruction
        result.append(instruction)
    return result


def _joined(
    instruction: Instruction, movable: dict[int, Instruction]
) -> tuple[Instruction, Instruction] | None:
    """A kernel, and the instruction that replaces it and its chain."""
    chain = instruction.function
    if not isinstance(chain, ChainKernel) or len(instruction.outputs) > 1:
        return None
    if (size_of(chain.shape) or 0) < MIN_ELEMENTS:
        return None
    for place, argument in enumerate(chain.arguments):
        first = movable.get(instruction.inputs[place])
        if first is None or argument.form != "whole":
            continue
        rest = [a for i, a in enumerate(chain.arguments) if i != place]
        assert chain.shape is not None
        if (
            all(
                form in ("whole", "number")
                or (form == "row" and shape == chain.shape[-1:])
                for form, shape in rest
            )
            and _type_of(first) == chain.machine_code.made[0]
        ):
            others = [slot for i, slot in enumerate(instruction.inputs) if i != place]
            return first, instruction._replace(
                function=FollowedKernel(first, chain, place),
                inputs=(*first.inputs, *others),
            )
    return None


def _type_of(instruction: Instruction) -> Any:
    return instruction.node.op.outputs[0].dtype.numpy_dtype


class FollowedKernel:
    """A kernel, and the chain that reads its result.

    Args:
      first: the instruction of the kernel.
      chain: has one result, of the kernel's result's shape and type.
      place: which of its arguments is the kernel's result.
    """

    def __init__(self, first: Instruction, chain: ChainKernel, place: int) -> None:
        self.parts = (first, *chain.parts)
        self._first, self._chain, self._place = first, chain, place
        self._others = [a for i, a in enumerate(chain.arguments) if i != place]
        self._loop: Loop | None = None

    def __call__(self, *arrays: Any) -> Any:
        count, place, chain = len(self._first.inputs), self._place, self._chain
        others = arrays[count:]
        run = self._run(others)
        with Epilogue(chain.shape, chain.machine_code.made[0], run) as epilogue:
            try:
                value = self._first.function(*arrays[:count])
            except Exception as error:
                raise_blaming(error, self._first)
        asks = epilogue.result is value
        if asks and run is not None:
            return value
        taken = (*others[:place], value, *others[place:])
        if not asks:  # small, or computed otherwise: with the channels first
            return chain(*taken)
        if self._loop is None:
            forms = [form for form, _ in chain.arguments]
            size = size_of(chain.shape) or 0
            self._loop = chain.machine_code.loop(forms, size, place)
        return chain.one_by_one(*taken)

    def _run(self, others: Sequence[Any]) -> Callable[[Any, int, int], None] | None:
        """The loop on a range of the elements, for these arguments, if it is ready."""
        loop = self._loop
        pairs = list(zip(others, self._others, strict=True))
        if loop is None or any(array.shape != known.shape for array, known in pairs):
            return None
        cuts = [(array.ravel(), known.form) for array, known in pairs]

        def run(result: Any, begin: int, end: int) -> None:
            taken = []
            for array, form in cuts:
                if form == "number":
                    taken.append(array[0])
                else:
                    taken.append(array[begin:end] if form == "whole" else array)
            loop(*taken, result[begin:end])

        return run
