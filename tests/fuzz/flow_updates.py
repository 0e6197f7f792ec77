"""Random graphs that update variables in loops and branches, run in every way there is.

A program is statements on a few variables, reference and resource ones: reads in all
their forms, arithmetic, views of what was read, assignments, `cond`, `while_loop`.
Chained programs put each statement behind the one before with a control dependency, so
TensorFlow has one result for them; loose ones leave out some dependencies, and count
only if TensorFlow gives the same result in every session.

    python -m tests.fuzz.flow_updates --count 500 --seed 1
    TFTEACH_ORACLE=/path/to/bin/python python -m tests.fuzz.flow_updates --count 500

Without an oracle the ways in which tfteach runs a step are compared with each other:
as nested blocks, the same after they became hot, as dataflow, and on two devices.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import select
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import tfteach as tf
from tfteach.engine.execute.program import HOT_AFTER_RUNS

RUNS = HOT_AFTER_RUNS + 2
SESSIONS = {True: 1, False: 3}  # of the oracle, for chained programs and loose ones
LIMIT_S = 60  # for one answer of the oracle
ORACLE = Path(__file__).with_name("update_oracle.py")


class Program(NamedTuple):
    """What one seed builds.

    Attributes:
      graph: the program.
      init: the op that initializes the variables.
      steps: what is fetched together.
      variables: reads of all variables, which are fetched at the end.
      feeds: the placeholders' names and values in each run.
      is_chained: whether a control dependency orders every two statements.
    """

    graph: tf.Graph
    init: str
    steps: list[list[str]]
    variables: list[str]
    feeds: list[dict[str, int]]
    is_chained: bool


class Writer:
    """Adds random statements to the default graph.

    Args:
      seed: decides everything.
      is_chained: put each statement behind the one before.
      devices: devices to spread the statements over, if any.
    """

    def __init__(self, seed: int, is_chained: bool, devices: tuple[str, ...] = ()):
        self.random = random.Random(seed)
        self.places = random.Random(seed)
        self.is_chained = is_chained
        self.devices = devices
        self.dtype = self.random.choice([tf.int32, tf.float32])
        self.last: Any = None
        self.fed = [tf.placeholder(self.dtype, [], name=n) for n in ("x", "y")]
        self.variables = []
        self.makers = [
            *(self.read, self.view, self.compute, self.forward, self.update),
            *(self.branch, self.loop),
        ]
        for number in range(self.random.randint(1, 3)):
            start = self.random.choice([3, [2, 5]])
            made = tf.Variable(
                tf.constant(start, self.dtype),
                use_resource=self.random.random() < 0.3,
                name=f"v{number}",
            )
            self.variables.append(made)

    # ---- statements

    def block(self, values: list[Any], depth: int, length: int) -> Any:
        """Some statements; returns the value of the last one."""
        values = list(values)
        for _ in range(length):
            weights = [6, 3, 6, 4, 6, 3 * depth, 3 * depth]
            [kind] = self.random.choices(self.makers, weights)
            device = self.places.choice(self.devices) if self.devices else None
            with tf.device(device), tf.control_dependencies(self.waits(values)):
                values.append(kind(values, depth))
            self.last = values[-1]
        return values[-1]

    def waits(self, values: list[Any]) -> list[Any]:
        if self.is_chained:
            return [] if self.last is None else [self.last]
        return self.random.sample(values, min(len(values), self.random.randint(0, 2)))

    def read(self, values: list[Any], depth: int) -> Any:
        variable = self.random.choice(self.variables)
        kind = self.random.randrange(4)
        if kind == 0:
            return variable.read_value()
        if kind == 1 and not self.is_resource(variable):
            return variable._ref()
        return tf.convert_to_tensor(variable)

    def view(self, values: list[Any], depth: int) -> Any:
        value = self.pick(values)
        makers = [
            lambda: tf.reshape(value, [-1]),
            lambda: tf.expand_dims(value, 0),
            lambda: tf.stop_gradient(value),
        ]
        if value.shape.ndims:
            makers += [
                lambda: value[0],
                lambda: value[:1],
                lambda: tf.squeeze(value[:1]),
                lambda: tf.unstack(value, axis=0)[-1],
                lambda: tf.split(value, value.shape[0].value, axis=0)[0],
            ]
        return self.random.choice(makers)()

    def compute(self, values: list[Any], depth: int) -> Any:
        op = self.random.choice([tf.add, tf.subtract, tf.multiply, tf.maximum])
        return tf.floormod(op(self.scalar(values), self.pick(values)), self.number(97))

    def forward(self, values: list[Any], depth: int) -> Any:
        kind = self.random.randrange(3)
        if kind == 0:
            return tf.tuple([self.pick(values), self.pick(values)])[0]
        if kind == 1:
            return tf.add_n([self.scalar(values), self.scalar(values)])
        return tf.identity(self.pick(values))

    def update(self, values: list[Any], depth: int) -> Any:
        variable = self.random.choice(self.variables)
        shape = variable.shape.as_list()
        value = tf.floormod(self.scalar(values) + self.number(1), self.number(53))
        if shape and self.random.random() < 0.3:
            done = tf.scatter_add(variable, [1], tf.reshape(value, [1]))
            with tf.control_dependencies([done]):
                return variable.read_value()
        if shape:
            value = tf.stack([value, self.number(self.random.randint(0, 9))])
        kind = self.random.choice([tf.assign, tf.assign_add, tf.assign_sub])
        done = kind(variable, value)
        if self.is_resource(variable) or self.random.random() < 0.4:
            return tf.convert_to_tensor(done) + self.number(0)
        return done

    def branch(self, values: list[Any], depth: int) -> Any:
        predicate = self.scalar(values) > self.scalar(values)
        with tf.control_dependencies(self.waits(values)):
            predicate = tf.identity(predicate)

        def side() -> Any:
            self.last = tf.identity(self.number(1), name="pivot")
            value = self.block(values, depth - 1, self.random.randint(1, 3))
            return self.sum(tf.convert_to_tensor(value))

        def plain() -> Any:
            return tf.identity(self.sum(self.pick(values)))

        sides = [side, self.random.choice([side, side, plain, self.bare(values)])]
        self.random.shuffle(sides)
        return tf.cond(predicate, *sides)

    def bare(self, values: list[Any]) -> Any:
        """A branch that returns a variable as it is."""
        found = [v for v in (*self.variables, *values) if v.shape.as_list() == []]
        return lambda: tf.convert_to_tensor(self.random.choice(found or [self.fed[0]]))

    def loop(self, values: list[Any], depth: int) -> Any:
        limit = self.random.randint(1, 4)
        variable = self.random.choice(self.variables)
        asks = self.random.random() < 0.5
        start = self.bare(values)() if self.random.random() < 0.4 else self.number(2)

        if start.dtype._is_ref_dtype:  # a loop variable of numbers cannot enter as one
            start = tf.identity(start)

        def goes_on(i: Any, a: Any) -> Any:
            more = i < limit
            if asks:
                behind = [i, a] if self.is_chained else []
                with tf.control_dependencies(behind):
                    value = tf.convert_to_tensor(variable)
                    now = self.sum(value) < self.number(40)
                more = tf.logical_and(more, now)
            return more

        def body(i: Any, a: Any) -> Any:
            with tf.control_dependencies([i]):
                self.last = tf.identity(a)
            count = self.random.randint(1, 3)
            value = self.block([*values, a], depth - 1, count)
            waits = [self.last] if self.is_chained else self.waits([value])
            with tf.control_dependencies(waits):
                result = self.sum(tf.convert_to_tensor(value))
                if self.random.random() < 0.7:
                    result = tf.floormod(result, self.number(89))
                return i + 1, result

        i, a = tf.while_loop(
            goes_on,
            body,
            [tf.identity(0), start],
            parallel_iterations=self.random.choice([1, 10, 32]),
            back_prop=self.random.choice([True, False]),
        )
        return a + tf.cast(i, self.dtype)

    # ---- values

    def pick(self, values: list[Any]) -> Any:
        found = self.random.choice([*values, *values, *self.variables, *self.fed])
        return tf.convert_to_tensor(found)

    def scalar(self, values: list[Any]) -> Any:
        return self.sum(self.pick(values))

    def sum(self, value: Any) -> Any:
        return value if value.shape.ndims == 0 else tf.reduce_sum(value)

    def is_resource(self, variable: Any) -> bool:
        return bool(variable.op.type == "VarHandleOp")

    def number(self, value: int) -> Any:
        return tf.constant(value, self.dtype)


def build(seed: int, devices: tuple[str, ...] = ()) -> Program:
    """The program of a seed."""
    is_chained = seed % 3 != 0
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        writer = Writer(seed, is_chained, devices)
        fetched = []
        for _ in range(writer.random.randint(1, 2)):
            writer.last = None
            values: list[Any] = []
            # One statement a time, so that all of them can be fetched.
            for _ in range(writer.random.randint(2, 5)):
                values.append(writer.block(values, 2, 1))
            some = [v.name for v in values if writer.random.random() < 0.3]
            fetched.append([*some, values[-1].name])
        reads = [v.read_value().name for v in writer.variables]
        init = tf.global_variables_initializer().name
    feeds = [{"x:0": 1 + run % 3, "y:0": 7 - run % 5} for run in range(RUNS)]
    return Program(graph, init, fetched, reads, feeds, is_chained)


# ---- running


def session_of(program: Program, kind: str) -> tf.Session:
    """A session that runs the program in one of the ways."""
    config = tf.ConfigProto()
    if kind == "dataflow":
        options = config.graph_options.optimizer_options
        options.opt_level = type(options).L0
    if kind == "devices":
        config.device_count["CPU"] = 2
    return tf.Session(graph=program.graph, config=config)


def run_here(program: Program, kind: str) -> list[Any]:
    """What one session of tfteach sees; see update_oracle.py."""
    found: list[Any] = []
    with session_of(program, kind) as session:
        session.run(program.init)
        try:
            for fed in program.feeds:
                for fetches in program.steps:
                    values = session.run(fetches, fed)
                    found.append([value.tolist() for value in values])
            found.append([v.tolist() for v in session.run(program.variables)])
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


class Oracle:
    """Real TensorFlow in a process of its own."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.start()

    def start(self) -> None:
        """Start the process."""
        self.process = subprocess.Popen(
            [self.python, str(ORACLE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, program: Program, sessions: int) -> list[Any]:
        """What each of some sessions saw."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        graph = program.graph.as_graph_def().SerializeToString()
        request = {
            "graph": base64.b64encode(graph).decode(),
            "init": program.init,
            "steps": program.steps,
            "variables": program.variables,
            "feeds": program.feeds,
            "sessions": sessions,
        }
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], LIMIT_S)[0]:
            self.process.kill()  # a run of TensorFlow that waits for itself
            self.process.wait()
            self.start()
            return [["DeadlineExceededError"]]
        answer: list[Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def differences(seed: int, oracle: Oracle | None) -> list[str]:
    """The ways in which a seed's program runs differently; "races" if TF's do."""
    program = build(seed)
    ways = {"nested": program, "dataflow": program}
    ways["devices"] = build(seed, ("/cpu:0", "/cpu:1"))
    if oracle is None:
        if not program.is_chained:
            return []
        expected = run_here(ways.pop("nested"), "nested")
    else:
        seen = oracle.ask(program, SESSIONS[program.is_chained])
        if any(one != seen[0] for one in seen):
            return ["races"]
        expected = seen[0]
        if isinstance(expected[-1], str):  # loses a dead branch's value, or hangs
            return ["fails"]
    wrong = [way for way, built in ways.items() if run_here(built, way) != expected]
    if wrong and oracle is not None:
        again = oracle.ask(program, 40)
        if any(one != expected for one in again):
            return ["races"]
    return wrong


def main() -> int:
    """Run the programs of some seeds; returns 1 if one of them differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    python = os.environ.get("TFTEACH_ORACLE")
    oracle = Oracle(python) if python else None
    counts: Counter[str] = Counter()
    for seed in range(asked.seed, asked.seed + asked.count):
        found = differences(seed, oracle)
        counts.update(found or ["equal"])
        if found and found not in (["races"], ["fails"]):
            print(f"seed {seed}: {', '.join(found)} differ", flush=True)
    if oracle is not None:
        oracle.close()
    print(f"{asked.count} programs: {dict(counts)}")
    return int(bool(counts.keys() - {"equal", "races", "fails"}))


if __name__ == "__main__":
    sys.exit(main())
