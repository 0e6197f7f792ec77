"""What a conversion does beyond statements, loops and calls.

Source: python/autograph/core/converter.py (API).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple

from tfteach.framework.export import export


@export("autograph.experimental.Feature", "contrib.autograph.Feature")
class Feature(enum.Enum):
    """Parts of AutoGraph that are off unless a program asks for them.

    Attributes:
      ALL: all of them.
      AUTO_CONTROL_DEPS: ops with effects run in the order of the code, as they always
        do in a `tf.function`.
      ASSERT_STATEMENTS: `assert` of a Tensor becomes `tf.Assert`.
      BUILTIN_FUNCTIONS: `print` of Tensors prints their values.
      EQUALITY_OPERATORS: `==` and `!=` compare the values of Tensors.
      LISTS: list literals, `append`, `pop` and indexing become ops on tensor lists.
      NAME_SCOPES: the ops of a function are in a name scope of its name.

    Example:
      >>> @tf.function(
      ...     experimental_autograph_options=tf.autograph.experimental.Feature.LISTS
      ... )
      ... def f(x):
      ...     return x

    Source: python/autograph/core/converter.py.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All members."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Feature | Iterable[Feature]) -> tuple[Feature, ...]:
        """All members but ALL and some others."""
        left_out = {exclude} if isinstance(exclude, Feature) else {*exclude}
        return tuple(f for f in cls if f not in left_out and f is not cls.ALL)


Features = Feature | Iterable[Feature] | None


class _Options(NamedTuple):
    recursive: bool
    user_requested: bool
    internal_convert_user_code: bool
    optional_features: frozenset[Feature]


@export("contrib.autograph.ConversionOptions")
class ConversionOptions(_Options):
    """How a function is converted.

    Args:
      recursive: whether the functions that it calls are converted, too.
      user_requested: whether the program asked for it: then also functions of libraries
        that are otherwise never converted.
      internal_convert_user_code: whether functions are converted at all, not just the
        calls of built-in ones.
      optional_features: a Feature, or several; None for none.
    """

    __slots__ = ()

    def __new__(
        cls,
        recursive: bool = False,
        user_requested: bool = False,
        internal_convert_user_code: bool = True,
        optional_features: Features = Feature.ALL,
    ) -> ConversionOptions:
        if isinstance(optional_features, Feature):
            optional_features = (optional_features,)
        features = frozenset(optional_features or ())
        return super().__new__(
            cls, recursive, user_requested, internal_convert_user_code, features
        )

    def uses(self, feature: Feature) -> bool:
        """Whether a feature is on."""
        return not self.optional_features.isdisjoint({feature, Feature.ALL})

    def call_options(self) -> ConversionOptions:
        """The options for the functions that a converted function calls."""
        return ConversionOptions(
            self.recursive, False, self.recursive, self.optional_features
        )


STANDARD = ConversionOptions(recursive=True, optional_features=None)
