"""Export strategies from columns, of the best model, and with a step of one's own.

Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.logger import get_logger
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.contrib.layers.parse_feature_columns import (
    create_feature_spec_for_parsing,
)
from tfteach.lib.contrib.learn.export_strategy import ExportStrategy
from tfteach.lib.contrib.learn.saved_model_exports import (
    garbage_collect_exports,
    make_export_strategy,
)
from tfteach.lib.contrib.learn.serving_input_fns import build_parsing_serving_input_fn
from tfteach.lib.estimator.eval_results import results_in
from tfteach.lib.estimator.serving_input import (
    build_parsing_serving_input_receiver_fn,
)
from tfteach.lib.files.checkpoint_management import latest_checkpoint

Results = Mapping[str, Any]


def make_parsing_export_strategy(
    feature_columns: Iterable[Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, PathLike] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """`make_export_strategy` of a model that is served serialized Examples.

    Args:
      feature_columns: the model's columns.
      default_output_alternative_key, assets_extra, as_text, exports_to_keep,
        strip_default_attrs: as in `make_export_strategy`.
      target_core: whether the model is a `tf.estimator.Estimator`.

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """
    spec = create_feature_spec_for_parsing(list(feature_columns))
    build: Any = build_parsing_serving_input_fn
    if target_core:
        build = build_parsing_serving_input_receiver_fn
    return make_export_strategy(
        build(spec),
        default_output_alternative_key,
        assets_extra,
        as_text,
        exports_to_keep,
        strip_default_attrs,
    )


def _default_compare_fn(
    curr_best_eval_result: Results | None, cand_eval_result: Results | None
) -> bool:
    """Whether the candidate's loss is smaller.

    Raises:
      ValueError: one of them has no loss.
    """
    for name, result in (
        ("curr_best_eval_result", curr_best_eval_result),
        ("cand_eval_result", cand_eval_result),
    ):
        if not result or "loss" not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    assert curr_best_eval_result is not None
    assert cand_eval_result is not None
    smaller: bool = curr_best_eval_result["loss"] > cand_eval_result["loss"]
    return smaller


class BestModelSelector:
    """Remembers the best evaluation.

    Args:
      event_file_pattern: the event files of earlier evaluations; None for none.
      compare_fn: a function of the best results and of a candidate's that returns
        whether the candidate is better; None to compare the losses.

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """

    def __init__(
        self,
        event_file_pattern: PathLike | None = None,
        compare_fn: Callable[[Results, Results], bool] | None = None,
    ) -> None:
        self._compare_fn = compare_fn or _default_compare_fn
        self._best: Results | None = None
        if event_file_pattern is not None:
            for path in file_system.glob(resolve(event_file_pattern)):
                for _, results in results_in(path):
                    if self._best is None or self._compare_fn(self._best, results):
                        self._best = results

    def update(
        self, checkpoint_path: str | None, eval_result: Results | None
    ) -> tuple[str, Results | None]:
        """Compare an evaluation with the best one.

        Args:
          checkpoint_path: the checkpoint.
          eval_result: its results.

        Returns:
          Both if it is better, which makes it the best; else ("", None).

        Raises:
          ValueError: one of them is empty.
        """
        if not checkpoint_path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError(f"{checkpoint_path} has empty evaluation results.")
        if self._best is not None and not self._compare_fn(self._best, eval_result):
            return "", None
        self._best = eval_result
        return checkpoint_path, eval_result


def make_best_model_export_strategy(
    serving_input_fn: Callable[[], Any] | None,
    exports_to_keep: int | None = 1,
    model_dir: PathLike | None = None,
    event_file_pattern: str | None = None,
    compare_fn: Callable[[Results, Results], bool] | None = None,
    default_output_alternative_key: str | None = None,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """The strategy "best_model", which exports only models better than all before.

    Args:
      serving_input_fn: as in `make_export_strategy`.
      exports_to_keep: how many of the newest exports to keep; None for all.
      model_dir: the directory of the model, for `event_file_pattern`.
      event_file_pattern: the event files of earlier evaluations, such as
        "eval_continuous/*.tfevents.*", so that a program that is started again knows
        the best results; None for none.
      compare_fn: a function of the best results and of a candidate's, dicts of
        metrics, that returns whether the candidate is better; None to compare losses.
      default_output_alternative_key, strip_default_attrs: as in
        `make_export_strategy`.

    Returns:
      An ExportStrategy; exports are in directories named by the checkpoint.  It returns
      "" where it does not export, and raises a ValueError without a checkpoint's path
      or without results.

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """
    pattern = None
    if model_dir is not None and event_file_pattern is not None:
        pattern = os.path.join(os.fspath(model_dir), event_file_pattern)
    selector = BestModelSelector(pattern, compare_fn)

    def export_fn(
        estimator: Any,
        export_dir_base: PathLike,
        checkpoint_path: str,
        eval_result: Results | None = None,
    ) -> Any:
        if not checkpoint_path:
            checkpoint_path = latest_checkpoint(estimator.model_dir) or ""
        chosen, _ = selector.update(checkpoint_path, eval_result)
        if not chosen or eval_result is None:
            return ""
        name = os.path.basename(chosen)
        path = estimator.export_savedmodel(
            os.path.join(os.fspath(export_dir_base), name),
            serving_input_fn,
            default_output_alternative_key=default_output_alternative_key,
            assets_extra=None,
            as_text=False,
            checkpoint_path=chosen,
            strip_default_attrs=strip_default_attrs,
        )
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return path

    return ExportStrategy("best_model", export_fn)


def extend_export_strategy(
    base_export_strategy: ExportStrategy,
    post_export_fn: Callable[[str, str], str],
    post_export_name: str | None = None,
) -> ExportStrategy:
    """A strategy that changes the exports of another one.

    Args:
      base_export_strategy: the other one.
      post_export_fn: a function of the directory of an export and of a new directory
        that writes the changed export into a directory in the new one, and returns it.
      post_export_name: the name of the strategy; None for that of the other one.

    Returns:
      An ExportStrategy; it raises a ValueError if `post_export_fn` returns another
      directory.

    Example:
      >>> def freeze(path, folder):
      ...     target = os.path.join(folder, os.path.basename(path))
      ...     return shutil.copytree(path, target)
      >>> strategy = extend_export_strategy(strategy, freeze, "frozen")

    Source: contrib/learn/python/learn/utils/saved_model_export_utils.py.
    """

    def export_fn(
        estimator: Any, export_dir_base: PathLike, checkpoint_path: str | None = None
    ) -> str:
        folder, now = os.fspath(export_dir_base), int(time.time())
        before = os.path.join(folder, f"temp-base-export-{now}")
        after = os.path.join(folder, f"temp-post-export-{now}")
        for temporary in (before, after):
            file_system.makedirs(resolve(temporary))
        try:
            first: Any = base_export_strategy.export(estimator, before, checkpoint_path)
            path = os.fsdecode(first or "")
            if not path.startswith(before):
                raise RuntimeError("Failed to obtain base export directory")
            changed = os.fsdecode(post_export_fn(path, after))
            if not changed.startswith(after + os.sep):
                raise ValueError(
                    "post_export_fn must return a sub-directory of "
                    f"{after}; got {changed}"
                )
            target = os.path.join(folder, os.path.relpath(changed, after))
            file_system.rename(resolve(changed), resolve(target))
        finally:
            for temporary in (before, after):
                file_system.rmtree(resolve(temporary))
        get_logger().info("Extended export is in %s", target)
        return target

    return ExportStrategy(post_export_name or base_export_strategy.name, export_fn)
