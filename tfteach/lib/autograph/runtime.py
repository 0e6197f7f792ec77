"""`ag__`: the operators that converted functions use.

Source: python/autograph/operators/__init__.py (names).
"""

from __future__ import annotations

import functools
from typing import Any

from tfteach.lib.autograph.function_scope import FunctionScope, with_function_scope
from tfteach.lib.autograph.operators import lists, logical, undefined
from tfteach.lib.autograph.operators.assertions import assert_stmt
from tfteach.lib.autograph.operators.conditionals import if_stmt
from tfteach.lib.autograph.operators.for_loops import for_stmt
from tfteach.lib.autograph.operators.slices import GetItemOpts, get_item, set_item
from tfteach.lib.autograph.operators.while_loops import while_stmt
from tfteach.lib.autograph.options import ConversionOptions


class Operators:
    """What the name `ag__` in a converted function stands for.

    Args:
      options: how the function was converted.
      call: calls a function with (function, options, args, kwargs).
    """

    # Statements and expressions.
    if_stmt = staticmethod(if_stmt)
    while_stmt = staticmethod(while_stmt)
    for_stmt = staticmethod(for_stmt)
    assert_stmt = staticmethod(assert_stmt)
    and_ = staticmethod(logical.and_)
    or_ = staticmethod(logical.or_)
    not_ = staticmethod(logical.not_)
    eq = staticmethod(logical.eq)
    not_eq = staticmethod(logical.not_eq)
    # Variables and results.
    Undefined = undefined.Undefined
    UndefinedReturnValue = undefined.UndefinedReturnValue
    if_defined = staticmethod(undefined.if_defined)
    retval = staticmethod(undefined.retval)
    # Lists.
    new_list = staticmethod(lists.new_list)
    list_append = staticmethod(lists.list_append)
    list_pop = staticmethod(lists.list_pop)
    list_stack = staticmethod(lists.list_stack)
    ListPopOpts = lists.ListPopOpts
    ListStackOpts = lists.ListStackOpts
    get_item = staticmethod(get_item)
    set_item = staticmethod(set_item)
    GetItemOpts = GetItemOpts
    # Functions.
    FunctionScope = FunctionScope
    with_function_scope = staticmethod(with_function_scope)

    def __init__(self, options: ConversionOptions, call: Any) -> None:
        self.options = options
        self._call = call
        self._call_options = options.call_options()

    def converted_call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The result of a function, which is converted if that is possible."""
        return self._call(function, self._call_options, args, kwargs)


operators_for = functools.lru_cache(maxsize=64)(Operators)
