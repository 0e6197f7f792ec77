"""`tf.contrib.learn.ExportStrategy`: a named function that exports an estimator.

Source: contrib/learn/python/learn/export_strategy.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfteach.framework.export import export
from tfteach.framework.type_aliases import PathLike
from tfteach.lib.estimator.input_fn import argument_names


class _Fields(NamedTuple):
    name: Any
    export_fn: Any
    strip_default_attrs: Any


@export("contrib.learn.ExportStrategy")
class ExportStrategy(_Fields):
    """How a `tf.contrib.learn.Experiment` exports its estimator.

    Args:
      name: the name of the directory below "export".
      export_fn: a function of the estimator, the export directory and, as it likes,
        `checkpoint_path`, `eval_result` and `strip_default_attrs`.
      strip_default_attrs: passed to `export_fn`.

    Example:
      >>> def save(estimator, folder, eval_result):
      ...     print(folder, eval_result["loss"])
      >>> strategy = tf.contrib.learn.ExportStrategy("print", save)

    Source: contrib/learn/python/learn/export_strategy.py.
    """

    __slots__ = ()

    def __new__(
        cls,
        name: str,
        export_fn: Callable[..., Any],
        strip_default_attrs: bool | None = None,
    ) -> ExportStrategy:
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(
        self,
        estimator: object,
        export_path: PathLike | bytes,
        checkpoint_path: PathLike | None = None,
        eval_result: Mapping[str, Any] | None = None,
    ) -> object:
        """Call the function with those arguments that it accepts.

        Args:
          estimator: the estimator.
          export_path: the directory of this strategy's exports.
          checkpoint_path: the checkpoint to export; None for the newest.
          eval_result: the metrics of the evaluation before.

        Returns:
          What the function returns: the path of the export.

        Raises:
          ValueError: the function accepts `eval_result` without `checkpoint_path`, so
            that it could export another model than the one that was evaluated.
        """
        offered = {
            "checkpoint_path": checkpoint_path,
            "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }
        wanted = argument_names(self.export_fn)
        if "eval_result" in wanted and "checkpoint_path" not in wanted:
            raise ValueError(
                "An export_fn accepting eval_result must also accept checkpoint_path."
            )
        arguments = {key: value for key, value in offered.items() if key in wanted}
        found: object = self.export_fn(estimator, export_path, **arguments)
        return found
