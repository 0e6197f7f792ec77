"""Passes that make a step smaller; each is `step -> None` and logs what it changed.

`optimize(step)` runs them in order.  They preserve observable behaviour: fetched
values, effects and errors of stateful ops, and the order of reads and writes.
"""

from __future__ import annotations

from tfteach.engine.optimize.fold_constants import fold_constants
from tfteach.engine.optimize.merge_duplicates import merge_duplicates
from tfteach.engine.optimize.remove_dead import remove_dead
from tfteach.engine.optimize.remove_identities import remove_identities
from tfteach.engine.plan.step import Step


def optimize(
    step: Step, fold: bool = True, merge: bool = True, calls_python: bool = True
) -> None:
    """Fold constants, merge duplicates, and drop nodes that are no longer needed.

    Args:
      step: placed.
      fold, merge: which passes to run.
      calls_python: whether folding may call the program's own stateless functions.
    """
    # With branches, an Identity determines in which one its users run.
    is_plain = not step.has_control_flow
    step.is_optimized = True
    if is_plain:
        remove_identities(step)
    if fold:
        fold_constants(step, calls_python)
    if merge:
        merge_duplicates(step)
    if is_plain:
        remove_dead(step)
