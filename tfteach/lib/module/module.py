"""`tf.Module`: an object with variables, which finds them all.

Source: python/module/module.py (API and messages).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.scope import name_scope
from tfteach.framework.shallow_nest import flatten_with_tuple_paths_up_to
from tfteach.framework.trackable import INTERNAL_ATTRIBUTES
from tfteach.lib.files.trackable import AutoTrackable
from tfteach.variables.base import Variable

_HUMP = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")
_IDENTIFIER = re.compile(r"[a-zA-Z_]([a-zA-Z0-9_])*\Z")
_Path = tuple[Any, ...]


@export("Module")
class Module(AutoTrackable):
    """An object with variables and modules in its attributes, or in lists and dicts.

    Args:
      name: its name, a Python identifier; by default that of the class.

    Raises:
      ValueError: `name` is no identifier.

    Example:
      >>> class Dense(tf.Module):
      ...     def __init__(self):
      ...         super().__init__()
      ...         with self.name_scope:
      ...             self.w = tf.Variable(tf.ones([3, 2]), name="w")
      >>> [v.name for v in Dense().variables]
      ['dense/w:0']

    Source: python/module/module.py.
    """

    # Attributes in which nothing is looked for.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(INTERNAL_ATTRIBUTES)

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not valid_identifier(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid "
                "Python identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The name, without those of enclosing modules."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """A name scope, the same each time that it is entered."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, sorted by attribute; then those of the modules in it."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The `variables` that are trainable."""
        return tuple(self._flatten(predicate=_is_trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules in it, and those in these."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], Any] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
    ) -> Iterator[Any]:
        """The values in its attributes, sorted by attribute.

        Args:
          recursive: whether to go into the modules among them.
          predicate: which values to return; all if None.
          attribute_traversal_key: the key by which attributes are sorted.
          with_path: whether to return pairs of a path and a value; a value with several
            paths then occurs several times.
        """
        seen = None if with_path else {id(self)}
        chosen = (lambda _: True) if predicate is None else predicate
        return _flatten_module(
            self, recursive, chosen, attribute_traversal_key, with_path, (), seen
        )

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: the method runs in the module's name scope.

        Args:
          method: of a Module.

        Example:
          >>> class Doubled(tf.Module):
          ...     @tf.Module.with_name_scope
          ...     def __call__(self, x):
          ...         return tf.multiply(x, 2.0, name="twice")
          >>> Doubled()(tf.constant(1.0)).name
          'doubled/twice:0'
        """

        @functools.wraps(method)
        def in_scope(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return in_scope


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _is_trainable(value: Any) -> bool:
    return isinstance(value, Variable) and bool(getattr(value, "trainable", False))


def _is_module(value: Any) -> bool:
    return isinstance(value, Module)


def valid_identifier(name: str) -> bool:
    """Whether a name is an identifier of ASCII characters."""
    return _IDENTIFIER.match(name) is not None


def camel_to_snake(value: str) -> str:
    """The name of a class in lower case, such as "my_class" of "MyClass"."""
    return _HUMP.sub(r"_\1", value).lower()


def _flatten_module(
    module: Module,
    recursive: bool,
    predicate: Callable[[Any], Any],
    key: Callable[[str], Any] | None,
    with_path: bool,
    path: _Path,
    seen: set[int] | None,
) -> Iterator[Any]:
    """See `Module._flatten`; `seen` has the values found before, unless with paths."""
    attributes = vars(module)
    modules: list[tuple[_Path, Module]] = []
    for name in sorted(attributes, key=key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        for inner, value in _leaves(attributes[name]):
            if seen is not None:
                if id(value) in seen:
                    continue
                seen.add(id(value))
            where = (*path, name, *inner)
            if predicate(value):
                yield (where, value) if with_path else value
            if recursive and isinstance(value, Module):
                modules.append((where, value))
    for where, submodule in modules:
        yield from _flatten_module(
            submodule, recursive, predicate, key, with_path, where, seen
        )


def _leaves(value: Any) -> Sequence[tuple[_Path, Any]]:
    return flatten_with_tuple_paths_up_to(value, value)
