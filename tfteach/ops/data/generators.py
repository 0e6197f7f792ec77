"""Datasets of the results of a function that is called until it ends them.

Source: core/kernels/data/generator_dataset_op.cc.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.function_attribute import Function
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.data.dataset import BoundFunction, Called, Dataset, DatasetOp, Running
from tfteach.ops.data.elements import Element


class Generated(Dataset):
    """The results of a function of a state, until it raises OutOfRangeError.

    Args:
      init, following, finalize: functions: the first one makes the state, the last one
        releases it.
    """

    def __init__(
        self, init: BoundFunction, following: BoundFunction, finalize: BoundFunction
    ) -> None:
        self._functions = init, following, finalize

    def elements(self, running: Running) -> Iterator[Element]:
        return GeneratedElements(*(running.call(f) for f in self._functions))


class GeneratedElements:
    """Calls the functions; finalizes at the end, or when it is dropped."""

    def __init__(self, init: Called, following: Called, finalize: Called) -> None:
        self._init, self._following, self._finalize = init, following, finalize
        self._state: list[Any] | None = None
        self._has_ended = False

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        if self._has_ended:
            raise StopIteration
        if self._state is None:
            self._state = self._init(())
        try:
            return tuple(self._following(self._state))
        except OutOfRangeError:
            self._end()
            raise StopIteration from None

    def _end(self) -> None:
        self._has_ended = True
        if self._state is not None:
            with contextlib.suppress(Exception):  # nobody could handle it
                self._finalize(self._state)

    # Not `weakref.finalize`, whose registry would refer to the session forever.
    def __del__(self, exiting: Callable[[], bool] = sys.is_finalizing) -> None:
        if not (exiting() or self._has_ended):
            self._end()


class GeneratorDataset(DatasetOp):
    """Results of a function.  Source: dataset_ops.cc, GeneratorDataset."""

    signature = (
        "init_func_other_args: *Tinit_func_args, "
        "next_func_other_args: *Tnext_func_args, "
        "finalize_func_other_args: *Tfinalize_func_args -> handle: variant"
    )
    init_func: Function
    next_func: Function
    finalize_func: Function
    Tinit_func_args: tuple[DType, ...]
    Tnext_func_args: tuple[DType, ...]
    Tfinalize_func_args: tuple[DType, ...]
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    is_stateful: ClassVar[bool] = True
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def dataset(self, context: KernelContext, *captured: Any) -> Dataset:
        found, rest = [], list(captured)
        for function, kinds in (
            (self.init_func, self.Tinit_func_args),
            (self.next_func, self.Tnext_func_args),
            (self.finalize_func, self.Tfinalize_func_args),
        ):
            count = len(kinds)
            found.append(BoundFunction(context, function, rest[:count]))
            del rest[:count]
        return Generated(*found)
