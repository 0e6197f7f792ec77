"""`tf.contrib.estimator.SavedModelEstimator`: the model of a SavedModel, trained on.

Source: tensorflow_estimator/python/estimator/canned/saved_model_estimator.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import as_dtype
from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.logger import get_logger
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.export_outputs import PredictOutput
from tfteach.lib.estimator.mode_keys import ModeKeys
from tfteach.lib.estimator.saved_model import EXPORT_TAG_MAP, SIGNATURE_KEY_MAP
from tfteach.lib.files.checkpoint_reader import list_variables
from tfteach.lib.files.warm_start import WarmStartSettings
from tfteach.lib.saved_model import constants
from tfteach.lib.saved_model.loader import (
    SavedModelLoader,
    get_init_op,
    get_train_op,
    maybe_saved_model_directory,
)
from tfteach.lib.saved_model.utils import variables_path
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.scaffold import Scaffold

# The keys of features and labels that are no dictionary.
_FEATURE, _LABEL = "feature", "label"
# A new export writes these collections again.
_WRITTEN_BY_EXPORTS = (
    constants.TRAIN_OP_KEY,
    constants.MAIN_OP_KEY,
    constants.LEGACY_INIT_OP_KEY,
    constants.ASSETS_KEY,
)


@export("contrib.estimator.SavedModelEstimator")
class SavedModelEstimator(Estimator):
    """Trains, evaluates and uses the model of a SavedModel, without its Python code.

    The variables start with the SavedModel's values.  A mode is available if the model
    was exported for it, see `Estimator.experimental_export_all_saved_models`.  Features
    and labels have the names of the exported receiver; the name of features that are
    no dictionary is "feature", that of such labels "label".  As in TensorFlow, files of
    assets are read where the exporting program had them.

    Args:
      saved_model_dir: the directory of the SavedModel.
      model_dir: the directory of checkpoints and event files; None for a temporary one.

    Raises:
      ValueError: the directory has no SavedModel.

    Example:
      >>> estimator = tf.contrib.estimator.SavedModelEstimator("exports/1", "logs")
      >>> estimator.evaluate(input_fn)["loss"]

    Source: tensorflow_estimator/python/estimator/canned/saved_model_estimator.py.
    """

    def __init__(
        self, saved_model_dir: PathLike, model_dir: PathLike | None = None
    ) -> None:
        folder = os.fspath(saved_model_dir)
        if not maybe_saved_model_directory(folder):
            raise ValueError(
                f"Directory provided has an invalid SavedModel format: {folder}"
            )
        self._loader = SavedModelLoader(folder)
        path = variables_path(folder)
        names = [name for name, _ in list_variables(path)]
        super().__init__(
            self._model_from_saved_model,
            model_dir,
            warm_start_from=WarmStartSettings(path, names),
        )
        self._models = dict(self._available())

    def _available(self) -> Iterator[tuple[str, Any]]:
        """The modes of the SavedModel, with their MetaGraphDefs."""
        logger = get_logger()
        logger.info("Checking available modes for SavedModelEstimator.")
        found = []
        for mode, tags in EXPORT_TAG_MAP.items():
            try:
                model: Any = self._loader.get_meta_graph_def_from_tags(tags)
            except RuntimeError:
                logger.warning(f"{mode} mode not found in SavedModel.")
                continue
            if SIGNATURE_KEY_MAP[mode] in model.signature_def:
                found.append(mode)
                yield mode, model
        logger.info(f"Available modes for Estimator: {found}")

    def _create_and_assert_global_step(self, graph: Graph) -> None:
        """Create none: the SavedModel has one."""

    def _model_from_saved_model(
        self, features: Any, labels: Any, mode: str
    ) -> EstimatorSpec:
        if get_global_step() is not None:
            raise RuntimeError(
                "Graph must not contain a global step tensor before the SavedModel is "
                "loaded. Please make sure that the input function does not create a "
                "global step."
            )
        if mode not in self._models:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel. Use saved_model_cli "
                "to check that the Metagraph for this mode has been exported."
            )
        model = self._models[mode]
        signature = model.signature_def[SIGNATURE_KEY_MAP[mode]]
        names = {key: info.name for key, info in sorted(signature.outputs.items())}
        _, found = self._loader.load_graph(
            get_default_graph(),
            EXPORT_TAG_MAP[mode],
            input_map=_input_map(signature, features, labels),
            return_elements=list(names.values()),
        )
        outputs = dict(zip(names, found, strict=True))
        init_op, train_op = get_init_op(model), get_train_op(model)
        for key in _WRITTEN_BY_EXPORTS:
            get_default_graph().clear_collection(key)
        scaffold = Scaffold(local_init_op=init_op)
        if mode == ModeKeys.PREDICT:
            exported = {SIGNATURE_KEY_MAP[mode]: PredictOutput(outputs)}
            return EstimatorSpec(
                mode, outputs, export_outputs=exported, scaffold=scaffold
            )
        parts = _parts(outputs)
        return EstimatorSpec(
            mode, parts.predictions, parts.loss, train_op, parts.metrics,
            scaffold=scaffold,
        )  # fmt: skip


def _input_map(signature: Any, features: Any, labels: Any) -> dict[str, Any]:
    """The given Tensors by the names of the placeholders that they replace.

    Raises:
      ValueError: one is missing, or its type or shape does not fit.
    """
    given = dict(features) if isinstance(features, Mapping) else {_FEATURE: features}
    if labels is not None:
        given |= labels if isinstance(labels, Mapping) else {_LABEL: labels}
    found: dict[str, Any] = {}
    for key, info in sorted(signature.inputs.items()):
        if key not in given:
            raise ValueError(
                f'Key "{key}" not found in features or labels passed in to the model '
                f"function. All required keys: {sorted(signature.inputs)}"
            )
        _check_fits(key, info, given[key])
        found[info.name] = given[key]
        found[f"^{info.name.partition(':')[0]}"] = given[key]  # as a control input
    return found


def _check_fits(key: str, info: Any, value: Any) -> None:
    dtype, shape = as_dtype(info.dtype), TensorShape(info.tensor_shape)
    problems = ""
    if value.dtype != dtype:
        problems += f"\n\tExpected dtype: {dtype}, Got: {value.dtype}"
    if not shape.is_compatible_with(value.shape):
        problems += f"\n\tExpected shape: {shape}, Got: {value.shape}"
    if problems:
        raise ValueError(
            f"Tensor shape and/or dtype validation failed for input {key}:{problems}"
        )


class _Parts(NamedTuple):
    loss: Any
    predictions: dict[str, Any]
    metrics: dict[str, Any]


def _parts(outputs: Mapping[str, Any]) -> _Parts:
    """The outputs of a signature for training or evaluation."""
    metrics: dict[str, Any] = {}
    for key, value in outputs.items():
        name, _, part = key.rpartition("/")
        if key.startswith("metrics/") and part == "value":
            metrics[name] = value, outputs[f"{name}/update_op"]
    predictions = {k: v for k, v in outputs.items() if k.startswith("predictions")}
    return _Parts(outputs.get("loss"), predictions, metrics)
