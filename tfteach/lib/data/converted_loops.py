"""`for` loops over datasets and their iterators in code that AutoGraph converted.

A dataset is reduced: the variables of the loop are the state. With a `break`, a scan
computes the states, of which as many are taken as the loop has iterations.

Source: python/autograph/operators/control_flow.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfteach.control.branch import cond
from tfteach.framework.operation import Tensor
from tfteach.lib.autograph.operators.checks import Names, check_loop_variables
from tfteach.lib.autograph.operators.conditionals import if_stmt
from tfteach.lib.autograph.operators.for_loops import ForLoop, Variables
from tfteach.lib.autograph.operators.while_loops import tf_while
from tfteach.lib.data.experimental.elements import scan, take_while
from tfteach.lib.data.optional import get_next_as_optional
from tfteach.ops.core.constant import constant

if TYPE_CHECKING:
    from tfteach.lib.data.dataset import Dataset
    from tfteach.lib.data.iterator import IteratorBase


def over_dataset(dataset: Dataset, loop: ForLoop) -> Variables:
    """The variables after a loop over the elements of a dataset."""
    if loop.extra_test is None:
        return _reduced(dataset, loop)
    return _reduced_while(dataset, loop)


def _reduced(dataset: Dataset, loop: ForLoop) -> Variables:
    # A state is not empty: a number stands for no variables.
    state = loop.get_state()
    start = loop.init_vars or (constant(0),)
    start_state = state or (constant(0),)
    names = None
    if loop.variable_names is not None:
        names = [*(loop.variable_names or (None,)), *(loop.state_names or (None,))]

    def step(before: Any, element: Any) -> Any:
        variables, other = before
        if state:
            loop.set_state(other)
        if loop.init_vars:
            new = loop.body(element, *variables)
        else:
            loop.body(element)
            new = variables
        new_state = loop.get_state() if state else other
        _check(variables + other, new + new_state, names)
        return new, new_state

    variables, state_after = dataset.reduce((start, start_state), step)
    if state:
        loop.set_state(state_after)
    return variables if loop.init_vars else ()


def _reduced_while(dataset: Dataset, loop: ForLoop) -> Variables:
    names = None
    if loop.variable_names is not None:
        names = [*loop.variable_names, *loop.state_names]
    test = loop.extra_test
    assert test is not None  # which reads a variable

    def step(before: Any, element: Any) -> Any:
        variables, state = before

        def iterate() -> Any:
            loop.set_state(state)
            new = loop.body(element, *variables)
            new_state = loop.get_state()
            _check(variables + state, new + new_state, names)
            return new, new_state

        goes_on = test(*variables)
        after = cond(goes_on, iterate, lambda: (variables, state))
        return after, (*after, goes_on)

    start = loop.init_vars, loop.get_state()
    states = dataset.apply(scan(start, step)).apply(
        take_while(lambda variables, state, goes_on: goes_on)
    )
    variables, state = states.reduce(start, lambda before, after: (after[0], after[1]))
    loop.set_state(state)
    found: Variables = variables
    return found


def _check(before: Variables, after: Variables, names: Names) -> None:
    check_loop_variables(before, after, names, shapes=False)


def over_iterator(iterator: IteratorBase, loop: ForLoop) -> Variables:
    """The variables after a loop over what is left of an iterator."""
    # A branch returns something.
    dummy = () if loop.init_vars else (constant(()),)

    def body(has_next: Tensor, variables: Variables) -> Variables:
        optional = get_next_as_optional(iterator)
        has_next = optional.has_value()

        def iterate() -> Variables:
            found = loop.body(optional.get_value(), *variables)
            new = () if found is None else found
            check_loop_variables(variables, new, loop.variable_names)
            return dummy + new

        after = if_stmt(
            has_next,
            iterate,
            lambda: dummy + variables,
            loop.get_state,
            loop.set_state,
        )
        return has_next, after[len(dummy) :]

    def test(has_next: Tensor, variables: Variables) -> Any:
        return loop.goes_on(has_next, variables)

    start = True, loop.init_vars
    _, found = tf_while(test, body, loop.get_state, loop.set_state, start, None)
    variables: Variables = found
    return variables
