"""What can be trained, and what can be evaluated.

Source: contrib/learn/python/learn/{trainable,evaluable}.py.
"""

from __future__ import annotations

import abc
from typing import Any

from tfteach.framework.export import export


@export("contrib.learn.Trainable")
class Trainable(abc.ABC):
    """Interface of what can be trained.

    Source: contrib/learn/python/learn/trainable.py.
    """

    @abc.abstractmethod
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: Any = None,
        batch_size: Any = None,
        monitors: Any = None,
        max_steps: Any = None,
    ) -> Any:
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
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: Any = None,
        steps: Any = None,
        metrics: Any = None,
        name: Any = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
    ) -> dict[str, Any]:
        """Evaluate; see `tf.contrib.learn.Estimator.evaluate`."""
