"""Estimators that build their model in every call: the call's line, and the cure.

`Estimator.predict` makes a graph, opens a session and restores a checkpoint in every
call, so a loop that predicts element by element does so for each of them.  One call
that stays open, and reads its elements from a generator, does it once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tfteach.explain.graphs.user_calls import UserCall
from tfteach.framework.graph import Tensor
from tfteach.framework.observers import InputsMade
from tfteach.lib.estimator.mode_keys import ModeKeys

__all__ = ["Feature", "ModelInputs"]

_METHODS = {
    ModeKeys.PREDICT: "predict",
    ModeKeys.EVAL: "evaluate",
    ModeKeys.TRAIN: "train",
}


class Feature(NamedTuple):
    """A dense feature.

    Attributes:
      dtype: the name of its element type.
      shape: its shape with the batch; None if its rank is unknown.
    """

    dtype: str
    shape: tuple[int | None, ...] | None

    @property
    def dtype_text(self) -> str:
        """Its element type as Python."""
        return f"tf.{self.dtype}"

    @property
    def shape_text(self) -> str:
        """The shape of one example as Python."""
        return "None" if not self.shape else str([*self.shape[1:]])


class ModelInputs(NamedTuple):
    """What a graph was built for by an estimator.

    Attributes:
      method: the estimator's method: "predict", "evaluate" or "train".
      features: name -> `Feature`, or the only one; None if they are anything else.
    """

    method: str
    features: Mapping[str, Feature] | Feature | None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of features that have one."""
        return tuple(self.features) if isinstance(self.features, Mapping) else ()

    @property
    def types_text(self) -> str:
        """The element types as `from_generator` takes them."""
        return self._text("dtype_text")

    @property
    def shapes_text(self) -> str:
        """The shapes of one example as `from_generator` takes them."""
        return self._text("shape_text")

    def _text(self, attribute: str) -> str:
        if isinstance(self.features, Feature):
            return str(getattr(self.features, attribute))
        pairs = (self.features or {}).items()
        inner = [f'"{name}": {getattr(one, attribute)}' for name, one in pairs]
        return f"{{{', '.join(inner)}}}"


def inputs_of(event: InputsMade) -> ModelInputs:
    """Describe the features that an input function made."""
    features = event.features
    found: Mapping[str, Feature] | Feature | None = None
    if isinstance(features, Tensor):
        found = _feature(features)
    elif isinstance(features, Mapping):
        dense = {
            name: _feature(value)
            for name, value in features.items()
            if isinstance(name, str) and isinstance(value, Tensor)
        }
        found = dense if len(dense) == len(features) else None
    return ModelInputs(_METHODS[event.mode], found)


def _feature(tensor: Tensor) -> Feature:
    shape = tensor.shape
    sizes = None if shape.ndims is None else tuple(shape.as_list())
    return Feature(tensor.dtype.base_dtype.name, sizes)


def advice(inputs: ModelInputs) -> str:
    """How to build the model once, in a sentence or two."""
    return {
        "predict": (
            "Keep one `predict` open: it builds the graph and restores the checkpoint "
            "when its first prediction is asked for, and goes on as long as its input "
            "does. Let a generator, read by `tf.data.Dataset.from_generator`, give it "
            "the elements one by one."
        ),
        "evaluate": (
            "Evaluate once, over an input_fn that reads all the data. While a model is "
            "trained, `tf.estimator.train_and_evaluate` evaluates its checkpoints."
        ),
        "train": (
            "Train once, with the `steps` of all calls together: each call also "
            "restores the last checkpoint and writes another."
        ),
    }[inputs.method]


def cure(inputs: ModelInputs, call: UserCall | None) -> str:
    """The program that predicts with one graph and one session.

    Args:
      inputs: what the graphs are for.
      call: the call in the user's program, or None if it was not found.

    Returns:
      Lines of Python; "" for other methods, and for features that are not dense.
    """
    if inputs.method != "predict" or inputs.features is None:
        return ""
    estimator = "estimator" if call is None else call.receiver
    rest = "".join(f", {part}" for part in (() if call is None else call.rest))
    target, iterable = ("row", "rows") if call is None or not call.loop else call.loop
    lines = [
        "class FastPredict:",
        "    def __init__(self, estimator):",
        f"        self.predictions = estimator.predict(self.input_fn{rest})",
        "",
        "    def input_fn(self):",
        "        dataset = tf.data.Dataset.from_generator(",
        f"            self.elements, {inputs.types_text},",
        f"            {inputs.shapes_text})",
        "        return dataset.batch(1)",
        "",
        "    def elements(self):",
        "        while True:",
        "            yield self.element",
        "",
        "    def __call__(self, element):",
        "        self.element = element",
        "        return next(self.predictions)",
        "",
        f"predict = FastPredict({estimator})",
    ]
    element = _element(inputs, call)
    if call is None or call.is_in_loop or not call.function:
        lines += [
            f"for {target} in {iterable}:",
            f"    prediction = predict({element})",
        ]
    else:
        lines.append(f"prediction = predict({element})  # in {call.function}")
    lines.append("predict.predictions.close()  # closes the session")
    return "\n".join(lines)


def _element(inputs: ModelInputs, call: UserCall | None) -> str:
    """An element as Python, of the expressions that the program has for it."""
    given = {} if call is None else call.given
    names = inputs.names
    row = "row" if call is None or call.loop is None else call.loop[0]
    if not names:
        return row
    inner = [
        f'"{name}": {given.get(name, row if len(names) == 1 else name)}'
        for name in names
    ]
    return f"{{{', '.join(inner)}}}"
