"""Writers and readers of each stack and TensorArray in a step.

Their handles go through Enter, Switch and the like; here each op is traced back to the
op that made what it works on.
"""

from __future__ import annotations

from typing import Any

from tfteach.engine.plan.step import Edge, Node, Step
from tfteach.framework.dtypes import resource
from tfteach.framework.op_traits import Collection, Flow

# What created a stack or TensorArray; for the gradient of a TensorArray its `source`.
Key = tuple[Node, str]


# The extra attribute of a stack each of whose values is popped in its turn.
PAIRED = "_paired"

_CREATES = (None, Collection.STACK, Collection.ARRAY)


class Handles:
    """The stacks and TensorArrays of a step.

    Attributes:
      key_of: op -> what it writes or reads.  Nothing is said of what may be written by
        other ops than these.
      writers, readers: by what they write or read.
      closed: the TensorArrays that an op closes.
    """

    def __init__(self, step: Step) -> None:
        self.key_of: dict[Node, Key] = {}
        self.writers: dict[Key, list[Node]] = {}
        self.readers: dict[Key, list[Node]] = {}
        self.closed: set[Node] = set()
        self._origins: dict[Edge, Key | None] = {}
        leaving = list(step.fetches)
        for node in step.nodes:
            role = node.op.spec.collection_role
            if role not in _CREATES:
                key = self._origin(node.inputs[0])
                if key is not None:
                    self.key_of[node] = key
                elif role is not None and role.writes:  # to any of them
                    self.key_of.clear()
                    return
            elif node.values is None and not (
                node.routes_values or node.forwards_input
            ):
                pairs = zip(node.inputs, node.op.inputs, strict=True)
                leaving += [e for e, t in pairs if t.dtype.base_dtype is resource]
        exposed = {key[0] for edge in leaving if (key := self._origin(edge))}
        for node, key in list(self.key_of.items()):
            if key[0] in exposed:
                del self.key_of[node]
                continue
            role = node.op.spec.collection_role
            assert role is not None
            if role.writes:
                self.writers.setdefault(key, []).append(node)
            elif role.reads:
                self.readers.setdefault(key, []).append(node)
            elif role is Collection.CLOSE:
                self.closed.add(key[0])

    def histories(self) -> dict[Node, list[Node]]:
        """The ops of stacks that loops keep for their gradients -> what fills them.

        Such a stack has one push and one pop, in turns of the loop and of its gradient
        that belong to each other: if nobody wants what is popped, nothing need be
        pushed.
        """
        found: dict[Node, list[Node]] = {}
        for key, pushes in self.writers.items():
            stack, pops = key[0], self.readers.get(key, [])
            is_stack = stack.op.spec.collection_role is Collection.STACK
            if is_stack and _is_history(stack, pushes, pops):
                found[stack] = []
                found.update((push, []) for push in pushes)
                found.update((pop, pushes) for pop in pops)
        return found

    def _origin(self, edge: Edge) -> Key | None:
        if edge not in self._origins:
            found = self._search(edge)
            self._origins[edge] = found.pop() if len(found) == 1 else None
        return self._origins[edge]

    def _search(self, edge: Edge) -> set[Key | None]:
        """Possible sources of the edge; None if one of them is something else."""
        found: set[Key | None] = set()
        seen: set[Edge] = set()
        waiting = [edge]
        while waiting:
            edge = waiting.pop()
            if edge in seen:
                continue
            seen.add(edge)
            node = edge.node
            role = None if node.is_feed else node.op.spec.collection_role
            if node.values is not None:  # a constant, which may have no inputs
                found.add(None)
            elif role in (Collection.STACK, Collection.ARRAY) and edge.index == 0:
                found.add((node, ""))
            elif role is Collection.GRADIENT and edge.index == 0:
                key = self._origin(node.inputs[0])
                source: Any = node.spec
                found.add(None if key is None else (key[0], key[1] + source.source))
            elif node.is_feed:
                found.add(None)
            elif node.flow is Flow.MERGE:
                waiting += node.inputs
            elif node.forwards_input or node.routes_values:
                waiting.append(node.inputs[0])
            else:
                found.add(None)
        return found


def _is_history(stack: Node, pushes: list[Node], pops: list[Node]) -> bool:
    limit = stack.inputs[0].constant if stack.inputs else None
    if len(pushes) != 1 or len(pops) > 1 or limit is None or limit >= 0:
        return False
    if not pops or (stack.op.extra_attrs or {}).get(PAIRED):
        return True
    forward, backward = _loop(pushes[0]), _loop(pops[0])
    state = getattr(backward, "grad_state", None)
    return state is not None and state.forward_context is forward


def _loop(node: Node) -> Any:
    """The loop that the op was built in, or None."""
    context: Any = node.op.control_flow_context
    return None if context is None else context.while_context
