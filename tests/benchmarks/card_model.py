"""What the model of a card says (tf.simulate_gpus(like=...)), beside what a card takes.

The model is at peak rates, so that a real card takes longer, but for float32 products:
those are TF32 on newer cards, which the model's float32 rate does not count on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tfteach as tf
from tfteach.engine.devices.card_models import CARDS, DeviceModel, Modelled, model_of
from tfteach.engine.plan.step import kernel_of

LINK_OF = {
    "K80": "pcie3",
    "P100": "pcie3",
    "V100": "pcie3",
    "T4": "pcie3",
    "A100": "pcie4",
    "H100": "pcie5",
    "H200": "pcie5",
}
CALLS = 20

Case = tuple[Callable[..., Any], str, list[tuple[int, ...]]]


def model_for(name: str) -> DeviceModel | None:
    """The model of the card of this name, as the driver tells it; None if unknown."""
    found = next((like for like in CARDS if like in name), None)
    return None if found is None else model_of(found, LINK_OF[found])


def cases(size: int) -> dict[str, Case]:
    """What is computed, of which type and shapes; at most `size` numbers each."""
    side = min(4096, math.isqrt(size))
    images = max(1, min(64, size // (56 * 56 * 64)))

    def convolved(x: Any, filters: Any) -> Any:
        return tf.nn.conv2d(x, filters, [1, 1, 1, 1], "SAME")

    return {
        "float32 product": (tf.matmul, "float32", [(side, side)] * 2),
        "float16 product": (tf.matmul, "float16", [(side, side)] * 2),
        "small product": (tf.matmul, "float32", [(64, 64)] * 2),
        "exp": (tf.exp, "float32", [(size,)]),
        "sum of two": (tf.add, "float32", [(size,)] * 2),
        "convolution": (convolved, "float32", [(images, 56, 56, 64), (3, 3, 64, 64)]),
    }


def measured_s(xp: Any, call: Callable[[], Any]) -> float:
    """Seconds of one of many calls that the card receives without a wait between."""
    stream = xp.cuda.get_current_stream()
    for _ in range(3):
        call()
    stream.synchronize()
    began_s = time.perf_counter()
    for _ in range(CALLS):
        call()
    stream.synchronize()
    return (time.perf_counter() - began_s) / CALLS


def compared(modelled: Modelled, seconds: float) -> dict[str, Any]:
    return {
        "modelled_us": round(1e6 * modelled.seconds, 1),
        "measured_us": round(1e6 * seconds, 1),
        "times_the_model": float(f"{seconds / modelled.seconds:.3g}"),
        "formula": modelled.formula,
    }


def kernel_row(model: DeviceModel, case: Case) -> dict[str, Any]:
    import cupy

    build, dtype, sizes = case
    with tf.Graph().as_default():
        op = build(*[tf.placeholder(dtype, size) for size in sizes]).op
    made = tuple(op.outputs[0].shape.as_list())
    flops, moved = op.spec.work(sizes, [made])
    arrays = [cupy.ones(size, dtype) for size in sizes]
    kernel = kernel_of(op.spec, cupy)
    modelled = model.kernel(flops, moved * np.dtype(dtype).itemsize, dtype)
    return compared(modelled, measured_s(cupy, lambda: kernel(*arrays)))


def copy_row(model: DeviceModel, size: int) -> dict[str, Any]:
    """From the host's pinned memory."""
    import cupy
    import cupyx

    source = cupyx.empty_pinned(size, np.float32)
    source[...] = 1.0
    target = cupy.empty(size, np.float32)
    seconds = measured_s(cupy, lambda: target.set(source))
    return compared(model.copy(source.nbytes), seconds)


def rows(card: str, size: int) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """The rows of on_card.py for a card of this name."""
    model = model_for(card)
    if model is None:
        yield "model", lambda: {"left out": f"no model of {card}"}
        return
    for name, case in cases(size).items():
        yield f"model: {name}", lambda c=case: kernel_row(model, c)
    yield "model: copy to the card", lambda: copy_row(model, size)
