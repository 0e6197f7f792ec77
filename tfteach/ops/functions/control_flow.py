"""Branches and loops whose bodies are functions of the graph's library.

A step has `Switch`, `Merge`, `Enter` ... around the functions' ops in their place, as
TensorFlow lowers them; the control package builds these (control/functional_bodies.py).
Source: core/ops/functional_ops.cc.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tfteach.framework.dtypes import DType
from tfteach.framework.function_attribute import Function
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.op_traits import Int32Kernel
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule

# The attribute of nodes that are replaced by Switch, Merge ... before pruning.
LOWERED = "_lower_using_switch_merge"


class _Functional(MultiOutputOp, abstract=True):
    """The results of functions, of which some run, or run repeatedly."""

    calls_function: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False

    def output_shapes_of(self, count: int) -> list[Shape]:
        """The shapes that the attribute states for `count` outputs."""
        given: Any = getattr(self, "output_shapes", None)
        return list(given) if given else [None] * count


class _If(_Functional, abstract=True):
    host_inputs: ClassVar[tuple[str, ...]] = ("cond",)

    def infer_shape(self, cond: Shape, input: list[Shape]) -> list[Shape]:
        spec: Any = self
        return self.output_shapes_of(len(spec.Tout))


class If(_If):
    """The results of `then_branch` if `cond` is true, else of `else_branch`.

    A number counts as true unless it is 0, a string unless it is empty, an array of
    rank 1 or more unless it has no elements.  Source: functional_ops.cc, If.
    """

    signature = "cond: Tcond, input: *Tin -> output: *Tout"
    Tin: tuple[DType, ...]
    Tout: tuple[DType, ...]
    then_branch: Function
    else_branch: Function
    output_shapes: tuple[Shape, ...] = ()

    is_stateful: ClassVar[bool] = True


class StatelessIf(_If):
    """`If` of functions without state.  Source: functional_ops.cc, StatelessIf."""

    signature = "cond: Tcond, input: *Tin -> output: *Tout"
    Tin: tuple[DType, ...]
    Tout: tuple[DType, ...]
    then_branch: Function
    else_branch: Function
    output_shapes: tuple[Shape, ...] = ()


class Case(_Functional):
    """The results of `branches[branch_index]`; of the last one if there is none.

    Source: functional_ops.cc, Case.
    """

    signature = "branch_index: int32, input: *Tin -> output: *Tout"
    Tin: tuple[DType, ...]
    Tout: tuple[DType, ...]
    branches: tuple[Function, ...]
    output_shapes: tuple[Shape, ...] = ()

    minimum: ClassVar[Mapping[str, int]] = {"branches": 1}
    host_inputs: ClassVar[tuple[str, ...]] = ("branch_index",)
    is_stateful: ClassVar[bool] = True

    def infer_shape(self, branch_index: Shape, input: list[Shape]) -> list[Shape]:
        spec: Any = self
        return self.output_shapes_of(len(spec.Tout))


class _While(_Functional, abstract=True):
    passes_handles: ClassVar[bool] = True

    def infer_shape(self, input: list[Shape]) -> list[Shape]:
        given: Any = self
        return list(given.output_shapes or input)


class While(_While):
    """The values after `body` was applied as long as `cond` of them is true.

    Source: functional_ops.cc, While.
    """

    signature = "input: *T -> output: *T"
    T: tuple[DType, ...]
    cond: Function
    body: Function
    output_shapes: tuple[Shape, ...] = ()
    parallel_iterations: int = 10

    is_stateful: ClassVar[bool] = True


class StatelessWhile(_While):
    """`While` of functions without state.  Source: functional_ops.cc."""

    signature = "input: *T -> output: *T"
    T: tuple[DType, ...]
    cond: Function
    body: Function
    output_shapes: tuple[Shape, ...] = ()
    parallel_iterations: int = 10


class For(_Functional):
    """The values after `body` was applied to each number of a range and them.

    Source: functional_ops.cc, For.
    """

    signature = "start: int32, limit: int32, delta: int32, input: *T -> output: *T"
    T: tuple[DType, ...]
    body: Function

    host_inputs: ClassVar[tuple[str, ...]] = ("start", "limit", "delta")

    def infer_shape(
        self, start: Shape, limit: Shape, delta: Shape, input: list[Shape]
    ) -> list[Shape]:
        return [None] * len(input)


class FakeParam(Op):
    """A value that must not be used: of the branch that did not run.

    Source: functional_ops.cc, FakeParam.
    """

    signature = "-> output: dtype"
    dtype: DType
    shape: Shape

    int32_on_gpu: ClassVar[Int32Kernel] = "device"
    variants_on_gpu: ClassVar[bool] = True

    def infer_shape(self) -> Shape:
        return self.shape

    def compute(self, xp: ArrayModule) -> Any:
        if not self.dtype.is_numpy_compatible:
            return None
        sizes = tuple(n or 0 for n in self.shape or ())
        return xp.zeros(sizes, self.dtype.numpy_dtype)
