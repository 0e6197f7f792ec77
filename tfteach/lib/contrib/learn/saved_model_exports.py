"""SavedModels of `tf.contrib.learn` estimators: signatures, and which exports to keep.

Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.dtypes import string
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import PathLike, Proto
from tfteach.lib.contrib.learn.export_strategy import ExportStrategy
from tfteach.lib.contrib.learn.gc import (
    Path,
    get_paths,
    largest_export_versions,
    negation,
)
from tfteach.lib.contrib.learn.keys import PredictionKey, ProblemType
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.serving_input_fns import InputFnOps
from tfteach.lib.estimator.estimator import Estimator as CoreEstimator
from tfteach.lib.estimator.saved_model import timestamped_folder
from tfteach.lib.estimator.serving_input import ServingInputReceiver
from tfteach.lib.saved_model import signature_constants
from tfteach.lib.saved_model.signature_def_utils import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)

DEFAULT_INPUT_ALTERNATIVE_KEY = "default_input_alternative"  # TensorFlow's name
_OUTPUTS = "default_output_alternative"
# Seconds since 1970 have ten digits; other folders are no exports.
_TIME = re.compile(r"\d{10}")


# ---- signatures


def build_standardized_signature_def(
    input_tensors: Mapping[str, Tensor],
    output_tensors: Mapping[str, Tensor],
    problem_type: int | None,
) -> Proto:
    """The SignatureDef that fits the kind of problem.

    Args:
      input_tensors: the inputs by name.  Only with a single one, which holds serialized
        Examples, is a model served as a classifier or as a regression.
      output_tensors: the outputs by name.
      problem_type: a `tf.contrib.learn.ProblemType`.

    Raises:
      ValueError: the single input of a classification or regression is no string, or
        the output of a regression is not float32.

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """
    if len(input_tensors) == 1:
        (examples,) = input_tensors.values()
        if problem_type in (
            ProblemType.CLASSIFICATION,
            ProblemType.LOGISTIC_REGRESSION,
        ):
            classes, scores = _classes_and_scores(output_tensors)
            if classes is not None or scores is not None:
                return classification_signature_def(examples, classes, scores)
        if problem_type == ProblemType.LINEAR_REGRESSION and len(output_tensors) == 1:
            (output,) = output_tensors.values()
            return regression_signature_def(examples, output)
    return predict_signature_def(dict(input_tensors), dict(output_tensors))


def _classes_and_scores(
    outputs: Mapping[str, Tensor],
) -> tuple[Tensor | None, Tensor | None]:
    # Serving returns labels as strings: ids of classes are left out.
    if len(outputs) == 1:
        (only,) = outputs.values()
        return (only, None) if only.dtype.base_dtype == string else (None, only)
    classes = outputs.get(PredictionKey.CLASSES)
    if classes is not None and classes.dtype.base_dtype != string:
        classes = None
    for key in (PredictionKey.SCORES, PredictionKey.PROBABILITIES):
        if key in outputs:
            return classes, outputs[key]
    return classes, None


def get_input_alternatives(
    input_ops: InputFnOps | ServingInputReceiver,
) -> tuple[dict[str, Any], Any]:
    """The groups of Tensors that a request may feed, and the features.

    Args:
      input_ops: what the serving input function returned: InputFnOps.

    Raises:
      ValueError: it is a `tf.estimator.export.ServingInputReceiver`.

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """
    if isinstance(input_ops, ServingInputReceiver):
        raise ValueError(
            "A ServingInputReceiver is for tf.estimator.Estimator: return a "
            "tf.contrib.learn.InputFnOps, as build_parsing_serving_input_fn does."
        )
    if not isinstance(input_ops, InputFnOps):  # (features, labels)
        return {}, input_ops[0]
    return {DEFAULT_INPUT_ALTERNATIVE_KEY: input_ops.default_inputs}, input_ops.features


def get_output_alternatives(
    model_fn_ops: ModelFnOps, default_output_alternative_key: str | None = None
) -> tuple[dict[str | None, tuple[int, Mapping[str, Tensor]]], str | None]:
    """The outputs of a model by name, and the name of the default ones.

    Args:
      model_fn_ops: the model; without alternatives, its predictions are the output.
      default_output_alternative_key: the default ones, where there are several.

    Raises:
      ValueError: there are no such outputs, or several without a default.

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """
    found = dict(model_fn_ops.output_alternatives or {})
    key = default_output_alternative_key
    if key is not None and key not in found:
        raise ValueError(
            f"Requested default_output_alternative: {key}, but available "
            f"output_alternatives are: {sorted(found, key=str)}"
        )
    if not found:
        predictions = model_fn_ops.predictions
        if not isinstance(predictions, Mapping):
            predictions = {"output": predictions}
        return {_OUTPUTS: (ProblemType.UNSPECIFIED, predictions)}, _OUTPUTS
    if key is None:
        if len(found) > 1:
            raise ValueError(
                "Please specify a default_output_alternative.  Available "
                f"output_alternatives are: {sorted(found, key=str)}"
            )
        (key,) = found
    return found, key


def build_all_signature_defs(
    input_alternatives: Mapping[str, Mapping[str, Tensor]],
    output_alternatives: Mapping[str | None, tuple[int, Mapping[str, Tensor]]],
    actual_default_output_alternative_key: str | None,
) -> dict[str, Proto]:
    """The SignatureDefs of every input with every output, and the default one.

    Args:
      input_alternatives: groups of inputs by name.
      output_alternatives: (problem, outputs) by name.
      actual_default_output_alternative_key: the outputs that are served by default.

    Returns:
      A dict of "input:output" and "serving_default" to SignatureDefs.

    Raises:
      ValueError: there is no group "default_input_alternative", as
        `get_input_alternatives` makes it of InputFnOps.

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """
    if DEFAULT_INPUT_ALTERNATIVE_KEY not in input_alternatives:
        raise ValueError("A default input_alternative must be provided.")
    found = {
        f"{given}:{output}": build_standardized_signature_def(inputs, outputs, problem)
        for given, inputs in input_alternatives.items()
        for output, (problem, outputs) in output_alternatives.items()
    }
    default = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    found[default] = found[
        f"{DEFAULT_INPUT_ALTERNATIVE_KEY}:{actual_default_output_alternative_key}"
    ]
    return found


# ---- folders


def get_timestamped_export_dir(export_dir_base: PathLike) -> bytes:
    """The path of a new export, which is named by the time.

    Raises:
      RuntimeError: there is already one for each of the next seconds.
    """
    return timestamped_folder(resolve(export_dir_base)).encode()


def get_temp_export_dir(timestamped_export_dir: PathLike) -> bytes:
    """Where an export is written until it is complete: beside its path, as "temp-"."""
    folder, name = os.path.split(os.fsencode(timestamped_export_dir))
    return os.path.join(folder, b"temp-" + name)


def _with_version(path: Path) -> Path | None:
    """An export with its version; None of another directory."""
    name = os.path.basename(path.path)
    return path._replace(export_version=int(name)) if _TIME.fullmatch(name) else None


def _exports(export_dir_base: PathLike) -> list[Path]:
    """The exports in a directory, oldest first."""
    if not file_system.exists(resolve(export_dir_base)):
        return []
    return get_paths(export_dir_base, _with_version)


def get_most_recent_export(export_dir_base: PathLike) -> Path | None:
    """The newest export in a directory; None without any.

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """
    found = _exports(export_dir_base)
    return found[-1] if found else None


def garbage_collect_exports(
    export_dir_base: PathLike, exports_to_keep: int | None
) -> None:
    """Delete all but the newest exports.

    Args:
      export_dir_base: the directory.
      exports_to_keep: how many to keep; None for all.

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """
    if exports_to_keep is None:
        return
    outdated = negation(largest_export_versions(exports_to_keep))
    for path in outdated(_exports(export_dir_base)):
        shutil.rmtree(path.path)


# ---- strategies


@export(
    "contrib.learn.make_export_strategy", "contrib.learn.utils.make_export_strategy"
)
def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, PathLike] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """The strategy "Servo", which writes SavedModels.

    Args:
      serving_input_fn: for `tf.estimator`, a function that returns a
        `tf.estimator.export.ServingInputReceiver`; for `tf.contrib.learn`, a
        `tf.contrib.learn.InputFnOps`.
      default_output_alternative_key: for `tf.contrib.learn`, which of several outputs
        is served by default.
      assets_extra: files to copy to "assets.extra": a dict of names to paths.
      as_text: whether the graph's file is text; otherwise binary.
      exports_to_keep: how many of the newest exports to keep; None for all.
      strip_default_attrs: whether default attributes are left out of the graph.

    Returns:
      An ExportStrategy; it raises a ValueError for a tf.estimator.Estimator with a
      `default_output_alternative_key`.

    Example:
      >>> strategy = tf.contrib.learn.make_export_strategy(serving_input_fn)
      >>> experiment = tf.contrib.learn.Experiment(
      ...     estimator, train_fn, test_fn, export_strategies=[strategy]
      ... )

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """

    def export_fn(
        estimator: Any,
        export_dir_base: PathLike,
        checkpoint_path: PathLike | None = None,
        strip_default_attrs: bool | None = None,
    ) -> Any:
        options: dict[str, Any] = {
            "assets_extra": assets_extra,
            "as_text": as_text,
            "checkpoint_path": checkpoint_path,
            "strip_default_attrs": bool(strip_default_attrs),
        }
        if not isinstance(estimator, CoreEstimator):
            options["default_output_alternative_key"] = default_output_alternative_key
        elif default_output_alternative_key is not None:
            raise ValueError(
                "default_output_alternative_key is not supported in core Estimator. "
                f"Given: {default_output_alternative_key}"
            )
        path = estimator.export_savedmodel(export_dir_base, serving_input_fn, **options)
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return path

    return ExportStrategy("Servo", export_fn, strip_default_attrs)
