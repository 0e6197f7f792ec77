"""Fetches from a card that are copied one behind the other, with one wait for all."""

from __future__ import annotations

from typing import Any

from tfteach.engine.devices.card_copies import Download
from tfteach.engine.execute.compile import Compiled, own_value
from tfteach.engine.execute.instruction import Instruction
from tfteach.engine.plan.partition import Recv


def queue_fetches(compiled: Compiled) -> Compiled:
    """The step, whose copies to the host that are only fetched are not waited for.

    Observers see each instruction end, so that the list for them stays as it is.
    """
    read = {slot for i in compiled.fused for slot in i.inputs}
    fetched = {slot for slot, _ in compiled.fetches} - read

    def is_queued(instruction: Instruction) -> bool:
        spec = instruction.node.spec
        return (
            isinstance(spec, Recv)
            and spec.source.is_asynchronous
            and not spec.target.is_asynchronous
            and instruction.outputs[0] in fetched
        )

    queued = {i.outputs[0] for i in compiled.fused if is_queued(i)}
    return compiled._replace(
        fused=[
            i._replace(function=i.node.spec.queue) if is_queued(i) else i  # type: ignore[attr-defined]
            for i in compiled.fused
        ],
        fetches=tuple(
            (slot, arrived if slot in queued else own) for slot, own in compiled.fetches
        ),
    )


def arrived(value: Any) -> Any:
    """A fetched value, once it has been copied to the host."""
    return value.wait() if isinstance(value, Download) else own_value(value)
