"""The step stats of several tasks, written as those of one process are.

Each task records its part of a step by its own clock. TensorFlow's workers also name
the halves of a transfer in another way, and log an arriving tensor in a row of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tfteach.engine.plan.partition import Send
from tfteach.framework import protos
from tfteach.framework.type_aliases import Proto

_HALF = re.compile(r"(.+?)(/_|_S)(\d+):(_Send|_Recv)")
_WHERE = re.compile(r"device=([^,]+)")
_ARRIVED = re.compile(r"\[\d+B\] .*?(?:edge_\d+_)?(\S+) from (\S+) to (\S+)")
_INPUTS = re.compile(r".* = \w+\((.*)\)")
_ARRIVAL = "RecvTensor"


@dataclass
class _Transfer:
    """A tensor on its way from task to task."""

    send: Proto
    recv: Proto
    source: str  # device
    target: str
    tensor: str
    read_ns: int | None  # when the first op begins that reads it


def joined(stats: Proto) -> tuple[Proto, dict[str, float]]:
    """Step stats on one clock, with transfers between tasks as between devices.

    A `_Recv` begins when its tensor is sent: before that it only waits. Clocks are
    moved if a tensor would be read before it was sent; the protocol says no more.

    Args:
      stats: the StepStats of a step; those of one task remain as they are.

    Returns:
      (stats, task -> the microseconds by which its clock was moved)
    """
    tasks = list(dict.fromkeys(task for d in stats.dev_stats if (task := _task(d))))
    if len(tasks) < 2:
        return stats, {}
    found = protos.StepStats()
    found.CopyFrom(stats)
    logged = _taken_arrivals(found)
    _add_unlogged(found, logged)
    transfers = list(_transfers(found))
    moved = _offsets_ns(tasks, transfers)
    for row, device in _rows(found):
        if offset_ns := moved.get(task_of(device)):
            moved_ns = _start_ns(row) + offset_ns
            row.all_start_micros = moved_ns // 1000
            row.all_start_nanos = moved_ns if row.all_start_nanos else 0
    for transfer in transfers:
        if transfer.read_ns is not None:
            transfer.read_ns += moved.get(task_of(transfer.target), 0)
    _set_arrivals(transfers, logged, moved)
    _rename(found, transfers)
    return found, {task: by_ns / 1000 for task, by_ns in moved.items() if by_ns}


def task_of(device: str) -> str:
    """The task of a device's full name; "" if that names none."""
    return device.partition("/device:")[0] if device.startswith("/job:") else ""


def _task(device: Proto) -> str:
    return task_of(str(device.device))


def _start_ns(row: Any) -> int:
    return int(row.all_start_nanos or 1000 * row.all_start_micros)


def _end_ns(row: Any) -> int:
    return _start_ns(row) + int(row.all_end_rel_nanos or 1000 * row.all_end_rel_micros)


def _rows(stats: Proto) -> Iterator[tuple[Proto, str]]:
    """All rows, with the device of each."""
    for device in stats.dev_stats:
        for row in device.node_stats:
            where = _WHERE.search(row.timeline_label)
            name = str(device.device)
            if not name.startswith("/job:") and where is not None:
                name = where[1]
            yield row, name


def _transfers(stats: Proto) -> Iterator[_Transfer]:
    halves: dict[tuple[str, int], tuple[Proto, str]] = {}
    read_ns: dict[str, int] = {}
    for row, device in _rows(stats):
        if half := _HALF.fullmatch(row.node_name):
            halves[half[1], int(half[3])] = row, device
        elif inputs := _INPUTS.fullmatch(row.timeline_label):
            for name in inputs[1].split(", "):
                name = name.lstrip("^").partition(":")[0]
                read_ns[name] = min(read_ns.get(name, 1 << 63), _start_ns(row))
    for (tensor, number), (recv, target) in halves.items():
        send, source = halves.get((tensor, number - 1), (None, ""))
        if recv.node_name.endswith(f":{Send.op_type}") or send is None:
            continue
        if task_of(source) == task_of(target):
            continue
        name = recv.node_name.rpartition(":")[0]
        yield _Transfer(send, recv, source, target, tensor, read_ns.get(name))


def _offsets_ns(tasks: list[str], transfers: list[_Transfer]) -> dict[str, int]:
    """By how much to move each task's clock, beside that of the first.

    The ways in both directions give the bounds between which the true difference lies.
    """
    least: dict[tuple[str, str], int] = {}  # of the target's clock beside the source's
    for each in transfers:
        if each.read_ns is not None:
            pair = task_of(each.source), task_of(each.target)
            bound = _start_ns(each.send) - each.read_ns
            least[pair] = max(least.get(pair, bound), bound)
    offsets = {tasks[0]: 0}
    waiting = [tasks[0]]
    while waiting:
        known = waiting.pop(0)
        for task in tasks:
            low, high = least.get((known, task)), least.get((task, known))
            if task in offsets or (low is None and high is None):
                continue
            offsets[task] = offsets[known] + _nearest(
                low, None if high is None else -high
            )
            waiting.append(task)
    return offsets


def _nearest(low: int | None, high: int | None) -> int:
    """0 if it lies between the bounds; else what lies best."""
    if low is not None and high is not None and low > 0 > high:
        return 0  # they contradict each other: nothing is better than another
    if low is not None and low > 0:
        return low if high is None or high < low else (low + high) // 2
    if high is not None and high < 0:
        return high if low is None or high < low else (low + high) // 2
    return 0


def _taken_arrivals(stats: Proto) -> dict[tuple[str, str, str], int]:
    """Take TensorFlow's rows of arrivals out; (tensor, from, to) -> its end."""
    found: dict[tuple[str, str, str], int] = {}
    for device in stats.dev_stats:
        kept = []
        for row in device.node_stats:
            arrived = _ARRIVED.fullmatch(row.timeline_label)
            if row.node_name == _ARRIVAL and arrived is not None:
                found[arrived[1], arrived[2], arrived[3]] = _end_ns(row)
            else:
                kept.append(protos.NodeExecStats.FromString(row.SerializeToString()))
        if len(kept) < len(device.node_stats):
            del device.node_stats[:]
            device.node_stats.extend(kept)
    return found


def _add_unlogged(stats: Proto, logged: Iterable[tuple[str, str, str]]) -> None:
    """Add the `_Recv` rows of tensors whose arrival alone was logged."""
    known = {row.node_name for row, _ in _rows(stats)}
    reads = {
        (name, device)
        for row, device in _rows(stats)
        if (inputs := _INPUTS.fullmatch(row.timeline_label))
        for name in inputs[1].split(", ")
    }
    sends = [
        (half[1], half[2], int(half[3]), device)
        for row, device in _rows(stats)
        if (half := _HALF.fullmatch(row.node_name)) and half[4] == Send.op_type
    ]
    (host, *_) = [d for d in stats.dev_stats if not _task(d)] or [stats.dev_stats.add()]
    for tensor, source, target in logged:
        for sent, mark, number, device in sends:
            name = f"{sent}{mark}{number + 1}"
            is_it = (sent, device) == (tensor, source) and (name, target) in reads
            if is_it and f"{name}:_Recv" not in known:
                row = host.node_stats.add(node_name=f"{name}:_Recv")
                row.timeline_label = f"id=0,device={target},async=true"


def _set_arrivals(
    transfers: Iterable[_Transfer],
    logged: dict[tuple[str, str, str], int],
    moved: dict[str, int],
) -> None:
    """Let each `_Recv` last from the sending of its tensor to its arrival."""
    for each in transfers:
        sent_ns, recv = _start_ns(each.send), each.recv
        arrived_ns = logged.get((each.tensor, each.source, each.target))
        if arrived_ns is not None:
            end_ns = arrived_ns + moved.get(task_of(each.target), 0)
        elif _end_ns(recv) >= sent_ns:
            end_ns = _end_ns(recv)
        else:  # TensorFlow's ends when the request is on its way
            end_ns = each.read_ns or _end_ns(each.send)
        end_ns = max(end_ns, sent_ns)
        start_ns = min(end_ns, max(_start_ns(recv), sent_ns))
        recv.all_start_nanos, recv.all_start_micros = start_ns, start_ns // 1000
        recv.all_end_rel_nanos = max(1, end_ns - start_ns)
        recv.all_end_rel_micros = recv.all_end_rel_nanos // 1000


def _rename(stats: Proto, transfers: Iterable[_Transfer]) -> None:
    """Write the halves' names "x_S1" as "x/_1"."""
    names: dict[str, str] = {}
    for each in transfers:
        for row in (each.send, each.recv):
            half = _HALF.fullmatch(row.node_name)
            if half is not None and half[2] != "/_":
                name = f"{half[1]}/_{half[3]}"
                names[row.node_name.rpartition(":")[0]] = name
                row.node_name = f"{name}:{half[4]}"
    if not names:
        return
    for row, _ in _rows(stats):
        inputs = _INPUTS.fullmatch(row.timeline_label)
        if inputs is None:
            continue
        renamed = ", ".join(names.get(name, name) for name in inputs[1].split(", "))
        row.timeline_label = f"{row.timeline_label[: inputs.start(1)]}{renamed})"
