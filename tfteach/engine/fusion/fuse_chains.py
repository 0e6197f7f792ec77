"""All fusion of a step's instructions."""

from __future__ import annotations

from collections.abc import Sequence

from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.fusion.epilogues import join_epilogues
from tfteach.engine.fusion.fuse_large import fuse
from tfteach.engine.fusion.fuse_small import NewRegister, ShapeOf, compile_chains
from tfteach.framework.machine_code import is_installed


def fuse_chains(
    code: Sequence[Instruction],
    shape_of: ShapeOf,
    keep: set[int],
    new_register: NewRegister,
) -> list[Instruction]:
    """Chains on large arrays in one pass over memory, then those that LLVM compiles.

    Those that read the result of a kernel that takes epilogues are joined to it.

    The arguments are those of `compile_chains`.
    """
    fused = fuse(code, shape_of, keep)
    if is_installed():
        fused = compile_chains(fused, shape_of, keep, new_register)
        fused = join_epilogues(fused, keep)
    return fused
