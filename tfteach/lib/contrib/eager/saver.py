"""`tf.contrib.eager.Saver`: variables of eager programs in checkpoints, by name.

Source: contrib/eager/python/saver.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.framework.errors import NotFoundError
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.type_aliases import PathLike, SaveableList, TensorLike
from tfteach.lib.files.checkpoint_reader import load_checkpoint
from tfteach.lib.files.saver import Saver as GraphSaver
from tfteach.lib.training.optimizer import Optimizer
from tfteach.variables.eager import on_create


@export("contrib.eager.restore_variables_on_create")
@contextmanager
def restore_variables_on_create(
    save_path: PathLike | None, map_func: Callable[[str], str] | None = None
) -> Iterator[None]:
    """A block whose variables begin with their values in a checkpoint, by name.

    Args:
      save_path: the checkpoint; None for no effect.
      map_func: from the name of a variable to its name in the checkpoint.

    Yields:
      Nothing.

    Raises:
      ValueError: `map_func` is not callable, or in a graph.
      NotFoundError: (when a variable is made) the checkpoint lacks it.

    Example:
      >>> with tf.contrib.eager.restore_variables_on_create("logs/model-7"):
      ...     w = tf.get_variable("w", [2])

    Source: contrib/eager/python/saver.py.
    """
    if not get_default_graph().is_eager:
        raise ValueError(
            "Currently, restore_variables_on_create can only be used with eager "
            "execution enabled."
        )
    if not save_path:
        yield
        return
    if map_func is not None and not callable(map_func):
        raise ValueError("map_func must be callable.")
    reader: Any = load_checkpoint(save_path)
    known = reader.get_variable_to_shape_map()
    restored: set[str] = set()

    def restore(variable: Any) -> None:
        name = variable._shared_name
        name = name if map_func is None else map_func(name)
        if name not in known:
            raise NotFoundError(None, None, f"{name} not found in checkpoint")
        if name not in restored:
            restored.add(name)
            variable.assign(reader.get_tensor(name))

    on_create.append(restore)
    try:
        yield
    finally:
        on_create.remove(restore)


@export("contrib.eager.Saver")
class Saver:
    """Writes variables to checkpoints and reads them back, by their names.

    Args:
      var_list: the variables: a list, or a dict from names in the checkpoint.

    Raises:
      RuntimeError: in a graph.

    Example:
      >>> tf.enable_eager_execution()
      >>> w = tf.contrib.eager.Variable(1.0, name="w")
      >>> path = tf.contrib.eager.Saver([w]).save("model")

    Source: contrib/eager/python/saver.py.
    """

    def __init__(self, var_list: SaveableList) -> None:
        self._saver = GraphSaver(var_list)

    def save(
        self, file_prefix: PathLike, global_step: TensorLike | None = None
    ) -> str | None:
        """Write a checkpoint.

        Args:
          file_prefix: its path.
          global_step: a number to append to it.

        Returns:
          Its path, as `restore` accepts it.
        """
        nobody: Any = None
        return self._saver.save(
            nobody, file_prefix, write_meta_graph=False, global_step=global_step
        )

    def restore(self, file_prefix: PathLike) -> None:
        """Set the variables to their values in a checkpoint.

        Args:
          file_prefix: the path that `save` returned.

        Raises:
          NotFoundError: the checkpoint lacks a variable.
        """
        nobody: Any = None
        self._saver.restore(nobody, file_prefix)


@export("contrib.eager.get_optimizer_variables")
def get_optimizer_variables(optimizer: Optimizer) -> list[Any]:
    """The variables that an optimizer has made; `optimizer.variables()`.

    Args:
      optimizer: the optimizer.

    Source: contrib/eager/python/saver.py.
    """
    return optimizer.variables()
