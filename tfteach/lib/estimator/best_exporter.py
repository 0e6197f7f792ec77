"""`tf.estimator.BestExporter`: exports the model when an evaluation was the best yet.

Source: tensorflow_estimator/python/estimator/exporter.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.errors import NotFoundError
from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.eval_results import results_in
from tfteach.lib.estimator.exporters import SavedModelExporter
from tfteach.lib.estimator.input_fn import argument_names
from tfteach.lib.estimator.serving_input import ServingInputReceiver

Results = Mapping[str, Any]
_COMPARED = ("best_eval_result", "current_eval_result")


def _loss_smaller(best_eval_result: Results, current_eval_result: Results) -> bool:
    """Whether the loss has become smaller."""
    for name, result in zip(
        _COMPARED, (best_eval_result, current_eval_result), strict=True
    ):
        if not result or "loss" not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    smaller: bool = best_eval_result["loss"] > current_eval_result["loss"]
    return smaller


def _check_compare_fn(compare_fn: Any) -> None:
    arguments = set(argument_names(compare_fn))
    for name in _COMPARED:
        if name not in arguments:
            raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
    unknown = list(arguments - set(_COMPARED))
    if unknown:
        raise ValueError(
            f"compare_fn ({compare_fn}) has following not expected args: {unknown}"
        )


@export("estimator.BestExporter")
class BestExporter(SavedModelExporter):
    """Exports the model after each evaluation that is better than all before.

    Args:
      name: the name of the directory below "export".
      serving_input_receiver_fn: returns a `tf.estimator.export.ServingInputReceiver`.
      event_file_pattern: the event files of earlier evaluations below the model's
        directory; None not to read them.
      compare_fn: a function of `best_eval_result` and `current_eval_result`, dicts as
        `Estimator.evaluate` returns them: whether the current one is better.  The
        default compares losses.
      assets_extra, as_text: as in `tf.estimator.Estimator.export_saved_model`.
      exports_to_keep: how many of the newest exports to keep; None for all.

    Raises:
      ValueError: `exports_to_keep` is not positive, or the function has other
        arguments.

    Example:
      >>> exporter = tf.estimator.BestExporter("best", serving_input_receiver_fn)
      >>> spec = tf.estimator.EvalSpec(test_input_fn, exporters=exporter)

    Source: tensorflow_estimator/python/estimator/exporter.py.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], ServingInputReceiver] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[[Results, Results], bool] = _loss_smaller,
        assets_extra: Mapping[str, PathLike] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        _check_compare_fn(compare_fn)
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                "`exports_to_keep`, if provided, must be a positive number. Got "
                f"{exports_to_keep}"
            )
        receiver_fn: Any = serving_input_receiver_fn
        super().__init__(name, receiver_fn, assets_extra, as_text, exports_to_keep)
        self._compare_fn, self._event_file_pattern = compare_fn, event_file_pattern
        self._best: Results | None = None
        self._model_dir: str | None = None

    def _is_due(
        self, estimator: Estimator, eval_result: Results, is_final: bool
    ) -> bool:
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            get_logger().info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            pattern = os.path.join(self._model_dir, self._event_file_pattern)
            self._best = self._best_of(pattern)
        if self._best is not None and not self._compare_fn(
            best_eval_result=self._best, current_eval_result=eval_result
        ):  # type: ignore[call-arg]
            return False
        get_logger().info("Performing best model export.")
        self._best = eval_result
        return True

    def _best_of(self, pattern: str) -> Results | None:
        """The best results in event files; None if there are none."""
        best, folder = None, os.path.dirname(pattern)
        if not file_system.exists(resolve(folder)):
            raise NotFoundError(None, None, f"{folder}; No such file or directory")
        for path in file_system.glob(resolve(pattern)):
            for _, results in results_in(path):
                if best is None or self._compare_fn(
                    best_eval_result=best, current_eval_result=results
                ):  # type: ignore[call-arg]
                    best = results
        return best
