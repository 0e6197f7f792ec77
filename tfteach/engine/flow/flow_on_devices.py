"""Steps on several devices with branches, loops, or ops that wait for each other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.engine.devices.devices import Device
from tfteach.engine.execute.block_kernel import parts_of
from tfteach.engine.execute.compile import Compiled, compile_step
from tfteach.engine.execute.concurrent_calls import may_wait, may_wait_for_each_other
from tfteach.engine.execute.inter_op_pool import InterOpPool
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.parallel_program import ParallelProgram
from tfteach.engine.execute.program import StepObserver
from tfteach.engine.flow.dataflow import DataflowProgram
from tfteach.engine.flow.device_blocks import UndividedError, divided_blocks
from tfteach.engine.flow.guards import UnstructuredError
from tfteach.engine.flow.nested_blocks import compile_nested
from tfteach.engine.flow.structured_control_flow import recover
from tfteach.engine.plan.step import Step
from tfteach.framework.waiting import Deadline


class FlowOnDevices(ParallelProgram):
    """A runnable step; see `Program`.

    Args:
      compiled: the step, its branches and loops as compound instructions.
      pool_of, is_concurrent: see `ParallelProgram`.
      observed: makes the program for runs with observers that show one thread.
    """

    def __init__(
        self,
        compiled: Compiled,
        pool_of: Callable[[int], InterOpPool | None],
        is_concurrent: bool,
        observed: Callable[[], DataflowProgram],
    ) -> None:
        super().__init__(compiled, pool_of, is_concurrent)
        self._observed = observed

    @functools.cached_property
    def _slow(self) -> DataflowProgram:
        return self._observed()

    def run(
        self,
        fed: Sequence[Any],
        observers: Sequence[StepObserver] = (),
        deadline: Deadline | None = None,
    ) -> Any:
        """Run once; see `Program.run`."""
        if observers and not self.shows_threads(fed, observers):
            return self._slow.run(fed, observers, deadline)
        return super().run(fed, observers, deadline)


def flow_on_devices(
    step: Step,
    resources: Resources,
    session: Any,
    host: Device,
    pool_of: Callable[[int], InterOpPool | None],
) -> FlowOnDevices | DataflowProgram:
    """The program of a step whose devices may work at the same time.

    Args:
      step: placed, and with copies between the devices.
      resources, session: the session's.
      host: the device that computes what loops count.
      pool_of: the session's pool of a number, or None for one thread.
    """

    def dataflow() -> DataflowProgram:
        return DataflowProgram(step, resources, session)

    is_concurrent = may_wait_for_each_other(step)
    try:
        if step.has_control_flow:
            recovered = recover(step)
            step.always = recovered.always
            nested = compile_nested(step, recovered, resources, session)
            compiled = divided_blocks(step, nested, host)
            if is_concurrent:
                _check_blocks(compiled)
        else:
            compiled = compile_step(step, resources, session)
    except (UnstructuredError, UndividedError) as error:
        step.one_thread = str(error)
        return dataflow()
    devices = {instruction.node.device for instruction in compiled.instructions}
    if len(devices) < 2:
        pool_of = _no_pool
    return FlowOnDevices(compiled, pool_of, is_concurrent, dataflow)


def _check_blocks(compiled: Compiled) -> None:
    """Refuse blocks with ops that wait: all in them would wait as well."""
    for instruction in compiled.instructions:
        for part in parts_of(instruction):
            if part is not instruction and may_wait(part.node):
                raise UndividedError(f"{part.node.name} may wait in a branch or loop")


def _no_pool(number: int) -> None:
    return None
