"""Threads that build, run and close in one graph: nothing is mixed up, lost or torn.

    python -m tests.fuzz.threads --seconds 120 --seed 0

Each round makes a graph; its threads build in it (scopes, devices, control
dependencies, variable scopes, loops, branches, gradients, optimizers, layers), run
what it has (assignments, feeds, loops) in shared sessions and in their own, and at the
end close the shared session under each other.  Afterwards each op must have what its
own thread asked for, sums must be exact, and reads of resource variables whole.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tfteach as tf

HANGS_S = 600
SIZE = 200_000  # elements of the variables whose reads could be torn


@dataclass
class Built:
    """An op and what its thread asked for."""

    op: Any
    prefix: str
    device: str
    controls: list[Any]


@dataclass
class Round:
    """One graph with its shared session, and what happened to them."""

    seed: int
    graph: Any = field(default_factory=tf.Graph)
    config: Any = None
    built: list[Built] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    added: Counter[str] = field(default_factory=Counter)
    closing: bool = False

    def __post_init__(self) -> None:
        self.config = (  # a device for each thread, or one instead of those asked for
            tf.ConfigProto(device_count={"CPU": 8})
            if self.seed % 2
            else tf.ConfigProto(allow_soft_placement=True)
        )
        with self.graph.as_default():
            self.fill = tf.placeholder(tf.float32, [], name="fill")
            fills = tf.fill([SIZE], self.fill)
            self.large = tf.get_variable("large", initializer=tf.zeros([SIZE]),
                                         use_resource=True)  # fmt: skip
            self.sums = {
                "ref": tf.Variable(np.zeros(3), use_resource=False, name="ref_sum"),
                "resource": tf.Variable(np.zeros(3), use_resource=True, name="sum"),
            }
            self.assign = self.large.assign(fills, read_value=False)
            self.assign_add = self.large.assign_add(fills, read_value=False)
            self.read = self.large.read_value()
            self.add = {
                "ref": tf.assign_add(self.sums["ref"], np.ones(3), use_locking=True).op,
                "resource": self.sums["resource"].assign_add(
                    np.ones(3), read_value=False
                ),
            }
            self.fed = tf.placeholder(tf.float64, [None], name="fed")
            self.twice = self.fed * 2.0
            count = tf.cast(self.fill, tf.int32)
            self.loop = tf.while_loop(
                lambda i, s: i < count, lambda i, s: (i + 1, s + i), [0, 0]
            )[1]
            self.session = tf.Session(config=self.config)
            self.session.run(tf.global_variables_initializer())

    def note(self, problem: str) -> None:
        self.problems.append(f"seed {self.seed}: {problem}")


class Worker(threading.Thread):
    """One of the threads of a round."""

    def __init__(self, work: Round, number: int, steps: int) -> None:
        super().__init__(name=f"t{number}")
        self.work, self.number, self.left = work, number, steps
        self.random = random.Random(work.seed * 1000 + number)
        self.session = work.session
        self.steps = 1_000_000 if work.closing else 0  # names are new in each phase

    def run(self) -> None:
        actions = [
            self.build_ops, self.build_ops, self.build_model, self.build_flow,
            self.update, self.update, self.read_whole, self.add, self.feed,
            self.run_loop, self.use_own_session,
        ]  # fmt: skip
        try:
            with self.work.graph.as_default():
                while self.left:
                    action = self.random.choice(actions)
                    self.steps += 1
                    self.left -= 1
                    action()
                    self.work.counts[action.__name__] += 1
        except (RuntimeError, tf.errors.CancelledError) as error:
            # Those of TF for a session that was closed, while or before it ran.
            closed = "Attempted to use a closed Session." in str(error) or isinstance(
                error, tf.errors.CancelledError
            )
            if not (closed and self.work.closing):
                self.work.note(traceback.format_exc())
            self.work.counts["stopped by a closed session"] += 1
        except BaseException:
            self.work.note(traceback.format_exc())

    # ---- building

    def build_ops(self) -> None:
        """A few ops under random blocks, each with what it must have."""
        own, draw = f"t{self.number}", self.random.random
        graph = self.work.graph
        gate = tf.no_op(name=f"{own}_gate")
        prefix, device, controls = "", "", []
        with ExitStack() as stack:
            for _ in range(self.random.randint(1, 4)):
                kind = self.random.randint(0, 4)
                if kind == 0:
                    prefix = stack.enter_context(tf.name_scope(f"{own}_{self.steps}"))
                elif kind == 1:
                    device = f"/device:CPU:{self.number}"
                    stack.enter_context(tf.device(f"/cpu:{self.number}"))
                elif kind == 2:
                    stack.enter_context(graph.control_dependencies([gate]))
                    controls = [gate]
                elif kind == 3:
                    scope = stack.enter_context(
                        tf.variable_scope(f"{own}_v{self.steps}", reuse=tf.AUTO_REUSE)
                    )
                    prefix = graph.get_name_scope() + "/"
                    made = tf.get_variable("w", [2])
                    if made is not tf.get_variable("w", [2]):
                        self.work.note(f"{made.name} is not shared")
                    if made.op.name != f"{scope.name}/w" or own not in scope.name:
                        self.work.note(f"{made.name} is not in scope {scope.name}")
                else:
                    op = stack.enter_context(tf.name_scope(f"{own}_{self.steps}/"))
                    prefix = op
                for name in ("same", "Same", f"{own}_own"):
                    op = tf.no_op(name=name)
                    self.work.built.append(Built(op, prefix, device, controls))
                    if draw() < 0.2:
                        time.sleep(0)

    def build_model(self) -> None:
        """A layer with gradients and an optimizer, in this thread's variable scope."""
        with tf.variable_scope(f"m{self.number}_{self.steps}") as scope:
            x = tf.placeholder(tf.float32, [None, 3])
            y = tf.layers.dense(x, 2, activation=tf.nn.relu)
            loss = tf.reduce_mean(tf.square(y))
            variables = tf.trainable_variables(scope.name + "/")
            if len(variables) != 2:
                self.work.note(f"{scope.name} has {variables}")
            optimizer = self.random.choice(
                [tf.train.AdamOptimizer(), tf.train.MomentumOptimizer(0.1, 0.9)]
            )
            step = optimizer.minimize(loss, var_list=variables)
            new = tf.variables_initializer(tf.global_variables(scope.name + "/"))
        self.session.run(new)
        self.session.run(step, {x: np.ones([4, 3])})
        for op in (y.op, loss.op, step):
            self.work.built.append(Built(op, f"m{self.number}_{self.steps}", "", []))

    def build_flow(self) -> None:
        """A loop and a branch: the ops of other threads must not get into them."""
        with tf.name_scope(f"f{self.number}_{self.steps}") as prefix:
            total = tf.while_loop(
                lambda i, s: i < 5, lambda i, s: (i + 1, s * 2.0), [0, tf.constant(1.0)]
            )[1]
            chosen = tf.cond(total > 3.0, lambda: total + 1.0, lambda: total - 1.0)
            slope = tf.gradients(chosen, total)[0]
        self.work.built.append(Built(chosen.op, prefix, "", []))
        found = self.session.run([total, chosen, slope])
        if found != [32.0, 33.0, 1.0]:
            self.work.note(f"loop and branch gave {found}")

    # ---- running

    def update(self) -> None:
        op = self.random.choice([self.work.assign, self.work.assign_add])
        self.session.run(op, {self.work.fill: self.random.randint(1, 9)})

    def read_whole(self) -> None:
        fetch = self.random.choice([self.work.read, self.work.large])
        value = self.session.run(fetch)
        if value.min() != value.max():
            self.work.counts["torn reads"] += 1
            self.work.note(f"torn read: {value.min()} to {value.max()}")

    def add(self) -> None:
        kind = self.random.choice(["ref", "resource"])
        # Before the run: a run that is cancelled may have added.
        self.work.added[f"{kind} begun {self.number}"] += 1
        self.session.run(self.work.add[kind])
        self.work.added[f"{kind} done {self.number}"] += 1

    def feed(self) -> None:
        given = np.full(self.random.randint(1, 50), self.random.random())
        found = self.session.run(self.work.twice, {self.work.fed: given})
        if not np.array_equal(found, given * 2):
            self.work.note(f"fed {given[0]}, doubled {found}")

    def run_loop(self) -> None:
        n = self.random.randint(0, 20)
        found = self.session.run(self.work.loop, {self.work.fill: n})
        if found != n * (n - 1) // 2:
            self.work.note(f"a loop to {n} gave {found}")

    def use_own_session(self) -> None:
        with tf.Session(graph=self.work.graph, config=self.work.config) as session:
            session.run(tf.variables_initializer([self.work.sums["ref"]]))
            session.run(self.work.add["ref"])
            found = session.run(self.work.sums["ref"])
        if found.tolist() != [1.0, 1.0, 1.0]:
            self.work.note(f"another session's sum: {found}")
        try:
            session.run(self.work.add["ref"])
        except RuntimeError as error:
            if str(error) != "Attempted to use a closed Session.":
                raise


def check_graph(work: Round) -> None:
    """Each op has what its thread asked for, and none is lost or there twice."""
    names = [op.name for op in work.graph.get_operations()]
    if len({name.lower() for name in names}) != len(names):
        twice = [n for n, k in Counter(n.lower() for n in names).items() if k > 1]
        work.note(f"names used twice: {twice[:5]}")
    if [op.node_id for op in work.graph.get_operations()] != [
        *range(1, len(names) + 1)
    ]:
        work.note("numbers of ops are not their places")
    for built in work.built:
        op = built.op
        if work.graph.get_operation_by_name(op.name) is not op:
            work.note(f"{op.name} is lost")
        rest = op.name[len(built.prefix) :]
        if not op.name.startswith(built.prefix) or (not built.prefix and "/" in rest):
            work.note(f"{op.name} should begin with {built.prefix!r}")
        if op.type != "NoOp" or rest.startswith("/"):
            continue  # part of a model, which has more
        if op.device != built.device:
            work.note(f"{op.name} is on {op.device!r}, not {built.device!r}")
        if list(op.control_inputs) != built.controls:
            work.note(f"{op.name} waits for {op.control_inputs}")
    with tf.Graph().as_default() as copy:
        tf.import_graph_def(work.graph.as_graph_def(), name="")
        if len(copy.get_operations()) != len(names):
            work.note("the exported graph has other ops")


def check_sums(work: Round) -> None:
    """Sums are exact before the session is closed."""
    for kind, variable in work.sums.items():
        found = work.session.run(variable)
        done = sum(n for key, n in work.added.items() if key.startswith(f"{kind} done"))
        if found.tolist() != [done] * 3:
            work.note(f"{kind} variable: {found}, after {done} times + 1")
        work.counts["additions checked"] += done


def run_round(seed: int, steps: int, threads: int) -> Round:
    """Build and run; then again, and close the session under running threads.

    Each thread takes as many steps, each time.
    """
    work = Round(seed)
    for phase in ("open", "closing"):
        work.closing = phase == "closing"
        workers = [Worker(work, n, steps) for n in range(threads)]
        for worker in workers:
            worker.start()
        if phase == "closing":
            while sum(w.left for w in workers if w.is_alive()) > threads * steps / 2:
                time.sleep(0.001)
            work.session.close()
        for worker in workers:
            worker.join(HANGS_S)
            if worker.is_alive():
                frame = sys._current_frames()[worker.ident]  # type: ignore[index]
                stuck = "".join(traceback.format_stack(frame))
                work.note(f"{worker.name} hangs:\n{stuck}")
                return work
        if phase == "open":
            check_sums(work)
    check_graph(work)
    work.counts["ops built"] += work.graph.version
    return work


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--steps", type=int, default=50, help="per graph and thread")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    until, seed = time.monotonic() + args.seconds, args.seed
    counts: Counter[str] = Counter()
    problems: list[str] = []
    while time.monotonic() < until:
        work = run_round(seed, args.steps, args.threads)
        counts += work.counts
        problems += work.problems
        seed += 1
    for problem in problems[:20]:
        print(problem)
    print(f"{seed - args.seed} graphs, {len(problems)} violations")
    for name, count in sorted(counts.items()):
        print(f"  {name}: {count}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
