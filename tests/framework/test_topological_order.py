"""The topological sort: priorities, ties, cycles and depth."""

from __future__ import annotations

import pytest

from tfteach.framework.topological_order import CycleError, topological_order


def test_the_given_order_is_kept_where_it_is_legal() -> None:
    sources = {"a": "d", "b": "", "c": "b", "d": "", "e": "ac"}
    assert "".join(topological_order("abcde", sources.__getitem__)) == "bcdae"
    assert "".join(topological_order("edcba", sources.__getitem__)) == "dbcae"


def test_the_least_key_comes_first_and_ties_keep_the_given_order() -> None:
    sources = {"a": "", "b": "", "c": "", "d": "a"}
    late = {"a": 1, "b": 2, "c": 1, "d": 0}
    order = topological_order("abcd", sources.__getitem__, late.__getitem__)
    assert "".join(order) == "adcb"


def test_items_need_not_be_comparable() -> None:
    items = [object() for _ in range(5)]
    assert topological_order(items, lambda _: (), lambda _: 0) == items


def test_sources_that_are_not_sorted_are_ignored() -> None:
    assert topological_order([2, 1], lambda i: [i - 1, i - 1]) == [1, 2]


def test_a_cycle_names_what_cannot_be_ordered() -> None:
    sources = {"a": "", "b": "ac", "c": "b", "d": "c"}
    with pytest.raises(CycleError) as cycle:
        topological_order("dcba", sources.__getitem__)
    assert cycle.value.items == ["d", "c", "b"]


def test_long_chains_are_no_recursion() -> None:
    count = 50_000
    order = topological_order(reversed(range(count)), lambda i: [i - 1])
    assert order == list(range(count))
