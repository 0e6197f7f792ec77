"""What can be trained, and what can be evaluated.

Source: contrib/learn/python/learn/{trainable,evaluable}.py.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.learn.type_aliases import (
    FeedFn,
    InputFn,
    Metrics,
    Monitors,
    Rows,
)
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook


@export("contrib.learn.Trainable")
class Trainable(abc.ABC):
    """Interface of what can be trained.

    Source: contrib/learn/python/learn/trainable.py.
    """

    @abc.abstractmethod
    def fit(
        self,
        x: Rows | None = None,
        y: Rows | None = None,
        input_fn: InputFn | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Monitors | None = None,
        max_steps: int | None = None,
    ) -> Trainable:
        """Train; see `tf.contrib.learn.Estimator.fit`."""


@export("contrib.learn.Evaluable")
class Evaluable(abc.ABC):
    """Interface of what can be evaluated.

    Source: contrib/learn/python/learn/evaluable.py.
    """

    @property
    @abc.abstractmethod
    def model_dir(self) -> str:
        """The directory of checkpoints and event files."""

    @abc.abstractmethod
    def evaluate(
        self,
        x: Rows | None = None,
        y: Rows | None = None,
        input_fn: InputFn | None = None,
        feed_fn: FeedFn | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Metrics | None = None,
        name: str | None = None,
        checkpoint_path: PathLike | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
    ) -> dict[str, Any]:
        """Evaluate; see `tf.contrib.learn.Estimator.evaluate`."""


def check_estimator(estimator: object) -> None:
    """Check that an experiment can train and evaluate an object.

    Raises:
      ValueError: it can not.
    """
    for kind in (Evaluable, Trainable):
        if not isinstance(estimator, kind):
            raise ValueError(
                f"`estimator` must implement `tf.contrib.learn.{kind.__name__}`"
                " or `tf.estimator.Estimator`."
            )
