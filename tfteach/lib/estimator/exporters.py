"""What `train_and_evaluate` exports: `tf.estimator.FinalExporter`, `LatestExporter`.

Source: tensorflow_estimator/python/estimator/exporter.py.
"""

from __future__ import annotations

import abc
import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.serving_input import ServingInputReceiver


@export("estimator.Exporter")
class Exporter(abc.ABC):
    """Exports a model after an evaluation.

    Source: tensorflow_estimator/python/estimator/exporter.py.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the directory below "export"."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> bytes | None:
        """Export the model, if it is to be.

        Args:
          estimator: the Estimator.
          export_path: the directory of this exporter.
          checkpoint_path: the checkpoint that was evaluated.
          eval_result: what `Estimator.evaluate` returned.
          is_the_final_export: whether the training has ended.

        Returns:
          The SavedModel's path; None if nothing was exported.
        """


class SavedModelExporter(Exporter):
    """Writes SavedModels.  Subclasses say when.

    Args:
      name: the name of the directory below "export".
      serving_input_receiver_fn: returns a `tf.estimator.export.ServingInputReceiver`.
      assets_extra, as_text: as in `tf.estimator.Estimator.export_saved_model`.
      exports_to_keep: how many of the newest exports to keep; None for all.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], ServingInputReceiver],
        assets_extra: Mapping[str, PathLike] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = None,
    ) -> None:
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text
        self._exports_to_keep = exports_to_keep

    @property
    def name(self) -> str:
        """The name of the directory below "export"."""
        return self._name

    def _is_due(
        self, estimator: Estimator, eval_result: Mapping[str, Any], is_final: bool
    ) -> bool:
        """Whether to export the model that was evaluated."""
        return True

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> bytes | None:
        """Export the model, if it is to be; see `Exporter.export`."""
        if not self._is_due(estimator, eval_result, is_the_final_export):
            return None
        path = estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
        if self._exports_to_keep is not None:
            folder = resolve(export_path)
            times = sorted(int(n) for n in file_system.listdir(folder) if n.isdigit())
            for time_s in times[: -self._exports_to_keep]:
                shutil.rmtree(os.path.join(folder, str(time_s)))
        return path


@export("estimator.FinalExporter")
class FinalExporter(SavedModelExporter):
    """Exports the model once, at the end of the training.

    Args:
      name: the name of the directory below "export".
      serving_input_receiver_fn: returns a `tf.estimator.export.ServingInputReceiver`.
      assets_extra, as_text: as in `tf.estimator.Estimator.export_saved_model`.

    Source: tensorflow_estimator/python/estimator/exporter.py.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], ServingInputReceiver],
        assets_extra: Mapping[str, PathLike] | None = None,
        as_text: bool = False,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def _is_due(
        self, estimator: Estimator, eval_result: Mapping[str, Any], is_final: bool
    ) -> bool:
        if is_final:
            get_logger().info("Performing the final export in the end of training.")
        return is_final


@export("estimator.LatestExporter")
class LatestExporter(SavedModelExporter):
    """Exports the model after each evaluation, and keeps the newest exports.

    Args:
      name: the name of the directory below "export".
      serving_input_receiver_fn: returns a `tf.estimator.export.ServingInputReceiver`.
      assets_extra, as_text: as in `tf.estimator.Estimator.export_saved_model`.
      exports_to_keep: how many to keep; None for all.

    Raises:
      ValueError: `exports_to_keep` is not positive.

    Source: tensorflow_estimator/python/estimator/exporter.py.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], ServingInputReceiver],
        assets_extra: Mapping[str, PathLike] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be positive number")
        super().__init__(
            name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep
        )
