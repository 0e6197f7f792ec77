"""Training of a small model with the gradients of a modelled cluster.

Its clock says which gradient is computed at which version of the variables, and when it
arrives; here they are computed at those values, and applied in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tfteach.autodiff.gradients import gradients
from tfteach.engine.session.session import Session
from tfteach.framework.convert import convert_to_tensor
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import Array, FeedDict
from tfteach.lib.distributed_runtime.simulated.cluster_clock import Gradient
from tfteach.lib.training.gradient_descent import GradientDescentOptimizer
from tfteach.lib.training.optimizer import Optimizer
from tfteach.ops.core.placeholder import placeholder
from tfteach.variables.collections import global_variables, trainable_variables

Feeds = Callable[[int, int], FeedDict]
LEARNING_RATE = 0.1


class LossPoint(NamedTuple):
    """A loss on the modelled clock.

    Attributes:
      at_s: when.
      loss: the loss then.
      updates: how many updates were made.
    """

    at_s: float
    loss: float
    updates: int


class LossCurves(NamedTuple):
    """The loss over time for each training mode; `print` it.

    Attributes:
      curves: the way -> a `LossPoint` for each moment, the first at 0 s.
      workers: their number.
      staleness: the way -> its mean staleness, see `TrainingTimes`.
    """

    curves: dict[str, tuple[LossPoint, ...]]
    workers: int
    staleness: dict[str, float]

    @property
    def summary(self) -> str:
        """One line: the mode with the lowest final loss."""
        best = min(self.curves, key=lambda way: self.curves[way][-1].loss)
        last = self.curves[best][-1]
        return (
            f"After {last.at_s:.3g} s of modelled time, {self.workers} workers: the "
            f"least loss is {last.loss:.4g}, {best}, after {last.updates} updates"
        )

    def __str__(self) -> str:
        width = max(map(len, self.curves))
        stale = self.staleness
        lines = [self.summary, f"{'':{width}}  updates  staleness  loss over time"]
        for way, points in self.curves.items():
            marks = [points[i * (len(points) - 1) // 4] for i in range(5)]
            losses = "  ".join(f"{point.loss:.4g}" for point in marks)
            lines.append(
                f"{way:{width}}  {points[-1].updates:>7}  {stale[way]:>9.1f}  {losses}"
            )
        return "\n".join(lines)


def train(
    ways: Mapping[str, tuple[int, Iterator[Gradient]]],
    until_s: float,
    loss: Tensor,
    feeds: Feeds,
    optimizer: Optimizer | None,
    evaluate: FeedDict | None,
    points: int,
) -> dict[str, tuple[LossPoint, ...]]:
    """The loss curve of each training mode, for `SimulatedCluster.train`.

    Args:
      ways: name -> (how many gradients an update needs, those that arrive).
      until_s: how long to train.
      loss, feeds, optimizer, evaluate, points: see there.
    """
    model = _Model(loss, optimizer or GradientDescentOptimizer(LEARNING_RATE))
    evaluated = feeds(0, 0) if evaluate is None else evaluate
    curves = {}
    with Session(graph=model.graph) as session:
        session.run([variable.initializer for variable in model.all_variables])
        begin = session.run(model.all_variables)
        for way, (needed, arriving) in ways.items():
            load(session, model.all_variables, begin)
            run = _Training(session, model, needed, feeds, evaluated)
            curves[way] = tuple(run.points(arriving, until_s, points))
    return curves


def load(session: Session, variables: Sequence[Any], values: Sequence[Array]) -> None:
    """Run the variables' initializers."""
    pairs = list(zip(variables, values, strict=True))
    feeds = {variable.initializer.inputs[1]: value for variable, value in pairs}
    session.run([variable.initializer for variable in variables], feeds)


class _Model:
    """A loss, its gradients, and the update that applies some."""

    def __init__(self, loss: Tensor, optimizer: Optimizer) -> None:
        self.graph = loss.graph
        self.loss = loss
        with self.graph.as_default(), name_scope("simulated_cluster"):
            variables = trainable_variables()
            found = gradients(loss, variables) if variables else []
            pairs = [
                (convert_to_tensor(gradient), variable)
                for gradient, variable in zip(found, variables, strict=True)
                if gradient is not None
            ]
            if not pairs:
                raise ValueError(f"{loss.name} depends on no trainable variable")
            self.gradients = [gradient for gradient, _ in pairs]
            self.variables = [variable for _, variable in pairs]
            self.arriving = [
                placeholder(v.dtype.base_dtype, v.shape) for v in self.variables
            ]
            arrived = zip(self.arriving, self.variables, strict=True)
            self.apply = optimizer.apply_gradients(list(arrived))
            self.all_variables = global_variables()


class _Training:
    """Train in one mode, starting from the session's current values."""

    def __init__(
        self,
        session: Session,
        model: _Model,
        needed: int,
        feeds: Feeds,
        evaluated: FeedDict,
    ) -> None:
        self._session = session
        self._model = model
        self._needed = needed
        self._feeds = feeds
        self._evaluated = evaluated
        self._values: list[Array] = session.run(model.variables)
        self._read = [(0, self._values)]  # versions that gradients may be computed at
        self._version = 0
        self._arrived: list[list[Array]] = []

    def points(
        self, arriving: Iterator[Gradient], until_s: float, most: int
    ) -> Iterator[LossPoint]:
        """The loss at the start, after updates about evenly spaced, and at the end."""
        yield self._point(0.0)
        interval_s, last_s = until_s / (most - 1), 0.0
        for gradient in arriving:
            if gradient.at_s > until_s:
                break
            if not gradient.is_used:
                continue
            self._receive(gradient)
            if not self._arrived and gradient.at_s - last_s >= interval_s:
                last_s = gradient.at_s
                if last_s < until_s:
                    yield self._point(last_s)
        yield self._point(until_s)

    def _point(self, at_s: float) -> LossPoint:
        loss = self._session.run(self._model.loss, self._evaluated)
        return LossPoint(at_s, float(loss), self._version)

    def _receive(self, gradient: Gradient) -> None:
        model, session = self._model, self._session
        is_stale = gradient.read != self._version
        if is_stale:
            load(session, model.variables, dict(self._read)[gradient.read])
        feeds = self._feeds(gradient.worker, gradient.number)
        self._arrived.append(session.run(model.gradients, feeds))
        if is_stale:
            load(session, model.variables, self._values)
        if len(self._arrived) < self._needed:
            return
        mean = [sum(each) / self._needed for each in zip(*self._arrived, strict=True)]
        session.run(model.apply, dict(zip(model.arriving, mean, strict=True)))
        self._arrived.clear()
        self._values = session.run(model.variables)
        self._version += 1
        self._read.append((self._version, self._values))
