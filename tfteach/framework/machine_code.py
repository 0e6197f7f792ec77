"""Functions compiled from LLVM's intermediate representation, if llvmlite is installed.

    pip install tfteach[fast]

For inner loops that must keep their sums in registers, and for loops that Python's
source describes (loops/).  A function takes about 20 ms to compile.  Callers wait for
it: BLAS's threads would contend with a compiler in the background for the cores, and a
result must not depend on the moment at which it ends.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

# What callers allocate for tables of offsets and sizes.
INDEX = "int64"


class Vectors(NamedTuple):
    """The processor's vectors: how long they are, and how many it has."""

    size_bytes: int
    registers: int


_lock = threading.Lock()
_engines: list[Any] = []  # own the compiled functions


@functools.cache
def _native_target() -> Any:
    """LLVM's description of this machine, for which it can compile from now on."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple()


@functools.cache
def is_installed() -> bool:
    """Whether LLVM can be imported."""
    return importlib.util.find_spec("llvmlite") is not None


@functools.cache
def vectors() -> Vectors | None:
    """The vectors of this processor; None if nothing can be compiled for it.

    It must be able to multiply and add in one instruction.
    """
    if not is_installed():
        return None
    try:
        from llvmlite import binding

        name = binding.get_default_triple().partition("-")[0]
        features = binding.get_host_cpu_features()
        _native_target()
    except Exception as error:
        logging.getLogger("tfteach").warning("llvmlite cannot be used: %s", error)
        return None
    if name in ("aarch64", "arm64"):
        return Vectors(16, 32)
    if name != "x86_64" or not (features.get("avx2") and features.get("fma")):
        return None
    return Vectors(64, 32) if features.get("avx512f") else Vectors(32, 16)


def compiled(
    emit: Callable[[Any], Any], arguments: Sequence[Any]
) -> Callable[..., None]:
    """Compile a function for this processor.

    Args:
      emit: adds functions to an empty `llvmlite.ir.Module`, and returns the one to
        compile, which returns nothing.
      arguments: ctypes' types of its arguments.

    Returns:
      The function.  It releases the GIL.
    """
    from llvmlite import binding, ir

    module = ir.Module()
    module.triple = binding.get_process_triple()
    function = emit(module)
    address = compiled_address(str(module), function.name)
    return ctypes.CFUNCTYPE(None, *arguments)(address)


def compiled_address(source: str, name: str, optimizes: bool = False) -> int:
    """Compile a module for this processor.

    Args:
      source: in LLVM's language.
      name: of one of its functions.
      optimizes: whether to optimize the module first, and vectorize its loops.

    Returns:
      The address of that function, which is valid until the process ends.
    """
    from llvmlite import binding

    with _lock:
        target = _native_target().create_target_machine(
            cpu=binding.get_host_cpu_name(),
            features=binding.get_host_cpu_features().flatten(),
        )
        code = binding.parse_assembly(source)
        code.verify()
        if optimizes:
            options = binding.create_pipeline_tuning_options(speed_level=3)
            options.loop_vectorization = True
            builder = binding.create_pass_builder(target, options)
            builder.getModulePassManager().run(code, builder)
        engine = binding.create_mcjit_compiler(code, target)
        engine.finalize_object()
        _engines.append(engine)
        address: int = engine.get_function_address(name)
        return address


class CountedLoop:
    """A loop under construction: `for (i = 0; i < count; i++)`, at least once.

    Args:
      builder: where the loop starts; then inside it, after `end` behind it.
      count: of iterations, an i64.
      carried: values that each iteration replaces; `carried` has those of this one.
    """

    def __init__(self, builder: Any, count: Any, carried: Sequence[Any] = ()) -> None:
        from llvmlite import ir

        self._builder, self._count = builder, count
        before = builder.block
        self._start = builder.append_basic_block()
        builder.branch(self._start)
        builder.position_at_end(self._start)
        self.index = builder.phi(count.type)
        self.index.add_incoming(ir.Constant(count.type, 0), before)
        self.carried = [builder.phi(value.type) for value in carried]
        for phi, value in zip(self.carried, carried, strict=True):
            phi.add_incoming(value, before)

    def end(self, values: Sequence[Any] = ()) -> None:
        """Finish the iteration, with the new values of what is carried."""
        from llvmlite import ir

        builder = self._builder
        following = builder.add(self.index, ir.Constant(self.index.type, 1))
        here = builder.block
        self.index.add_incoming(following, here)
        for phi, value in zip(self.carried, values, strict=True):
            phi.add_incoming(value, here)
        behind = builder.append_basic_block()
        more = builder.icmp_signed("<", following, self._count)
        builder.cbranch(more, self._start, behind)
        builder.position_at_end(behind)
