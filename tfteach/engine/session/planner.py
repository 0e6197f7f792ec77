"""From fetches and feeds to a program: prune, place, optimize, partition, compile."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tfteach.engine.devices.devices import Device, local_devices
from tfteach.engine.execute.compile import Compiled, compile_step
from tfteach.engine.execute.concurrent_calls import may_wait_for_each_other
from tfteach.engine.execute.concurrent_program import (
    ConcurrentProgram,
    Parts,
    compile_parts,
)
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.program import Program
from tfteach.engine.flow.dataflow import DataflowProgram
from tfteach.engine.flow.nested_source import NestedProgram, program_with_flow
from tfteach.engine.fusion.fuse_chains import fuse_chains
from tfteach.engine.optimize import optimize
from tfteach.engine.optimize.specialize import specialize
from tfteach.engine.plan.build_step import build_step
from tfteach.engine.plan.partition import Transfers, partition
from tfteach.engine.plan.pin_to_host import pin_to_host
from tfteach.engine.plan.place import Placement, Placer
from tfteach.engine.plan.prune import prune
from tfteach.engine.plan.step import Step, control_of
from tfteach.engine.session.config_proto import Options
from tfteach.engine.session.device_list import DeviceLog
from tfteach.engine.session.fetches import Element
from tfteach.engine.session.function_programs import FunctionPrograms
from tfteach.engine.session.inter_op_pools import InterOpPools
from tfteach.engine.session.targets import RemoteProgram
from tfteach.framework.functions.body import Body
from tfteach.framework.op import Op
from tfteach.framework.operation import Tensor

LocalProgram = Program | NestedProgram | DataflowProgram | ConcurrentProgram
AnyProgram = LocalProgram | RemoteProgram


class StepPlanner:
    """Plans the steps of one session.

    Attributes:
      options: the session's, as read from its ConfigProto.
      devices: those that the session can use; the first is the host.
      pools: the threads on which the devices' executors run.
      placer: decides on which of them an op runs.
      placements: op name -> where it was placed last, and why.
      transfers: counts the copies between devices.
      programs: the number of programs compiled.
      functions: the programs of functions that kernels call.
      planning_s: how long planning and compiling them took, in seconds.
    """

    def __init__(
        self, options: Options, config: Any, devices: list[Device] | None = None
    ) -> None:
        self.options = options
        self.devices = local_devices(config) if devices is None else devices
        self.pools = InterOpPools(config)
        self.placements: dict[str, Placement] = {}
        self.transfers = Transfers()
        self.programs, self.planning_s = 0, 0.0
        self.functions = FunctionPrograms(self._program_of_body)
        log = DeviceLog(options.log_device_placement)
        log.session_made(self.devices)
        self.placer = Placer(
            self.devices,
            options.allow_soft_placement,
            options.place_pruned_graph,
            log,
            options.log_device_placement,
        )

    def plan(
        self,
        elements: Iterable[Element],
        fed: tuple[Tensor, ...],
        unfolded: bool = False,
        bound: Mapping[Tensor, Op] | None = None,
    ) -> Step:
        """Prune, place and optimize: the step, ready to compile.

        Args:
          elements: the fetched tensors and operations.
          fed: the fed tensors.
          unfolded: True to leave out the optimizer's passes.
          bound: what takes the place of placeholders that have one value for ever.
        """
        elements = tuple(elements)
        step = build_step(prune(elements, fed), elements, fed)
        if bound:
            _bind(step, bound)
        self.place(step)
        options = self.options
        if options.optimizes and not unfolded:
            optimize(step, options.fold_constants, options.merge_duplicates)
        self.partition(step)
        return step

    def _program_of_body(
        self, body: Body, resources: Resources, session: Any
    ) -> LocalProgram:
        """The program of a function that a kernel calls, fed with its arguments."""
        return self.program_of(body, {}, resources, session)

    def program_of(
        self,
        body: Body,
        bound: Mapping[Tensor, Op],
        resources: Resources,
        session: Any,
    ) -> LocalProgram:
        """The program of a function.

        Args:
          body: the function's.
          bound: inputs that have one value for ever, and the ops that output it; the
            program is fed with the other inputs.
          resources: the state of its ops.
          session: what it runs in.
        """
        planner = copy.copy(self)
        whole = self.placer
        planner.placer = Placer(whole.devices, whole.allow_soft, only_pruned=True)
        elements: tuple[Element, ...] = (*body.outputs, *body.effects)
        fed = tuple(t for t in body.inputs if t not in bound)
        step = planner.plan(elements, fed, bound=bound)
        step.may_fetch_dead = True
        return planner.compile(step, resources, session)

    def count(self, elapsed_s: float) -> None:
        """Count a program that was compiled."""
        self.programs += 1
        self.planning_s += elapsed_s

    def place(self, step: Step) -> None:
        """Assign a device to each of the step's nodes, and record the reasons."""
        step.placements = self.placer.place(step)
        self.placements.update((p.name, p) for p in step.placements)

    def partition(self, step: Step) -> None:
        """Put copies into the edges that cross devices."""
        if len(self.devices) > 1:
            pin_to_host(step, self.devices[0])
            partition(step, self.devices[0], self.transfers)

    def close(self) -> None:
        """Release what programs and threads hold; runs that have begun go on."""
        self.functions.clear()
        self.pools.close()

    def when_finished(self, result: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """`result`, for which the cards have computed everything that a run began."""
        cards = [device for device in self.devices if device.is_asynchronous]
        if not cards:
            return result

        def finished(values: Any) -> Any:
            for card in cards:
                card.synchronize()
            return result(values)

        return finished

    def compile(self, step: Step, resources: Resources, session: Any) -> LocalProgram:
        """The runnable program of a planned step.

        Args:
          step: from `plan`.
          resources: the session's variables and other state.
          session: the session, for kernels that ask for it.
        """
        more = self.devices[1:]
        card = self._only_card(step)
        optimizes = step.is_optimized and (not more or card is not None)
        may_wait = may_wait_for_each_other(step)
        if (may_wait or step.has_control_flow) and self._divides(step, card):
            from tfteach.engine.flow.flow_on_devices import flow_on_devices

            host, pool_of = self.devices[0], self.pools.get
            return flow_on_devices(step, resources, session, host, pool_of)
        if may_wait:
            return self._concurrent(step, resources, session, optimizes)
        if card is not None and optimizes:
            from tfteach.engine.session.card_programs import card_program

            return card_program(step, resources, session, card)
        if step.has_control_flow:
            return program_with_flow(step, resources, session, optimizes)
        if not optimizes:
            return self._on_devices(compile_step(step, resources, session))

        def for_shapes(feed_shapes: Sequence[tuple[int, ...]]) -> Compiled:
            special = specialize(step, feed_shapes)
            return compile_step(special, resources, session, fuse_chains)

        return Program(compile_step(step, resources, session, fuse_chains), for_shapes)

    def _only_card(self, step: Step) -> Device | None:
        """The card that a step uses beside the host; None if there is another device.

        A step on the host alone could use any.
        """
        used = {node.device for node in step.nodes} - {self.devices[0]}
        found = used or set(self.devices[1:2])
        if len(found) > 1 or not all(device.is_asynchronous for device in found):
            return None
        return next(iter(found), None)

    def _divides(self, step: Step, card: Device | None) -> bool:
        """Whether executors may run a step with branches or ops that wait."""
        has_peers = any(node.spec.waits_for_peers for node in step.nodes)
        is_plain = step.is_optimized and not step.shared and not has_peers
        return is_plain and card is None and len(self.devices) > 1

    def _on_devices(self, compiled: Compiled) -> Program:
        """A program whose executors may run beside each other, if it has several."""
        devices = {instruction.node.device for instruction in compiled.instructions}
        if len(devices) < 2 or compiled.step.shared:
            return Program(compiled)
        from tfteach.engine.execute.parallel_program import ParallelProgram

        return ParallelProgram(compiled, self.pools.get)

    def _concurrent(
        self, step: Step, resources: Resources, session: Any, optimizes: bool
    ) -> ConcurrentProgram | DataflowProgram:
        def dataflow() -> DataflowProgram:
            return DataflowProgram(step, resources, session)

        if not optimizes or step.has_control_flow or step.shared:
            return dataflow()
        # Parts run in the order of these edges only, also after further passes.
        present = {*step.feeds.values(), *step.nodes}
        for node in step.nodes:
            node.control = control_of(node, present)

        def compiled(feed_shapes: Sequence[tuple[int, ...]] | None) -> Parts:
            special = step if feed_shapes is None else specialize(step, feed_shapes)
            return compile_parts(special, resources, session, fuse_chains)

        return ConcurrentProgram(step, compiled, dataflow)


def _bind(step: Step, bound: Mapping[Tensor, Op]) -> None:
    """Replace placeholders that have one value for ever by ops that output it."""
    for node in step.nodes:
        for tensor in node.op.outputs[:1]:
            node.spec = bound.get(tensor, node.spec)
