"""Recovers the loops and branches of a step from its frames, Switches and Merges.

A node runs under a guard: the values of predicates for which its inputs are live.
Switch adds a predicate to the guard, Merge removes one.  A loop is one unit of the
region around it; the units that run while it continues are its body.
Source: core/graph/control_flow.cc (frames).
"""

from __future__ import annotations

from collections.abc import Iterable

from tfteach.engine.flow.guards import (
    ALWAYS,
    Guard,
    UnstructuredError,
    both,
    merged,
    predicate_of,
)
from tfteach.engine.flow.region_order import Schedule
from tfteach.engine.flow.regions import Recovered, Region, Unit, Variable
from tfteach.engine.optimize.remove_dead import grouped
from tfteach.engine.plan.frames import Path, frames_of, path_behind
from tfteach.engine.plan.step import Edge, Node, Step, writes
from tfteach.framework.op_traits import Flow
from tfteach.framework.topological_order import CycleError, topological_order

# The limit of Python's compiler is near.
MAX_LOOPS, MAX_GUARD = 15, 40


def recover(step: Step) -> Recovered:
    """Find the loops and branches of a step.

    Raises:
      UnstructuredError: nested programs cannot express its control flow.
    """
    return Recovery(step).run()


class Recovery:
    def __init__(self, step: Step) -> None:
        self.step = step
        self.paths = frames_of(step)
        self.guards: dict[Node | Region, Guard] = {}
        self.position: dict[Node, int] = {}
        self.regions: dict[Path, Region] = {(): Region(())}
        self.loop_of: dict[Node, Region] = {}  # Exit -> the loop it leaves

    def run(self) -> Recovered:
        root = self.regions[()]
        for position, node in enumerate(self.step.nodes):
            self.position[node] = position
            path = self.paths.get(node)
            if path is None:
                raise UnstructuredError(f"{node.name} waits for itself")
            region = self.region(path)
            region.members.append(node)
            if node.flow is Flow.ENTER:
                self.region(path_behind(node, path)).enters.append(node)
            elif node.flow is Flow.EXIT:
                self.loop_of[node] = region
        for number, node in enumerate(reversed(self.step.feeds.values())):
            self.position[node] = -1 - number
            self.guards[node] = ALWAYS
        self.find_guards(root)
        for edge in self.step.fetches:
            if path_behind(edge.node, self.paths.get(edge.node, ())):
                raise UnstructuredError("a fetch from inside a loop")
            if self.edge_guard(edge, root) != ALWAYS:
                raise UnstructuredError("a fetch from a branch")
        alive = self.find_live()
        self.schedule(root)
        always = {node for node in root.members if self.guards[node] == ALWAYS}
        return Recovered(root, alive, always)

    def region(self, path: Path) -> Region:
        found = self.regions.get(path)
        if found is None:
            if len(path) > MAX_LOOPS:
                raise UnstructuredError("loops nested too deeply")
            found = self.regions[path] = Region(path)
            self.region(path[:-1]).children.append(found)
        return found

    # ---- which nodes run when

    def owner(self, node: Node, region: Region) -> Node | Region | None:
        """The unit of the region that computes `node`; None if it is outside."""
        loop = self.loop_of.get(node)
        if loop is not None and loop is not region and loop in region.children:
            return loop
        return node if self.paths.get(node, ()) == region.path else None

    def sources(self, unit: Node | Region, region: Region) -> set[Node | Region]:
        """Units of the same region that must run before."""
        found: set[Node | Region | None] = set()
        if isinstance(unit, Region):
            found.update(unit.enters)
        else:
            edges: Iterable[Edge] = unit.inputs
            if unit.flow is Flow.MERGE:
                edges = (e for e in edges if e.node.flow is not Flow.NEXT_ITERATION)
            found.update(self.owner(edge.node, region) for edge in edges)
            found.update(self.owner(other, region) for other in unit.control)
        found.difference_update((None, *self.step.feeds.values()))
        return found  # type: ignore[return-value]

    def edge_guard(self, edge: Edge, region: Region) -> Guard:
        node, index = edge
        owner = self.owner(node, region)
        if owner is None and not node.is_feed:
            return ALWAYS  # an Enter: control inputs of the loop as a whole
        guard = self.guards[node if owner is None else owner]
        if node.flow is Flow.SWITCH:
            predicate, outcome = predicate_of(node.inputs[1]), index == 1
            if (predicate, outcome) in region.context:
                return guard
            if (predicate, not outcome) in region.context:
                return None
            return both(guard, frozenset([(predicate, outcome)]))
        return guard

    def find_guards(self, region: Region) -> None:
        units: list[Node | Region] = [*region.members, *region.children]
        for unit in self.ordered(units, region):
            if isinstance(unit, Region):
                guard = self.guards[unit] = self.loop_guard(unit)
                unit.context = region.context | (guard or ALWAYS)
                self.find_guards(unit)
            else:
                self.guards[unit] = self.node_guard(unit, region)
        if region.path:
            self.check_loop(region)

    def node_guard(self, node: Node, region: Region) -> Guard:
        flow = node.flow
        if flow is Flow.CONTROL_TRIGGER:
            return ALWAYS
        if flow is Flow.MERGE:
            if any(source.flow is Flow.NEXT_ITERATION for source, _ in node.inputs):
                return self.add_variable(node, region)
            guards = [self.edge_guard(edge, region) for edge in node.inputs]
            guard = merged(guards)
            region.eliminated.update(
                edge for g in guards for edge, _ in (g or ()) if g and guard is not None
                and not any(edge == kept for kept, _ in guard)
            )  # fmt: skip
            return guard
        guard = ALWAYS
        for edge in node.inputs:
            guard = both(guard, self.edge_guard(edge, region))
        for other in node.control:
            owner = self.owner(other, region)
            if owner is not None:
                guard = both(guard, self.guards[owner])
        if flow is Flow.LOOP_COND:
            if region.predicate is not None or not region.path:
                raise UnstructuredError("a loop with several conditions")
            if guard != ALWAYS:
                raise UnstructuredError("a condition that depends on a branch")
            region.predicate = predicate_of(Edge(node, 0))
        if guard is not None and len(guard) > MAX_GUARD:
            raise UnstructuredError("branches nested too deeply")
        return guard

    def add_variable(self, node: Node, region: Region) -> Guard:
        enters = [e for e in node.inputs if e.node.flow is Flow.ENTER]
        iterations = [e for e in node.inputs if e.node.flow is Flow.NEXT_ITERATION]
        if len(enters) != 1 or len(iterations) != 1 or len(node.inputs) != 2:
            raise UnstructuredError(f"Merge {node.name} is no loop variable")
        if enters[0].node.spec.is_constant:  # type: ignore[attr-defined]
            raise UnstructuredError("a loop variable that enters as a constant")
        region.variables.append(Variable(node, enters[0], iterations[0].node.inputs[0]))
        return ALWAYS

    def loop_guard(self, loop: Region) -> Guard:
        """The loop runs if its Enters are live: all of them, or none."""
        entering = {node for node in loop.enters if not node.spec.is_constant}  # type: ignore[attr-defined]
        guards = {self.guards[node] for node in entering}
        if len(guards) != 1:
            raise UnstructuredError("loop variables of different branches")
        guard = guards.pop()
        if guard is None:
            return None
        for node in loop.enters:
            own = self.guards[node]
            if own is None or not own <= guard:
                raise UnstructuredError("a constant of another branch than its loop")
        return guard

    def check_loop(self, loop: Region) -> None:
        predicate = loop.predicate
        if predicate is None or not loop.variables:
            raise UnstructuredError("a loop without a condition")
        if predicate in loop.eliminated:
            raise UnstructuredError("a Merge of the loop's iterations and its end")
        entering = {variable.enter.node for variable in loop.variables}
        for enter in loop.enters:
            if enter not in entering and not enter.spec.is_constant:  # type: ignore[attr-defined]
                raise UnstructuredError(f"{enter.name} is in the first iteration only")
        goes_on, ends = frozenset([(predicate, True)]), frozenset([(predicate, False)])
        for node in loop.members:
            flow, guard = node.flow, self.guards[node]
            if flow is Flow.NEXT_ITERATION and guard != goes_on:
                raise UnstructuredError(f"{node.name} is not in every iteration")
            if flow is Flow.EXIT and guard != ends:
                raise UnstructuredError(f"{node.name} is not at the loop's end")
            before = [*node.control]
            if not any(v.merge is node for v in loop.variables):
                before += [edge.node for edge in node.inputs]
            if not entering.isdisjoint(before):
                raise UnstructuredError(f"{node.name} is in the first iteration only")

    # ---- which nodes are needed

    def find_live(self) -> set[Node]:
        """Like `remove_dead`, including the predicates of the nodes that are needed."""
        alive: set[Node] = set()
        seen: set[Node] = set()
        needed = [edge.node for edge in self.step.fetches]
        needed += [node for node in self.step.nodes if self.has_effect(node)]
        needed += grouped(self.step.targets)
        waited: list[Node] = []
        while needed or waited:
            if needed:
                node = needed.pop()
                if node in alive or (
                    not node.is_feed and self.guards.get(node, ALWAYS) is None
                ):
                    continue
                alive.add(node)
                taken = self.taken(node)
                needed += taken
                needed += self.deciding(node)
                waited += [source for source, _ in node.inputs if source not in taken]
                waited += node.control
                continue
            node = waited.pop()
            if node in seen or node.is_feed:
                continue
            if node.values is not None and not node.inputs:
                continue
            seen.add(node)
            if self.is_needless(node):
                waited += [*node.control, *(source for source, _ in node.inputs)]
            else:
                needed.append(node)
        return alive

    def has_effect(self, node: Node) -> bool:
        """Whether the node must run even if its value is not used, such as a check."""
        if node.spec.is_stateful:
            return node.values is None and node not in self.step.histories
        return node.flow is Flow.SWITCH and node.op.inputs[1].static_shape != ()

    def taken(self, node: Node) -> list[Node]:
        """The nodes whose values or effects `node` depends on."""
        if node.values is not None:
            return []
        index = self.step.forwards.get(node)
        if index is not None:
            return [node.inputs[index].node]
        others = self.step.histories.get(node, ())
        return [*(source for source, _ in node.inputs), *others]

    def is_needless(self, node: Node) -> bool:
        """Whether a node with only control outputs need not run."""
        return (
            node.spec.is_foldable
            or not node.op.outputs
            or node.flow is not None
            or node.values is not None
            or node in self.step.histories
        )

    def deciding(self, node: Node) -> list[Node]:
        """The predicates that decide whether and how often `node` runs."""
        found = [edge.node for edge, _ in self.guards.get(node) or ()]
        path = self.paths.get(node, ())
        for depth in range(len(path)):
            loop = self.regions[path[: depth + 1]]
            assert loop.predicate is not None
            found.append(loop.predicate.node)
            found += [edge.node for edge, _ in self.guards[loop] or ()]
        if node.flow is Flow.MERGE:
            region = self.regions[path]
            for edge in node.inputs:
                if edge.node.flow is not Flow.NEXT_ITERATION:
                    guard = self.edge_guard(edge, region)
                    found += [edge.node for edge, _ in guard or ()]
        return found

    # ---- in which order

    def place_of(self, unit: Node | Region) -> tuple[bool, int]:
        if isinstance(unit, Region):
            return False, max(self.position[node] for node in unit.enters)
        return writes(unit), self.position[unit]

    def ordered(
        self, units: list[Node | Region], region: Region
    ) -> list[Node | Region]:
        """A topological order, reads before writes where both are legal."""
        try:
            return topological_order(
                units, lambda unit: self.sources(unit, region), self.place_of
            )
        except CycleError as error:
            message = f"loops of {region} feed each other"
            raise UnstructuredError(message) from error

    def schedule(self, region: Region) -> None:
        """Order the units so that those of one branch stand together."""
        for child in region.children:
            self.schedule(child)
        order = self.ordered([*region.members, *region.children], region)
        sections = {None: region.before, True: region.body, False: region.after}
        latest = 0
        for thing, guard in Schedule(self, region, order).run():
            if isinstance(thing, Node) and thing.flow is Flow.CONTROL_TRIGGER:
                continue  # it has nothing to do, whatever became of what it waits for
            decided = next((v for edge, v in guard if edge == region.predicate), None)
            section = (None, True, False).index(decided)
            if section < latest:
                raise UnstructuredError(
                    "what decides on a iteration depends on the iteration"
                )
            latest = section
            rest = tuple(item for item in guard if item[0] != region.predicate)
            sections[decided].append(Unit(thing, rest))
