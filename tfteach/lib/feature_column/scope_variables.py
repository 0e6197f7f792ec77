"""The variables of columns in functions: those of the current variable scope.

Source: python/feature_column/feature_column_v2.py.
"""

from __future__ import annotations

from typing import Any

from tfteach.variables.scope import get_variable


class ScopeVariables:
    """The state manager of functions: variables of the current variable scope.

    Args:
      collections: the collections that variables are added to; None: the usual ones.
      trainable: whether they may be trained.
    """

    def __init__(self, collections: list[str] | None, trainable: bool) -> None:
        self.collections = collections
        self.trainable = trainable
        self._created: Any = None

    def create_variable(
        self, feature_column: Any, name: str, shape: Any, dtype: Any = None,
        trainable: bool = True, use_resource: bool = True, initializer: Any = None,
    ) -> Any:  # fmt: skip
        """A variable; the scope decides whether it is a resource."""
        self._created = get_variable(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self.trainable and trainable,
            collections=self.collections,
        )
        return self._created

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable of a column, which is created (or reused) by this."""
        feature_column.create_state(self)
        return self._created
