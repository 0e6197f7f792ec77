"""The program of a step in a session with one card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.engine.devices.devices import Device
from tfteach.engine.execute.compile import Compiled, compile_step
from tfteach.engine.execute.cuda_graph import GraphedStep
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.program import Program
from tfteach.engine.execute.queued_fetches import queue_fetches
from tfteach.engine.flow.dataflow import DataflowProgram
from tfteach.engine.flow.nested_blocks import Nested
from tfteach.engine.flow.nested_source import NestedProgram, program_with_flow
from tfteach.engine.flow.unrolled_step import NotUnrolledError, unrolled
from tfteach.engine.fusion.fuse_on_card import fuse_on_card
from tfteach.engine.optimize.pad_distinct import pad_distinct
from tfteach.engine.optimize.specialize import specialize
from tfteach.engine.plan.step import Change, Step


def card_program(
    step: Step, resources: Resources, session: Any, card: Device
) -> Program | NestedProgram | DataflowProgram:
    """A program that is captured as a CUDA graph, where that is possible.

    Args:
      step: optimized, and with copies between the host and the card.
      resources: the session's.
      session: the session.
      card: the only one.
    """

    def compiled(planned: Step) -> Compiled:
        return queue_fetches(compile_step(planned, resources, session, fuse_on_card))

    def for_shapes(feed_shapes: Sequence[tuple[int, ...]]) -> Compiled:
        padded = step.copy()
        pad_distinct(padded)
        return compiled(specialize(padded, feed_shapes))

    def graphed(special: Compiled) -> GraphedStep:
        return GraphedStep(special, card)

    def graphed_loops(special: Step, nested: Nested) -> GraphedStep | None:
        try:
            return graphed(queue_fetches(unrolled(special, nested, fuse_on_card)))
        except NotUnrolledError as error:
            reason = f"not as a CUDA graph: {error}"
            special.log.append(Change("capture", "", reason))
            return None

    if step.has_control_flow:
        return program_with_flow(step, resources, session, hot_step=graphed_loops)
    return Program(compiled(step), for_shapes, graphed)
