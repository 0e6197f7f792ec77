"""Checkpoints of networks: variables by their names inside of the network.

Source: contrib/eager/python/network.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from tfteach.framework.defaults import get_default_session
from tfteach.framework.deprecation import deprecated
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.type_aliases import PathLike, TensorLike
from tfteach.lib.contrib.eager.network import Network
from tfteach.lib.files.checkpoint_reader import load_checkpoint
from tfteach.lib.files.saver import Saver
from tfteach.lib.layers.base import Layer
from tfteach.lib.training.global_step import get_global_step

MapFunction = Callable[[str], str]


class _Names:
    """The names of variables in a checkpoint.

    Args:
      network: the network that is saved or restored.
      map_func: from the names of variables; None to leave out the network's scope.

    Attributes:
      variables: the variables that exist, by their names in the checkpoint.
    """

    def __init__(self, network: Network, map_func: MapFunction | None) -> None:
        self._name, self._scope_name = network.name, network.scope_name
        self._map_func = map_func
        self.variables: dict[str, Any] = {}

    def of(self, name: str) -> str:
        """The name in the checkpoint of a variable of this name."""
        if self._map_func is None:
            return name.removeprefix(self._scope_name + "/")
        return self._map_func(name)

    def add(self, variable: Any, function: str) -> None:
        """Note a variable.

        Args:
          variable: the variable.
          function: which function the user called, for messages.

        Raises:
          ValueError: another variable has the name.
        """
        name = self.of(variable._shared_name)
        other = self.variables.setdefault(name, variable)
        if other is not variable:
            names = other._shared_name, variable._shared_name
            raise ValueError(self._conflict(name, *names, function))

    def _conflict(self, name: str, first: str, second: str, function: str) -> str:
        if self._map_func is None:
            return (
                "The default checkpoint variable name mapping strategy for Network "
                f"'{self._name}' resulted in a naming conflict. We attempted to strip "
                f"off the variable prefix for the Network ('{self._scope_name}'), but "
                f"this resulted in two variables named '{name}' (originally '{first}' "
                f"and '{second}'): layers of another network are shared. Pass map_func="
                "lambda n: n to save and restore variables by their full names."
            )
        return (
            f"The map_func passed to {function} for the Network '{self._name}' "
            f"resulted in two variables named '{name}' ('{first}' and '{second}'). It "
            "maps the full names of variables to their names in the checkpoint; strip "
            f"less from them. Variables of this Network begin with '{self._scope_name}'"
            ", those of shared layers with the name of another."
        )


@export("contrib.eager.save_network_checkpoint")
@deprecated(None, "TensorFlow 2 has tf.keras.Model, and its save_weights.")
def save_network_checkpoint(
    network: Network,
    save_path: PathLike,
    global_step: TensorLike | None = None,
    map_func: MapFunction | None = None,
) -> str | None:
    """Write the variables of a network to a checkpoint.

    Args:
      network: the network, which was called before.
      save_path: the checkpoint's path, or a folder, in which it has the network's name.
      global_step: a number to append to it; by default the global step, if there is
        one.
      map_func: from the full names of variables, such as "net/dense/kernel", to those
        in the checkpoint; by default the network's own name is left out.

    Returns:
      Its path, as `restore_network_checkpoint` accepts it.

    Raises:
      ValueError: there are no variables yet, or two of the same name.

    Source: contrib/eager/python/network.py.
    """
    if not network.built:
        raise ValueError(
            "Attempt to save the Network before it was first called. This means "
            "variables have not yet been created, so there is nothing to save."
        )
    network._set_scope()
    names = _Names(network, map_func)
    for variable in network.variables:
        names.add(variable, "save_network_checkpoint")
    return Saver(names.variables).save(
        _session(),
        _file_of(network, save_path),
        write_meta_graph=False,
        global_step=get_global_step() if global_step is None else global_step,
    )


@export("contrib.eager.restore_network_checkpoint")
@deprecated(None, "TensorFlow 2 has tf.keras.Model, and its load_weights.")
def restore_network_checkpoint(
    network: Network, save_path: PathLike, map_func: MapFunction | None = None
) -> None:
    """Set the variables of a network to their values in a checkpoint.

    Variables that layers make later begin with their values in it.  Of several
    checkpoints the one that was restored last counts.

    Args:
      network: the network.
      save_path: what `save_network_checkpoint` returned, or its folder.
      map_func: as there.

    Raises:
      ValueError: two variables have the same name in the checkpoint.
      NotFoundError: the checkpoint lacks a variable.

    Source: contrib/eager/python/network.py.
    """
    network._finalize_name(None)
    network._set_scope()
    path = _file_of(network, save_path)
    names = _Names(network, map_func)
    for variable in network.variables:
        names.add(variable, "restore_network_checkpoint")
    if names.variables:
        Saver(names.variables).restore(_session(), path)
    reader: Any = load_checkpoint(path)
    awaited = set(reader.get_variable_to_shape_map()) - set(names.variables)
    if awaited:
        values = {name: reader.get_tensor(name) for name in awaited}
        _await(network, _Awaited(network, map_func, values))


def _session() -> Any:
    return None if get_default_graph().is_eager else get_default_session()


def _file_of(network: Network, path: PathLike) -> str:
    if not os.path.isdir(path):
        return str(path)
    return os.path.join(path, network.name.replace("/", "_"))


# ---- variables that are made later


class _Awaited:
    """A checkpoint with values of variables that a network does not have yet."""

    def __init__(
        self, network: Network, map_func: MapFunction | None, values: dict[str, Any]
    ) -> None:
        self._names = _Names(network, map_func)
        self._values, self._session = values, _session()

    def has(self, name: str) -> bool:
        """Whether the checkpoint has, or had, the value of a variable of this name."""
        return self._names.of(name) in self._values

    def take(self, name: str) -> Any:
        """The value; None if another variable was made with it."""
        key = self._names.of(name)
        value, self._values[key] = self._values[key], None
        return value

    def note(self, variable: Any, is_new: bool) -> None:
        """Initialize a variable that was made with the value of its name."""
        if is_new and self._session is not None:
            self._session.run(variable.initializer)
        self._names.add(variable, "restore_network_checkpoint")


_awaited: WeakKeyDictionary[Layer, list[_Awaited]] = WeakKeyDictionary()


def _await(layer: Layer, restoration: _Awaited) -> None:
    """Let the variables of a layer, and of its layers, begin with restored values."""
    if isinstance(layer, Network):
        layer._set_scope()
    if layer not in _awaited:
        _awaited[layer] = []
    assert layer._scope is not None
    layer._scope.set_custom_getter(_getter_of(_awaited[layer]))
    _awaited[layer].append(restoration)
    if isinstance(layer, Network):
        for inner in layer.layers:
            if not isinstance(inner, Network):
                layer._set_scope_of(inner)
            _await(inner, restoration)


def _getter_of(restorations: list[_Awaited]) -> Callable[..., Any]:
    def get(
        getter: Callable[..., Any],
        name: str,
        shape: Any = None,
        initializer: Any = None,
        **kwargs: Any,
    ) -> Any:
        newest_first = reversed(restorations)
        found = next((r for r in newest_first if r.has(name)), None)
        value = None if found is None else found.take(name)
        if value is not None:
            shape, initializer = None, value
        variable = getter(name, shape=shape, initializer=initializer, **kwargs)
        if found is not None:
            found.note(variable, is_new=value is not None)
        return variable

    return get
