"""Views of a run that also show it unfolded: nothing folded, merged or left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import traitlets

from tfteach.explain.runs.folding import HOW, Folded

Run = TypeVar("Run")

SHOW = "Show unfolded"
RUN_AGAIN = "Run again, unfolded"
BACK = "Show as the session runs it"
BACK_AGAIN = "Run again, as the session does"


class Unfoldable(traitlets.HasTraits):
    """The traits of the line above a run that says what was folded.

    A click in the page changes `unfolded`; the kernel answers with another `_folded`.
    The page enables its button once the kernel has returned the number that it sent:
    in a page without a kernel a click would do nothing. (A saved page returns it if it
    has the answer.)

    Attributes:
      unfolded: True to show the run without the optimizer; may be assigned.
    """

    unfolded = traitlets.Bool(False).tag(sync=True)
    _folded: Any = traitlets.Dict().tag(sync=True)
    _fates: Any = traitlets.Dict().tag(sync=True)
    _asked = traitlets.Int(0).tag(sync=True)
    _heard = traitlets.Int(0).tag(sync=True)

    @traitlets.observe("_asked")
    def _answer(self, change: Any) -> None:
        self._heard = change["new"]


def notice_of(
    folded: Folded,
    unfolded: bool,
    buttons: tuple[str, str] = (SHOW, BACK),
    about: str = "",
) -> dict[str, Any]:
    """The line above a run, as a value of `_folded`.

    Args:
      folded: what the session leaves out of the run.
      unfolded: True if the view shows the run unfolded.
      buttons: the words on the button in a folded and in an unfolded view; "" for none.
      about: what a click does, beside the button.
    """
    if not folded.is_notable:
        return {}
    button = buttons[unfolded]
    text = folded.sentence(unfolded)
    return {
        "text": text.removesuffix(HOW).strip() if button else text,
        "button": button,
        "about": about if button else "",
        "unfolded": unfolded,
    }


def fates_of(folded: Folded, unfolded: bool) -> dict[str, list[str]]:
    """Op name -> (what becomes of it, reason), for a view that marks ops."""
    if unfolded or not folded.is_notable:
        return {}
    found = {name: ["left out", why] for name, why in folded.dropped.items()}
    found |= {name: ["merged", why] for name, why in folded.merged.items()}
    constants = folded.constants.items()
    return found | {name: ["folded", why or "a constant"] for name, why in constants}


class BothWays(Generic[Run]):
    """A recorded run, and the same run unfolded, once someone asks for it.

    Args:
      run: the first of them.
      again: makes the run again, unfolded or not; None if nobody can.
      of: what the session leaves out of a run, and whether that run was unfolded.
      times: how often `again` runs.
    """

    def __init__(
        self,
        run: Run,
        again: Callable[[bool], Run] | None,
        of: Callable[[Run], tuple[Folded, bool]],
        times: int = 1,
    ) -> None:
        self._again = again
        self._times = times
        self._of = of
        _, self.unfolded = of(run)
        self._made = {self.unfolded: run}

    @property
    def run(self) -> Run:
        """The run that is shown."""
        return self._made[self.unfolded]

    def turn(self, unfolded: bool) -> None:
        """Show the run this way, and make it if there is none yet.

        Raises:
          Exception: as `again`, such as RuntimeError for a closed session.
        """
        if unfolded not in self._made:
            if self._again is None:
                raise ValueError(f"This view cannot run it again. {HOW}")
            self._made[unfolded] = self._again(unfolded)
        self.unfolded = unfolded

    def each(self) -> Iterator[bool]:
        """Show each run that was made, in turn; afterwards that of before."""
        shown = self.unfolded
        try:
            for unfolded in list(self._made):
                self.unfolded = unfolded
                yield unfolded
        finally:
            self.unfolded = shown

    def notice(self, problem: str = "") -> dict[str, Any]:
        """The line above the run.

        Args:
          problem: why it could not be made the other way.
        """
        folded, unfolded = self._of(self.run)
        is_made = (not unfolded) in self._made
        if self._again is None and not is_made:
            return notice_of(folded, unfolded, ("", ""))
        if is_made:
            return notice_of(folded, unfolded)
        times = "once more" if self._times == 1 else f"{self._times} times more"
        effects = f": {folded.again}" if folded.again else ""
        about = f"This runs it {times}{effects}."
        found = notice_of(folded, unfolded, (RUN_AGAIN, BACK_AGAIN), about)
        return {**found, "about": problem} if found and problem else found


def unknown_folding() -> dict[str, Any]:
    """The line above a run of which only RunMetadata is known, and that has no ops."""
    return {
        "text": f"Constants are computed once, when the run is compiled. {HOW}",
        "button": "",
        "about": "",
        "unfolded": False,
    }
