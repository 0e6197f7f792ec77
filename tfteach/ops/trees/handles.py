"""Handles of trees' resources, shared by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tfteach.framework.op import StatefulOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext


class TreeResourceHandleOp(StatefulOp, abstract=True):
    """A handle to a resource of the session; equal names share it."""

    signature = "-> resource: resource"
    container: str = ""
    shared_name: str = ""

    on_gpu: ClassVar[bool] = False
    aliases: ClassVar[bool] = True
    kind: ClassVar[str]
    factory: ClassVar[Callable[[str], Any]]  # from the name to the resource

    def infer_shape(self) -> Shape:
        return ()

    def compute(self, ctx: KernelContext) -> Any:
        name, make = self.shared_name, type(self).factory
        return ctx.resource(self.kind, name, lambda: make(name), self.container)
