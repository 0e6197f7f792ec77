"""Channels between executors keep the order of their values; an abort ends all."""

from __future__ import annotations

from typing import Any

import pytest

from tfteach.engine.devices.devices import Device
from tfteach.engine.execute.rendezvous import Rendezvous, create_key


def test_keys_are_those_of_tensorflow() -> None:
    # Rendezvous::CreateKey of 1.15.5, for DirectSession's incarnation.
    local = "/job:localhost/replica:0/task:0/device"
    assert create_key(Device("CPU", 0), Device("GPU", 1), "edge_5_x") == (
        f"{local}:CPU:0;0000000000000001;{local}:GPU:1;edge_5_x;0:0"
    )


@pytest.mark.parametrize("order", ["ssrr", "rrss", "srsr", "rsrs", "srrs", "rssr"])
def test_a_channel_keeps_the_order_of_its_values(order: str) -> None:
    rendezvous = Rendezvous(1)
    values, got = iter("ab"), []
    for call in order:
        if call == "s":
            rendezvous.send("x", next(values))
            rendezvous.send("another", 0)
        else:
            rendezvous.recv_async("x", lambda value, error: got.append((value, error)))
    assert got == [("a", None), ("b", None)]


def test_an_abort_ends_pending_and_later_calls() -> None:
    rendezvous, got = Rendezvous(7), []

    def done(value: Any, error: BaseException | None) -> None:
        got.append((value, str(error)))

    rendezvous.recv_async("x", done)
    rendezvous.send("y", 1)
    rendezvous.start_abort(ValueError("first"))
    rendezvous.start_abort(ValueError("second"))
    rendezvous.recv_async("y", done)
    assert got == [(None, "first"), (None, "first")]
    with pytest.raises(ValueError, match="first"):
        rendezvous.send("x", 1)
    assert repr(rendezvous) == "<Rendezvous of step 7>"
