"""Checks of lesson 15: a model that is served."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import tfteach as tf

from .verdict import report


def check_served_model(serve: Any, graph_def: Any) -> None:
    """Check that `serve` writes a SavedModel: image -> digit, probability."""
    report(_problem_of_served, serve, graph_def)


def _problem_of_served(serve: Any, graph_def: Any) -> str | None:
    images = np.random.RandomState(0).rand(5, 28, 28, 1)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        tf.import_graph_def(graph_def, name="")
        wanted = session.run("probabilities:0", {"images:0": images})
    with tempfile.TemporaryDirectory() as folder:
        export_dir = Path(folder, "export")
        serve(graph_def, str(export_dir))
        if not tf.saved_model.contains_saved_model(str(export_dir)):
            return (
                "there is no SavedModel in `export_dir`. Call "
                "tf.saved_model.simple_save(session, export_dir, inputs, outputs)."
            )
        model = tf.contrib.predictor.from_saved_model(str(export_dir))
        ends = (set(model.feed_tensors), set(model.fetch_tensors))
        if ends != ({"image"}, {"digit", "probability"}):
            inputs, outputs = (", ".join(sorted(names)) for names in ends)
            return (
                f"the signature is {inputs} -> {outputs}; it should be "
                "image -> digit, probability."
            )
        found = model({"image": images})
        model.session.close()
    digit, probability = found["digit"], found["probability"]
    if digit.shape != (5,) or probability.shape != (5,):
        return (
            f"for 5 images, `digit` is {list(digit.shape)} and `probability` "
            f"{list(probability.shape)}; both should be [5]: one for each image."
        )
    if digit.dtype != np.int64:
        return f"`digit` is {digit.dtype}; tf.argmax gives int64."
    if (digit != wanted.argmax(1)).any():
        return f"`digit` is {digit.tolist()}, not {wanted.argmax(1).tolist()}."
    if np.abs(probability - wanted.max(1)).max() > 1e-5:
        return "`digit` is right, `probability` is not that of this digit."
    return None
