"""Predictors: SavedModels that are called with arrays.

Source: contrib/predictor/{predictor,predictor_factories,saved_model_predictor}.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.engine.session.session import Session
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import PathLike, Proto, SessionLike
from tfteach.lib.saved_model.loader import SavedModelLoader
from tfteach.lib.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
)
from tfteach.lib.saved_model.tag_constants import SERVING


class Predictor:
    """A loaded model, called with a dict of arrays.

    Attributes:
      graph: its Graph.
      session: the Session that holds its variables.
      feed_tensors: its input Tensors by name.
      fetch_tensors: its output Tensors by name.
    """

    def __init__(
        self,
        graph: Graph,
        session: SessionLike,
        feed_tensors: dict[str, Tensor],
        fetch_tensors: dict[str, Tensor],
    ) -> None:
        self.graph, self.session = graph, session
        self.feed_tensors, self.fetch_tensors = feed_tensors, fetch_tensors

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self.feed_tensors} and "
            f"fetch_tensors {self.fetch_tensors}"
        )

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name.

        Args:
          input_dict: arrays by the names of `feed_tensors`.  Those that are None or
            missing are not fed.

        Raises:
          ValueError: there are other names in it.
        """
        unexpected = input_dict.keys() - self.feed_tensors.keys()
        if unexpected:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unexpected}\n"
                f"expected: {set(self.feed_tensors)}"
            )
        feeds = {
            self.feed_tensors[name]: value
            for name, value in input_dict.items()
            if value is not None
        }
        found: dict[str, Any] = self.session.run(self.fetch_tensors, feeds)
        return found


class SavedModelPredictor(Predictor):
    """The Predictor of a SavedModel."""


@export("contrib.predictor.from_saved_model")
def from_saved_model(
    export_dir: PathLike,
    signature_def_key: str | None = None,
    signature_def: Proto | None = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: Graph | None = None,
    config: Proto | None = None,
) -> Predictor:
    """A SavedModel as a function from a dict of arrays to a dict of arrays.

    Args:
      export_dir: the SavedModel's directory.
      signature_def_key: the name of the signature ("serving_default").
      signature_def: a SignatureDef instead.
      input_names: instead of a signature, a dict from names to Tensors' names.
      output_names: likewise; both or none are given.
      tags: the MetaGraph's tags, separated by commas ("serve").
      graph: the graph to load it into; a new one if None.
      config: a ConfigProto for its session.

    Returns:
      A Predictor.

    Raises:
      OSError: the directory has no SavedModel.
      RuntimeError: no MetaGraph has these tags.
      ValueError: there is no such signature, or more than one is given.

    Example:
      >>> predict = tf.contrib.predictor.from_saved_model("models/1")
      >>> predict({"x": [[1.0, 2.0]]})["y"]

    Source: contrib/predictor/predictor_factories.py.
    """
    if (input_names is None) != (output_names is None):
        raise ValueError(
            "input_names and output_names must both be specified or both be "
            "unspecified."
        )
    given = (signature_def_key, signature_def, input_names)
    if sum(value is not None for value in given) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR"
            "(input_names AND output_names)."
        )
    loader = SavedModelLoader(export_dir)
    wanted = [tag.strip() for tag in (tags or SERVING).split(",")]
    if input_names is None:
        if signature_def is None:
            meta_graph = loader.get_meta_graph_def_from_tags(wanted)
            key = signature_def_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
            signature_def = _signature(meta_graph, key)
        input_names = {name: i.name for name, i in signature_def.inputs.items()}
        output_names = {name: i.name for name, i in signature_def.outputs.items()}
    assert output_names is not None
    graph = graph or Graph()
    with graph.as_default():
        session = Session(config=config)
        loader.load(session, wanted)
    return SavedModelPredictor(
        graph,
        session,
        {name: graph.get_tensor_by_name(t) for name, t in input_names.items()},
        {name: graph.get_tensor_by_name(t) for name, t in output_names.items()},
    )


def _signature(meta_graph: Any, key: str) -> Proto:
    # tf.contrib.learn wrote several for one model, with such names.
    for name in (key, f"default_input_alternative:{key}"):
        if name in meta_graph.signature_def:
            if name != key:
                get_logger().warning(
                    f'Could not find signature def "{key}". Using "{name}" instead'
                )
            return meta_graph.signature_def[name]
    raise ValueError(
        f'Got signature_def_key "{key}". Available signatures are '
        f"{sorted(meta_graph.signature_def)}."
    )
