"""The inner modules of AutoGraph, and their names here.

Source: python/autograph/{core,impl,lang,operators,utils}/*.py (names).
"""

from __future__ import annotations

_ROWS = """
core.ag_ctx: framework.autograph_status
core.converter: options
core.function_wrappers: function_scope
impl.api: calls api errors
impl.conversion: conversion untouched
lang.directives: directives
lang.special_functions: operators.lists
operators: operators.lists operators.undefined
operators.control_flow: operators.conditionals operators.for_loops operators.while_loops
operators.data_structures: operators.lists
operators.exceptions: operators.assertions
operators.logical: operators.logical
operators.py_builtins: operators.py_builtins
operators.slices: operators.slices
operators.special_values: operators.undefined
utils.ag_logging: verbosity
utils.tensors: operators.tensors
"""


def _module(name: str) -> str:
    room = "tfteach." if name.startswith("framework.") else "tfteach.lib.autograph."
    return room + name


# Inner path below `tensorflow.python` -> public packages, then our modules.
ROWS = {
    "autograph": (
        "contrib.autograph",
        "autograph",
        "autograph.experimental",
        _module("calls"),
    ),
    **{
        f"autograph.{path}": tuple(map(_module, modules.split()))
        for path, _, modules in (
            line.partition(": ") for line in _ROWS.strip().splitlines()
        )
    },
}
ALIASES = {
    "autograph.core.converter.STANDARD_OPTIONS": "STANDARD",
    "autograph.impl.conversion.is_whitelisted_for_graph": "is_untouched",
}
