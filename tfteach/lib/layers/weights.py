"""The variables of a layer, and their values as arrays.

Source: python/keras/engine/base_layer.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tfteach.framework.defaults import get_default_session
from tfteach.framework.graph import get_default_graph


class Weights:
    """The part of a layer that holds its variables.

    Attributes:
      name: the layer's name.
      trainable: whether the trainable ones are listed as such.
      built: whether they have been created.
    """

    name: str
    trainable: bool
    built: bool

    def __init__(self) -> None:
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []

    @property
    def trainable_weights(self) -> list[Any]:
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        others = list(self._non_trainable_weights)
        return others if self.trainable else self._trainable_weights + others

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        return self.weights

    def count_params(self) -> int:
        """The number of elements of its variables.

        Raises:
          ValueError: the layer is not built yet.
        """
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't "
                "built. You can build it manually via: "
                f"`{self.name}.build(batch_input_shape)`."
            )
        return sum(math.prod(w.shape.as_list()) for w in self.weights)

    def get_weights(self) -> list[Any]:
        """The values of `weights`: copies, of the default session in a graph.

        Raises:
          NotImplementedError: a graph is built, and there is no default session.
        """
        if get_default_graph().is_eager:
            return [weight.numpy() for weight in self.weights]
        found: list[Any] = _session("get_weights").run(self.weights)
        return found

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Assign arrays, in the order of `weights`.

        Raises:
          ValueError: their number or a shape does not fit.
          NotImplementedError: a graph is built, and there is no default session.
        """
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  '
                f"weight list of length {len(weights)}, but the layer was expecting "
                f"{len(variables)} weights. Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights, strict=True):
            if not variable.shape.is_compatible_with(value.shape):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided "
                    f"weight shape {value.shape}"
                )
        is_eager = get_default_graph().is_eager
        session = None if is_eager or not variables else _session("set_weights")
        for variable, value in zip(variables, weights, strict=True):
            variable.load(value, session)


def _session(method: str) -> Any:
    session = get_default_session()
    if session is None:
        raise NotImplementedError(
            f"{method}: without a default session TensorFlow uses Keras' session; call "
            "it in `with tf.Session():`"
        )
    return session
