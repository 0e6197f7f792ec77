"""Completion of a magic's arguments: its options, ops, graphs and sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from IPython.core.magic import Magics

from tfteach.engine.session.base_session import BaseSession
from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.jupyter.magics.names import graphs_at_hand, graphs_in, sessions_in

Words = Callable[[dict[str, Any], list[str]], list[str]]


def op_words(user_ns: dict[str, Any], line: list[str]) -> list[str]:
    """Names of ops, and Python names of tensors, in the graphs that may be meant."""
    session = None
    if "--session" in line[:-1]:
        session = user_ns.get(line[line.index("--session") + 1])
    meant = isinstance(session, BaseSession)
    graphs = [session.graph] if meant else graphs_at_hand(user_ns)  # type: ignore[union-attr]
    found = [op.name for graph in graphs for op in graph.get_operations()]
    return found + [name for name, _ in tensors_in(user_ns, graphs)]


def tensors_in(
    user_ns: dict[str, Any], graphs: list[Graph]
) -> list[tuple[str, Operation | Tensor]]:
    """The user's names of operations, tensors and variables of these graphs."""
    found = []
    for name, value in list(user_ns.items()):
        if name.startswith("_"):
            continue
        if hasattr(value, "_as_graph_element"):  # a variable
            value = value._as_graph_element()
        is_of_graph = isinstance(value, Operation | Tensor)
        # A tensor that has a value is in none.
        if is_of_graph and getattr(value, "graph", None) in graphs:
            found.append((name, value))
    return found


def graph_words(user_ns: dict[str, Any], line: list[str]) -> list[str]:
    """The user's names of graphs, GraphDefs and sessions."""
    return graphs_in(user_ns)


def session_words(user_ns: dict[str, Any], line: list[str]) -> list[str]:
    """The user's names of open sessions."""
    return list(sessions_in(user_ns))


def no_words(user_ns: dict[str, Any], line: list[str]) -> list[str]:
    """Nothing: the magic takes options only, or names of files."""
    return []


def _dict_words(user_ns: dict[str, Any], line: list[str]) -> list[str]:
    return [n for n, v in user_ns.items() if type(v) is dict and not n.startswith("_")]


_BEHIND: dict[str, Words] = {
    "--session": session_words,
    "--feed-dict": _dict_words,
    "--fetch": op_words,
    "--feed": op_words,
    "--break": op_words,
}
_SEVERAL = ("--fetch", "--feed", "--break")  # take all words up to the next option


def complete(shell: Any, magic: Any, words: Words = op_words) -> None:
    """Complete the arguments of a line magic and of the cell magic of the same name.

    Args:
      shell: IPython's shell.
      magic: the method, with its `magic_arguments`.
      words: a function of the user's names and the words of the line, which returns the
        words that may follow.
    """
    options = [
        option
        for action in magic.parser._actions
        for option in action.option_strings
        if option.startswith("--")
    ]

    def found(_: Any, event: Any) -> list[str]:
        if event.symbol.startswith("-"):
            return [option for option in options if option.startswith(event.symbol)]
        until = event.text_until_cursor
        line = until[: len(until) - len(event.symbol)].split()
        option = next((word for word in reversed(line) if word.startswith("--")), "")
        is_behind = option in _SEVERAL or line[-1:] == [option]
        kind = _BEHIND.get(option, words) if is_behind else words
        known = dict.fromkeys(kind(shell.user_ns, line))
        return [word for word in known if word.startswith(event.symbol)]

    for sign in ("%", "%%"):
        shell.set_hook("complete_command", found, str_key=sign + magic.__name__)


class CompletedMagics(Magics):
    """Magics whose arguments the Tab key completes.

    Attributes:
      takes: for a magic's name what its arguments are, by default names of ops.
    """

    shell: Any
    takes: ClassVar[dict[str, Words]] = {}

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        found = {**self.magics["line"], **self.magics["cell"]}
        for name, method in found.items():
            complete(shell, method, self.takes.get(name, op_words))
