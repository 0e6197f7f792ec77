"""What explains the runs of a session on servers, and what refuses it by name."""

from __future__ import annotations

import pytest

import tfteach as tf
from tfteach import explain
from tfteach.explain.devices.partitions import partitions
from tfteach.explain.devices.placement import placement
from tfteach.explain.runs import sessions
from tfteach.jupyter import PlacementView

PS = "/job:ps/replica:0/task:0/device:CPU:0"
WORKER = "/job:worker/replica:0/task:0/device:CPU:0"


def test_the_plan_is_that_of_the_servers(session: tf.Session, target: str) -> None:
    found = placement(session, "y:0", ["x:0"])
    assert found.plan == (
        f"1 ps task and 1 worker task of the servers at {target}. Feeds and fetches "
        "pass through worker:0."
    )
    assert [device.name for device in found.devices] == [PS, WORKER]
    assert found.of("w").assigned == PS
    assert found.of("y").assigned == WORKER
    (link,) = partitions(session, "y:0", ["x:0"]).links
    assert (link.tensor, link.source, link.target) == ("w/read:0", PS, WORKER)
    view = PlacementView(session, ["y:0"], ["x:0"])
    assert view.placement().plan == found.plan


def test_a_timed_run(session: tf.Session) -> None:
    times = explain.timed(session, "y:0", {"x:0": [1.0, 2.0]}, runs=1)
    assert {op.device for op in times.ops} == {PS, WORKER}
    ((send, receive),) = times.copies()
    assert (send.device, receive.device) == (PS, WORKER)
    assert receive.size_bytes == 8
    assert send.start_us <= receive.start_us <= receive.end_us


def test_what_variables_hold_on_the_servers(session: tf.Session) -> None:
    found = explain.state_of(session)
    assert found["w"] == sessions.Value("[1, 1]", found["w"].digest)  # type: ignore[union-attr]
    assert found["unset"] is None
    assert found["large"] == sessions.Value("on the server of 20,000 values", 0)
    log = explain.SessionLog(session.graph, {"s": session})
    session.run(session.graph.get_operation_by_name("w/Assign"))
    assert log.runs[0].changes == ()
    log.close()


def test_servers_that_are_out_of_reach(target: str, session: tf.Session) -> None:
    def gone(*arguments: object) -> None:
        raise tf.errors.UnavailableError(None, None, "gone")

    session._remote.program = gone
    values = {value.text for value in explain.state_of(session).values() if value}
    assert values == {"out of reach: UnavailableError"}


def test_steps_of_servers_cannot_be_recorded(session: tf.Session) -> None:
    with pytest.raises(NotImplementedError, match="%timeline and %cluster --fetch"):
        explain.record(session, "y:0", {"x:0": [1.0, 2.0]})
    with pytest.raises(NotImplementedError, match="%timeline and %cluster --fetch"):
        session.planned_step([session.graph.get_operation_by_name("y")], ())
