"""Step stats of several tasks: rows as TensorFlow 1.15's and our workers write them."""

from __future__ import annotations

import pytest

from tfteach.explain.profiling.task_stats import _nearest, joined
from tfteach.explain.profiling.timing import times_of
from tfteach.framework import protos

PS = "/job:ps/replica:0/task:0/device:CPU:0"
WORKER = "/job:worker/replica:0/task:0/device:CPU:0"
HOST = "/host:CPU"
ARRIVED = "[8B] [0.141907Mb/s] edge_4_w/read"

# (device, name, label, start and duration in us), as servers of TensorFlow 1.15.5 wrote
# them for one step; the row "w/read_S1:_Recv" was lost there.
TENSORFLOW = [
    (WORKER, "RecvTensor", f"{ARRIVED} from {PS} to {WORKER}", 251, 451),
    (HOST, "MatMul:MatMul", f"id=4,device={WORKER},async=false", 745, 7),
    (HOST, "MatMul_1_S4:_Send", f"id=4,device={WORKER},async=false", 870, 35),
    (WORKER, "MatMul", "MatMul = MatMul(_recv_x_0, w/read_S1)", 743, 19),
    (WORKER, "MatMul_1", "MatMul_1 = MatMul(_recv_x_0, MatMul)", 862, 6),
    (HOST, "MatMul_1_S5:_Recv", f"id=4,device={PS},async=true", 144, 33),
    (HOST, "w/read_S0:_Send", f"id=4,device={PS},async=false", 236, 7),
    (PS, "w/read", "w/read = Identity(w)", 232, 2),
    (PS, "update", "update = ApplyGradientDescent(w, lr, MatMul_1_S5)", 1131, 12),
]
# The same step by our workers: a `_Recv` ends when its tensor is there.
OWN = [
    (HOST, "w/read/_1:_Recv", f"id=1,device={WORKER},async=true", 100, 600),
    (WORKER, "MatMul", "MatMul = MatMul(x, w/read/_1)", 743, 19),
    (HOST, "MatMul_1/_4:_Send", f"id=1,device={WORKER},async=false", 870, 35),
    (WORKER, "MatMul_1", "MatMul_1 = MatMul(x, MatMul)", 862, 6),
    (HOST, "MatMul_1/_5:_Recv", f"id=2,device={PS},async=true", 144, 900),
    (HOST, "w/read/_0:_Send", f"id=2,device={PS},async=false", 236, 7),
    (PS, "w/read", "w/read = Identity(w)", 232, 2),
    (PS, "update", "update = ApplyGradientDescent(w, lr, MatMul_1/_5)", 1131, 12),
]
Rows = list[tuple[str, str, str, int, int]]


def stats_of(rows: Rows, late_us: int = 0) -> protos.StepStats:
    """Step stats; the clock of ps:0 may be late."""
    stats = protos.StepStats()
    for device, name, label, start_us, elapsed_us in rows:
        offset = 10_000 - (late_us if PS in (device, label[12:49]) else 0)
        own = stats.dev_stats.add(device=device).node_stats.add()
        own.node_name, own.timeline_label = name, label
        own.all_start_micros, own.all_end_rel_micros = start_us + offset, elapsed_us
    return stats


def transfers(stats: protos.StepStats) -> list[tuple[str, float, float, float]]:
    """Of each: its `_Recv`, when it was sent, and when that begins and ends."""
    times = times_of(stats)
    return [
        (receive.name, send.start_us, receive.start_us, receive.end_us)
        for send, receive in times.copies()
    ]


def test_transfers_of_tensorflow() -> None:
    """The log of arrivals counts; without it, the first op that reads the tensor."""
    assert transfers(stats_of(TENSORFLOW)) == [
        ("w/read/_1", 4, 4, 470),
        ("MatMul_1/_5", 638, 638, 899),
    ]
    names = {op.name: op.inputs for op in times_of(stats_of(TENSORFLOW)).ops}
    assert names["update"] == ("w", "lr", "MatMul_1/_5")
    assert "RecvTensor" not in names


def test_waiting_for_a_tensor_is_no_transfer() -> None:
    assert transfers(stats_of(OWN)) == [
        ("w/read/_1", 4, 4, 468),
        ("MatMul_1/_5", 638, 638, 812),
    ]


@pytest.mark.parametrize(
    ("late_us", "moved_us"),
    [
        (0, {}),
        (-300, {}),  # nothing contradicts it
        # w/read:0 is read at 743, so ps:0 is at most 1507 us late; the gradient is sent
        # at 870 and read at 131, so it is at least 739 us late.
        (1000, {"/job:ps/replica:0/task:0": 1123}),
    ],
)
def test_clocks(late_us: int, moved_us: dict[str, float]) -> None:
    assert joined(stats_of(OWN, late_us))[1] == moved_us


@pytest.mark.parametrize(
    ("low", "high", "nearest"),
    [
        (None, None, 0),
        (-5, 5, 0),
        (5, None, 5),
        (None, -5, -5),
        (5, 9, 7),
        (-9, -5, -7),
        (5, 3, 5),
        (5, -3, 0),
    ],
)
def test_the_nearest_offset(low: int | None, high: int | None, nearest: int) -> None:
    assert _nearest(low, high) == nearest


def test_reads_move_with_the_clock_of_their_task() -> None:
    """Without a log of its arrival, the gradient is there when it is read."""
    late = transfers(stats_of(TENSORFLOW, 1000))
    times = {op.name: op for op in times_of(stats_of(TENSORFLOW, 1000)).ops}
    assert late[1][3] == times["update"].start_us


def test_a_moved_clock_contradicts_no_transfer() -> None:
    for late_us in (1000, -5000):
        found = transfers(stats_of(OWN, late_us))
        assert len(found) == 2
        times = {op.name: op for op in times_of(stats_of(OWN, late_us)).ops}
        assert times["w/read/_0"].start_us <= times["MatMul"].start_us
        assert times["MatMul_1/_4"].start_us <= times["update"].start_us
        assert all(sent <= begun <= ended for _, sent, begun, ended in found)


def test_stats_of_one_task_stay_as_they_are() -> None:
    stats = stats_of([row for row in OWN if PS not in (row[0], row[2][12:49])])
    assert joined(stats)[0] is stats
