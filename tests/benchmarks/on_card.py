"""What a real card says of the code for cards: checks, then times, in eight minutes.

    python -m tests.benchmarks.on_card
    python -m tests.benchmarks.on_card --only times --models mlp,lenet

A row for each program tells whether the card computes what the CPU does, and whether
its step became a CUDA graph, or why not; and whether it draws the CPU's random numbers.
Rows of the model compare its times with the card's, rows of windows cuDNN with products
of windows, and with the CPU.  Times are medians in milliseconds,
for steps with and without graphs, and of the same in `jax.jit` where JAX is installed.
Rows that no longer fit into the time are left out, and named.  The tests marked `gpu`
run first.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import tfteach as tf
from tests.benchmarks import card_model, card_windows
from tests.benchmarks.step_worker import MODELS
from tests.engine.execute.test_cuda_graph import PROGRAMS
from tests.engine.flow.test_unrolled_step import PROGRAMS as LOOPS
from tests.engine.fusion.test_fuse_on_card import CHAINS
from tfteach.engine.execute import cuda_graph
from tfteach.ops.random import philox, philox_on_card

ROOT = Path(__file__).resolve().parents[2]
GPU_TESTS = ["tests/engine/devices/test_gpu.py", "tests/engine/eager/test_cards.py"]
WARM_UP, STEPS = 20, 50
LARGE = 100_000_000
DRAWN = 100_003
NEVER = 1 << 40

Row = tuple[str, Callable[[], dict[str, Any]]]


def hot_steps(sess: Any) -> list[Any]:
    """The hot functions that can be graphs."""
    programs = [program for program, _ in sess._programs.values()]
    hot = [step for p in programs for step in getattr(p, "hot", {}).values()]
    steps = [getattr(step, "generated", step) for step in hot]
    return [step for step in steps if hasattr(step, "reason")]


def graph_of(sess: Any) -> str:
    """Whether the session's steps are graphs, in words."""
    steps = hot_steps(sess)
    if not steps:
        return "no hot step"
    return "; ".join(step.reason.split("\n")[0] or "graph" for step in steps)


# ---- checks


def values_on(device: str, program: Callable[[], tuple[Any, Any]]) -> tuple[Any, str]:
    """The fetched values of twenty runs, and what became of the step."""
    config = tf.ConfigProto(device_count={"GPU": 0} if device == "cpu" else {})
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        tf.set_random_seed(7)
        fetches, shapes = program()
        sess.run(tf.global_variables_initializer())
        rng = np.random.default_rng(1)
        found = []
        for _ in range(WARM_UP):
            feeds = {x: rng.normal(size=size) for x, size in shapes.items()}
            run = [v for v in sess.run(fetches, feeds) if v is not None]
            found.append([v for v in run if not isinstance(v, bytes)])
        return found, graph_of(sess)


def with_feed(build: Callable[[Any], Any], *shape: int) -> Any:
    """The program of a function of one placeholder."""

    def program() -> tuple[Any, Any]:
        x = tf.placeholder(tf.float32, [None, *shape[1:]])
        made = build(x)
        return made if isinstance(made, list) else [made], {x: shape}

    return program


def check(program: Callable[[], tuple[Any, Any]]) -> dict[str, Any]:
    """How far the card is off, relative to the largest number."""
    (found, graph), (right, _) = values_on("gpu", program), values_on("cpu", program)
    worst = 0.0
    for run, expected in zip(found, right, strict=True):
        for value, reference in zip(run, expected, strict=True):
            scale = max(1.0, float(np.abs(reference).max(initial=0.0)))
            off = np.abs(np.asarray(value, float) - reference).max(initial=0.0)
            worst = max(worst, float(off) / scale)
    return {"off": float(f"{worst:.2g}"), "ok": worst < 0.02, "step": graph}


def drawn(distribution: str, dtype: np.dtype[Any]) -> dict[str, Any]:
    """How many of a card's random numbers differ from the CPU's, and how far."""
    import cupy

    generator = philox.Philox((7 << 64) | (2**64 - 3), (123, 2**32 - 5))
    state = philox_on_card.state_of(generator, -5, 12345678)
    count = DRAWN
    found = philox_on_card.draw(cupy, distribution, (count,), dtype, state).get()
    if distribution == "integers":
        right = philox.uniform_int(generator, count, -5, 12345678, dtype)
    else:
        right = getattr(philox, distribution)(generator, count, dtype)
    differ = int((found != right).sum())
    row = {"differ": differ, "of": count}
    if "normal" not in distribution:
        return {**row, "ok": differ == 0}
    last_places = float((np.abs(found - right) / np.spacing(np.abs(right))).max())
    return {**row, "last_places": last_places, "ok": last_places <= 8}


def checks() -> Iterator[Row]:
    for dtype in ("int32", "int64"):
        yield f"integers {dtype}", lambda d=dtype: drawn("integers", np.dtype(d))
    for name in ("uniform", "normal", "truncated_normal"):
        for dtype in ("float32", "float64"):
            kind = np.dtype(dtype)
            yield f"{name} {dtype}", lambda n=name, d=kind: drawn(n, d)
    for program in PROGRAMS:
        yield f"check {program.__name__}", lambda p=program: check(p)
    for name, build in LOOPS.items():
        yield f"check {name}", lambda b=build: check(with_feed(b, 2, 8))
    for chain in CHAINS:
        yield f"check {chain.__name__}", lambda c=chain: check(with_feed(c, 4, 3))


# ---- times


def median_ms(step: Callable[[], Any], steps: int = STEPS) -> float:
    for _ in range(WARM_UP):
        step()
    times_s = []
    for _ in range(steps):
        began_s = time.perf_counter()
        step()
        times_s.append(time.perf_counter() - began_s)
    return float(f"{1e3 * float(np.median(times_s)):.4g}")


def both_ways(
    build: Callable[[], tuple[Any, Any]], steps: int = STEPS
) -> dict[str, Any]:
    """The median time of a run with and without a CUDA graph."""
    found: dict[str, Any] = {}
    usual = cuda_graph.CAPTURE_AFTER
    for name, after in (("graph", usual), ("kernels", NEVER)):
        cuda_graph.CAPTURE_AFTER = after
        try:
            with tf.Graph().as_default(), tf.Session() as sess:
                fetches, feeds = build()
                sess.run(tf.global_variables_initializer())
                run = functools.partial(sess.run, fetches, feeds)
                found[f"{name}_ms"] = median_ms(run, steps)
                if after == usual:
                    found["step"] = graph_of(sess)
        finally:
            cuda_graph.CAPTURE_AFTER = usual
    return found


def a_sum() -> tuple[Any, Any]:
    x, y = (tf.placeholder(tf.float32, [None]) for _ in range(2))
    return x + y, {x: np.ones(100), y: np.ones(100)}


def training(model: str) -> Callable[[], tuple[Any, Any]]:
    def build() -> tuple[Any, Any]:
        loss, optimizer, feeds = MODELS[model](tf)
        return [loss, optimizer.minimize(loss)], feeds

    return build


def twenty_ops(size: int) -> dict[str, Any]:
    """A chain on the card's memory, beside one copy of an array."""
    import cupy

    def build() -> tuple[Any, Any]:
        x = tf.Variable(tf.ones([size]))
        for i in range(10):
            x = tf.maximum(x * (1.0 + 0.1 * i), 0.5 - x)
        return x.op, {}

    found = both_ways(build, 10)
    source = cupy.ones(size, np.float32)
    target = cupy.empty_like(source)

    def copy() -> None:
        target[...] = source
        cupy.cuda.get_current_stream().synchronize()

    return {**found, "one_pass_ms": median_ms(copy, 10)}


def product(dtype: str, size: int) -> dict[str, Any]:
    def build() -> tuple[Any, Any]:
        a = tf.Variable(tf.ones([size, size], dtype))
        return tf.matmul(a, a).op, {}

    found = both_ways(build, 10)
    found["tflops"] = float(f"{2e-9 * size**3 / found['graph_ms']:.3g}")
    return found


def in_jax() -> dict[str, Any]:
    """The sum, and a step of the perceptron with Adam, compiled by JAX."""
    import jax
    import jax.numpy as jnp

    add = jax.jit(lambda x, y: x + y)
    ones = np.ones(100, np.float32)
    rng = np.random.default_rng(0)
    sizes = (784, 256, 256, 10)
    weights = [
        jnp.asarray(0.1 * rng.normal(size=pair), jnp.float32)
        for pair in pairwise(sizes)
    ]
    weights += [jnp.zeros(size) for size in sizes[1:]]
    zeros = [jnp.zeros_like(w) for w in weights]
    x = rng.random((128, 784)).astype(np.float32)
    y = np.eye(10, dtype=np.float32)[rng.integers(0, 10, 128)]

    def loss_of(weights: Any, x: Any, y: Any) -> Any:
        for i in range(3):
            x = x @ weights[i] + weights[3 + i]
            x = jax.nn.relu(x) if i < 2 else x
        return -(y * jax.nn.log_softmax(x)).sum(1).mean()

    @jax.jit
    def step(weights: Any, m: Any, v: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(weights, x, y)
        m = [0.9 * a + 0.1 * g for a, g in zip(m, grads, strict=True)]
        v = [0.999 * a + 0.001 * g * g for a, g in zip(v, grads, strict=True)]
        weights = [
            w - 1e-3 * a / (jnp.sqrt(b) + 1e-8)
            for w, a, b in zip(weights, m, v, strict=True)
        ]
        return loss, weights, m, v

    state = [weights, zeros, zeros]

    def train() -> None:
        loss, *state[:] = step(*state, x, y)
        float(loss)

    return {
        "sum_ms": median_ms(lambda: np.asarray(add(ones, ones))),
        "mlp_ms": median_ms(train),
    }


def times(models: Sequence[str], size: int) -> Iterator[Row]:
    yield "z = x + y", lambda: both_ways(a_sum)
    for model in models:
        yield f"{model} step", lambda m=model: both_ways(training(m))
    yield f"20 ops on {size} floats", lambda: twenty_ops(size)
    for dtype in ("float32", "float16"):
        yield f"product of {dtype}", lambda d=dtype: product(d, min(4096, size))
    if importlib.util.find_spec("jax") is not None:
        yield "jax.jit", in_jax


# ---- the whole


def run_tests(limit_s: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "gpu"]
    environment = {**os.environ, "TFTEACH_REQUIRE": "gpu"}
    try:
        done = subprocess.run(
            [*command, *GPU_TESTS],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"ok": False, "why": f"more than {limit_s:.0f} s"}
    lines = done.stdout.strip().splitlines()
    failed = [line for line in lines if line.startswith("FAILED")]
    return {"ok": not done.returncode, "summary": lines[-1:], "failed": failed}


def card_name() -> str:
    import cupy

    facts = cupy.cuda.runtime.getDeviceProperties(0)
    return f"{facts['name'].decode()}, CuPy {cupy.__version__}"


def rows(only: str, models: Sequence[str], size: int) -> Iterator[Row]:
    if only in ("all", "tests"):
        yield "tests", lambda: run_tests(120)
    if only in ("all", "times"):
        yield from times(models, size)
    if only in ("all", "windows"):
        yield from card_windows.rows()
    if only in ("all", "model"):
        yield from card_model.rows(card_name(), size)
    if only in ("all", "checks"):
        yield from checks()


def main(arguments: Sequence[str] | None = None) -> list[dict[str, Any]]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", default="all", choices="all tests checks times windows model".split()
    )
    parser.add_argument("--models", default="mlp,lenet,char_rnn,autoencoder,word2vec")
    parser.add_argument("--size", type=int, default=LARGE)
    parser.add_argument("--limit", type=float, default=440.0, metavar="SECONDS")
    options = parser.parse_args(arguments)
    began_s = time.monotonic()
    print(card_name(), flush=True)
    found = []
    for name, run in rows(options.only, options.models.split(","), options.size):
        row: dict[str, Any] = {"row": name}
        if time.monotonic() - began_s > options.limit:
            row["left out"] = True
        else:
            try:
                row |= run()
            except Exception as error:  # the other rows are worth as much
                row["error"] = f"{type(error).__name__}: {error}"[:400]
        print(json.dumps(row), flush=True)
        found.append(row)
    return found


if __name__ == "__main__":
    main()
