"""`tf.contrib.eager.Network`: layers composed to one, as before `tf.keras.Model`.

Source: contrib/eager/python/network.py.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from tfteach.framework.deprecation import deprecated
from tfteach.framework.export import export
from tfteach.framework.type_aliases import Structure, TensorLike
from tfteach.lib.layers.base import Layer
from tfteach.lib.layers.layer_names import Counts, snake_case, unique_layer_name
from tfteach.variables.scope import VariableScope, get_variable_scope, variable_scope
from tfteach.variables.scope.get_variable import opened_scopes

# The network that a layer was added to first, before it was built.
_first_parents: weakref.WeakKeyDictionary[Layer, weakref.ref[Network]] = (
    weakref.WeakKeyDictionary()
)
_UNNAMED = (
    "The network does not yet have a final name, but a name was requested for it. "
    "Networks get a name when they are added to another Network via track_layer, or "
    "when they are first called/built."
)


def _parent_of(layer: Layer) -> Network | None:
    """The network that names a layer; None if there was none, or it is gone."""
    reference = _first_parents.get(layer)
    return None if reference is None else reference()


@export("contrib.eager.Network")
class Network(Layer):
    """A layer made of others: `__init__` passes them to `track_layer`, `call` calls.

    Variables are named by the network, the layer and the variable.  A network that is
    part of another has its name inside of that.

    Args:
      name: its name; by default that of the class, with a number if it is taken.

    Attributes:
      name: the name; not known before the network is called or part of another.
      layers: the layers, in the order of `track_layer`.
      trainable: True.

    Raises:
      ValueError: the name is no valid one.

    Example:
      >>> class Model(tf.contrib.eager.Network):
      ...     def __init__(self):
      ...         super().__init__()
      ...         self.hidden = self.track_layer(tf.layers.Dense(4))
      ...         self.logits = self.track_layer(tf.layers.Dense(2))
      ...     def call(self, x):
      ...         return self.logits(tf.nn.relu(self.hidden(x)))
      >>> model = Model()
      >>> y = model(tf.ones([1, 3]))
      >>> [v.name for v in model.variables][:2]
      ['model/dense/kernel:0', 'model/dense/bias:0']

    Source: contrib/eager/python/network.py.
    """

    @deprecated(None, "TensorFlow 2 has tf.keras.Model, which needs no track_layer.")
    def __init__(self, name: str | None = None) -> None:
        if isinstance(name, VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError("Forward slashes ('/') are not allowed in Network names.")
        super().__init__(name=name)
        self._layers: list[Layer] = []
        self._own_layers: dict[str, Layer] = {}  # those that this network names
        self._unscoped_layers: list[Layer] = []
        self._layer_counts: Counts = {}
        self._is_top_level = False  # once it is known
        self._outer_scope = get_variable_scope()
        self._opened_scopes = opened_scopes()

    def _set_name(self, name: str | None) -> None:
        self._name, self._base_name = name, None

    def _finalize_name(self, parent: Network | None) -> None:
        """Make up a name if there is none, now that it is known where it is unique."""
        if not self._name:
            counts, avoid = None, set(self._names_in_outer_scope())
            if parent is not None:
                counts, avoid = parent._layer_counts, set(parent._own_layers)
            self._base_name = snake_case(type(self).__name__)
            self._name = unique_layer_name(
                self._base_name, counts, avoid, self._outer_scope.name
            )
        if not self._is_top_level and _parent_of(self) is None:
            if parent is None:
                self._is_top_level = True
            else:
                _first_parents[self] = weakref.ref(parent)

    def _names_in_outer_scope(self) -> Iterable[str]:
        prefix = self._outer_scope.name + "/" if self._outer_scope.name else ""
        for name in self._opened_scopes:
            if name.startswith(prefix):
                yield name.removeprefix(prefix)

    # ---- variable scopes

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        parent = _parent_of(self)
        if parent is None:
            self._finalize_name(None)
        if scope is not None:
            raise ValueError("Networks may not be created with explicit scopes.")
        outer = self._outer_scope
        if parent is not None:
            parent._set_scope()
            assert parent._scope is not None
            outer = parent._scope
        with variable_scope(outer) as opened:
            self._check_is_new(f"{opened.name}/{self._name}" not in self._opened_scopes)
            with variable_scope(
                None, use_resource=True, default_name=self._name
            ) as scope:
                self._check_scope(scope.name, parent)
                self._scope = scope
        for layer in self._unscoped_layers:
            self._set_scope_of(layer)

    def _check_scope(self, scope_name: str, parent: Network | None) -> None:
        prefix, _, own = scope_name.rpartition("/")
        self._check_is_new(own == self._name)
        if parent is not None and prefix != parent.scope_name:
            raise ValueError(
                "Network variable names must match a nesting of sub-Network names. "
                f"Expected prefix '{parent.scope_name}' from parent network, but got "
                f"'{prefix}' when attempting to create a variable_scope for Network "
                f"'{self._name}'. Likely an explicit variable_scope was inserted into "
                "the nesting."
            )
        if parent is None:
            self._name = scope_name

    def _check_is_new(self, is_new: bool) -> None:
        if not is_new:
            raise ValueError(
                f"A Network named '{self._name}' already exists (or a variable_scope "
                "was created with this name). Names must be unique."
            )

    def _set_scope_of(self, layer: Layer) -> None:
        """Open the scope of a layer that is no network, inside that of its network."""
        if layer._scope is not None:
            return
        parent = _parent_of(layer)
        if parent is None:
            self._finalize_name(None)
            raise ValueError(
                f"The parent of a Layer added to Network {self.name} was garbage "
                "collected before the Layer was built. If this limitation bothers you "
                "please file a feature request."
            )
        parent._set_scope()
        with (
            variable_scope(parent._scope),
            variable_scope(None, default_name=layer.name) as scope,
        ):
            layer._scope = scope

    # ---- layers

    @property
    def name(self) -> str:  # type: ignore[override]
        if self._name is None:
            raise ValueError(_UNNAMED)
        return str(self._name)

    @property
    def layers(self) -> list[Layer]:
        return self._layers

    def track_layer(self, layer: Layer) -> Layer:
        """Add a layer, whose variables become the network's; returns it.

        Args:
          layer: a layer or a network.

        Raises:
          RuntimeError: `Network.__init__` was not called.
          TypeError: it is no layer.
          ValueError: another layer has the name.
        """
        if not hasattr(self, "_layers"):
            raise RuntimeError("Need to call Network.__init__ before adding layers")
        if not isinstance(layer, Layer):
            raise TypeError(
                f"Network.track_layer() passed type {type(layer)}, not a "
                "tf.layers.Layer"
            )
        if isinstance(layer, Network):
            layer._finalize_name(self)
        elif not layer.built:
            self._adopt(layer)
        if not layer.built and _parent_of(layer) is self:
            known = self._own_layers.get(layer.name)
            if known is layer:
                return layer
            if known is not None:
                raise ValueError(
                    f"Attempt to add two Layers with the name '{layer.name}' to the "
                    "same Network."
                )
            self._own_layers[layer.name] = layer
        self._layers.append(layer)
        return layer

    def _adopt(self, layer: Layer) -> None:
        """Name a layer within this network, if it is the first that it is part of."""
        if _parent_of(layer) is None:
            if layer._name != layer._base_name:  # nobody named it
                layer._base_name = snake_case(type(layer).__name__)
                layer._name = unique_layer_name(
                    layer._base_name, self._layer_counts, self._own_layers
                )
            _first_parents[layer] = weakref.ref(self)
        self._unscoped_layers.append(layer)

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """A layer by its name or its place in `layers`.

        Args:
          name: the name; of several layers that have it the first is returned.
          index: its place.

        Raises:
          ValueError: there is no such layer, or not one of both is given.
        """
        if index is not None:
            if name is not None:
                raise ValueError("Exactly one of 'index' or 'name' must be provided")
            if index >= len(self._layers):
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has "
                    f"{len(self._layers)} layers."
                )
            return self._layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self._layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    # ---- variables, losses and updates of the layers

    @property
    def weights(self) -> list[Any]:
        return [w for layer in self._layers for w in layer.weights]

    @property
    def trainable_weights(self) -> list[Any]:
        return [w for layer in self._layers for w in layer.trainable_weights]

    @property
    def non_trainable_weights(self) -> list[Any]:
        return [w for layer in self._layers for w in layer.non_trainable_weights]

    @property
    def losses(self) -> list[Any]:
        return [loss for layer in self._layers for loss in layer.losses]

    @property
    def updates(self) -> list[Any]:
        return [update for layer in self._layers for update in layer.updates]

    @property
    def trainable(self) -> bool:
        """Whether its variables are trained: always, layers decide for themselves."""
        return True

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value:
            raise AttributeError("cannot mark Network as not trainable")

    def add_variable(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not available: layers have variables.

        Raises:
          RuntimeError: always.
        """
        _refuse("add_variable")

    def add_loss(self, losses: Structure, inputs: TensorLike | None = None) -> NoReturn:
        """Not available: layers have losses.

        Raises:
          RuntimeError: always.
        """
        _refuse("add_loss is")

    def _gather_saveables_for_checkpoint(self) -> NoReturn:
        raise NotImplementedError(
            "tfe.Network does not support object-based checkpointing: use "
            "tfe.save_network_checkpoint, or save its layers."
        )


def _refuse(what: str) -> NoReturn:
    raise RuntimeError(
        f"{what} not supported in Network class yet. Please file an issue at "
        "https://github.com/tensorflow/tensorflow/issues/new if this is important to "
        "you"
    )


@export("contrib.eager.Sequential")
class Sequential(Network):
    """A network that calls layers and functions one after the other.

    Args:
      layers_funcs: the layers and functions of a Tensor.
      name: as for `Network`.

    Example:
      >>> net = tf.contrib.eager.Sequential([tf.layers.Dense(4), tf.nn.relu])
      >>> net(tf.ones([1, 3])).shape
      TensorShape([Dimension(1), Dimension(4)])

    Source: contrib/eager/python/network.py.
    """

    def __init__(
        self,
        layers_funcs: Iterable[Callable[..., Any]] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self._steps: list[tuple[Callable[..., Any], bool]] = []
        for layer in layers_funcs or ():
            self.add(layer)

    def add(self, layer_func: Callable[..., Any]) -> None:
        """Add a layer or a function at the end.

        Args:
          layer_func: it; it gets the argument `training`, if it has that.

        Raises:
          TypeError: it is neither.
        """
        called = layer_func
        if isinstance(layer_func, Layer):
            called = layer_func.call
            self.track_layer(layer_func)
        elif not callable(layer_func):
            raise TypeError(
                "Sequential.add() takes only tf.layers.Layer objects or callables; not "
                f"'{layer_func}' of type '{type(layer_func)}'."
            )
        takes_training = "training" in inspect.signature(called).parameters
        self._steps.append((layer_func, takes_training))

    def call(self, inputs: Structure, training: bool | None = None) -> Structure:
        """The output of the last layer.

        Args:
          inputs: of the first.
          training: passed to the layers that have such an argument, unless None.
        """
        for step, takes_training in self._steps:
            passes = takes_training and training is not None
            inputs = step(inputs, training) if passes else step(inputs)
        return inputs
