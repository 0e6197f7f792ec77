"""Random graphs for `tests.fuzz.placements`, which real TensorFlow 1.15 runs too.

`python placement_graphs.py FILE SEED...` with TensorFlow's Python writes what it does.
"""

from __future__ import annotations

import contextlib
import functools
import json
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.golden import placements

GOOD = ["/cpu:0", "/cpu:1", "/cpu:2", "/job:localhost", "/device:CPU:*", "/task:0"]
BAD = ["/cpu:9", "/gpu:0", "/device:GPU:1", "/job:ps", "/job:ps/cpu:0", "/replica:3"]
WRITTEN = ["/cpu:1", "gpu:0", "/job:1a", "/CPU:0", "/cpu:-1", "/task:0/cpu:2", ""]


class Builder:
    """Adds random ops to the default graph."""

    def __init__(self, tf: Any, rng: random.Random, trouble: float) -> None:
        self.tf, self.rng, self.trouble = tf, rng, trouble
        self.values: list[Any] = []
        self.variables: list[Any] = []
        self.new_variables: list[Any] = []
        self.number = 0
        self.fresh = 0  # the values from here on have not been part of a run

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.random() * len(items))]

    def device(self) -> Any:
        kind = self.rng.random()
        if kind < self.trouble:
            return self.pick(BAD)
        if kind < 1.2 * self.trouble:
            text = self.pick(WRITTEN)
            return lambda op: text
        return self.pick([*GOOD, None])

    def value(self) -> Any:
        if not self.values:
            self.values.append(self.tf.constant(1.0, name="first"))
        return self.pick(self.values)

    def name(self) -> str:
        self.number += 1
        return f"n{self.number}"

    def step(self) -> None:
        """One op, or a few, inside random scopes."""
        graph = self.tf.get_default_graph()
        with contextlib.ExitStack() as stack:
            if self.rng.random() < 0.5:
                stack.enter_context(self.tf.device(self.device()))
                if self.rng.random() < 0.2:
                    stack.enter_context(self.tf.device(self.device()))
            if self.rng.random() < 0.15:
                stack.enter_context(self.tf.colocate_with(self.value().op))
            if self.rng.random() < 0.15:
                stack.enter_context(graph.control_dependencies([self.value().op]))
            self.values.append(self.build())
        if self.rng.random() < 0.03:
            self.pick(self.values[self.fresh :]).op._set_device(self.pick(GOOD))

    def build(self) -> Any:
        tf, name = self.tf, self.name()
        kind = self.pick(
            "const const fed add add mul neg identity variable variable resource "
            "assign read random shape size rank cond loop gradient scatter late".split()
        )
        if kind == "const":
            return tf.constant(2.0, name=name)
        if kind == "fed":
            return tf.placeholder_with_default(self.value(), None, name=name)
        if kind in ("add", "mul"):
            function = tf.add if kind == "add" else tf.multiply
            return function(self.value(), self.value(), name=name)
        if kind in ("neg", "identity"):
            function = tf.negative if kind == "neg" else tf.identity
            return function(self.value(), name=name)
        if kind in ("variable", "resource"):
            made = tf.Variable(1.0, name=name, use_resource=kind == "resource")
            self.new_variables.append(made)
            self.variables.append(made)
            return tf.identity(made)
        if kind in ("shape", "size", "rank"):
            found = getattr(tf, kind)(self.value(), name=name)
            return tf.reduce_sum(tf.cast(found, tf.float32))
        if kind == "random":
            return tf.random_uniform([], name=name)
        return self.compose(kind, name)

    def compose(self, kind: str, name: str) -> Any:
        tf, x = self.tf, self.value()
        if kind == "cond":
            total = tf.reduce_sum(x)
            return tf.cond(total > 0.0, lambda: x * 2.0, lambda: -x, name=name)
        if kind == "loop":
            start = tf.constant(0)
            _, y = tf.while_loop(
                lambda i, _: i < 2,
                lambda i, y: (i + 1, y + 1.0),
                [start, tf.reduce_sum(x)],
                name=name,
            )
            return y
        if kind == "gradient":
            y = tf.reduce_sum(tf.square(x))
            return tf.gradients(y, x, colocate_gradients_with_ops=name[-1] < "5")[0]
        if not self.variables:
            return tf.identity(x, name=name)
        v = self.pick(self.variables)
        if kind == "assign":
            return tf.identity(v.assign_add(tf.reduce_sum(x) * 0.0), name=name)
        if kind == "read":
            return tf.identity(v, name=name)
        if kind == "scatter":
            return tf.reshape(tf.gather(tf.stack([x, x]), 0), tf.shape(x), name=name)
        for other in self.values[self.fresh :][:1]:  # an edge against the order
            if other.op.type in ("Identity", "Mul", "Neg", "Const"):
                other.op._add_control_input(tf.no_op(name=name + "_wait"))
        return tf.identity(x, name=name)


def graph_of(seed: int, tf: Any) -> Any:
    """A generator: builds some ops, yields what to run, and so on."""
    rng = random.Random(seed)
    builder = Builder(tf, rng, trouble=(0.0, 0.0, 0.05, 0.3)[seed % 4])
    for _ in range(1 + int(rng.random() * 3)):
        builder.fresh = len(builder.values)
        for _ in range(2 + int(rng.random() * 12)):
            builder.step()
        new, builder.new_variables = builder.new_variables, []
        for variable in new:
            yield variable.initializer
        yield [builder.value(), builder.value()]


def options_of(seed: int) -> tuple[int, dict[str, Any]]:
    """The session's number of CPUs and fields of its ConfigProto."""
    rng = random.Random(-seed - 1)
    fields: dict[str, Any] = {}
    if rng.random() < 0.4:
        fields["allow_soft_placement"] = True
    if rng.random() < 0.25:
        fields["graph_options"] = {"place_pruned_graph": True}
    return (1, 3, 3, 4)[int(rng.random() * 4)], fields


def results(tf: Any, seed: int, logged: Any) -> Any:
    """What the runs of one graph logged, and their errors."""
    cpus, fields = options_of(seed)
    function = functools.partial(graph_of, seed)
    function.options = fields  # type: ignore[attr-defined]
    return placements.runs_of(tf, function, cpus, logged)


def main() -> None:
    import tensorflow as tf

    with placements.c_stdout() as logged:
        found = [results(tf, int(seed), logged) for seed in sys.argv[2:]]
    Path(sys.argv[1]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
