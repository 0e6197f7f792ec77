"""`InputLayer`: an `input_layer` that reuses its variables.

Source: python/feature_column/feature_column.py.
"""

from __future__ import annotations

import functools
from typing import Any

from tfteach.lib.feature_column.base_column import Columns
from tfteach.lib.feature_column.input_layer import dense_columns_of, input_values
from tfteach.variables.scope.template import Template


class InputLayer(Template):
    """The values of dense columns, side by side; see `tf.feature_column.input_layer`.

    Called with a dictionary of features, it returns a float Tensor [batch, values of
    all columns].  Each call uses the variables that the first one created.

    Args:
      feature_columns: dense columns; their order does not matter.
      weight_collections: further collections that variables are added to.
      trainable: whether variables are added to `tf.GraphKeys.TRAINABLE_VARIABLES`.
      cols_to_vars: a dictionary that receives each column's variables.
      name: the name of its scopes.
      create_scope_now: whether the variable scope is that of the constructor, or of
        the first call.

    Source: python/feature_column/feature_column.py.
    """

    def __init__(
        self,
        feature_columns: Columns,
        weight_collections: list[str] | None = None,
        trainable: bool = True,
        cols_to_vars: dict[Any, Any] | None = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ) -> None:
        values_of = functools.partial(
            input_values,
            columns=dense_columns_of(feature_columns),
            weight_collections=weight_collections,
            trainable=trainable,
            cols_to_vars=cols_to_vars,
            keeps_scope_names=True,
        )
        super().__init__(name, values_of, create_scope_now)
