// An open scope's boxes, the edges between them in bundles, and the lane of each box.

import type { Steps } from "../base/time_slices";
import type { GraphModel, Node, Op } from "../model/graph";
import { isReference } from "../model/graph";
import { isSetAside } from "../model/series";

/** The main flow; training; and ops connected to nearly everything (init, save, hubs). */
export type Lane = "main" | "training" | "aside";

export interface Base {
  from: number;
  /** Output index, or -1 for a control edge. */
  port: number;
  to: number;
}

export type EdgeKind = "data" | "control" | "reference";

export interface Bundle {
  key: string;
  /** Box ids, or port keys where the edge leaves the scope. */
  from: string;
  to: string;
  base: Base[];
  kind: EdgeKind;
  /** The number of distinct tensors. */
  tensors: number;
  /** Closes a loop: routed back beside the boxes. */
  back: boolean;
  /** Orders what one box reads as its ops read it: x before y in add(x, y). */
  place: number;
}

/** An open scope with all that its layout and that of scopes inside it needs. */
export interface OpenScope {
  scope: Node;
  depth: number;
  parent: OpenScope | null;
  boxes: Node[];
  rep: Map<number, Node>;
  lanes: Map<string, Lane>;
  /** Between boxes of one lane. */
  drawn: Bundle[];
  /** Between lanes: shown on demand. */
  cut: Bundle[];
  /** Across the scope's border. */
  entering: Bundle[];
  leaving: Bundle[];
  /** Edges from outside to boxes set aside: not drawn either. */
  hidden: Base[];
  /** No line joins its boxes. */
  apart: boolean;
}

export interface LaneRules {
  /** Names of scopes or ops to set aside, or to keep in the main flow, over the rules below. */
  aside: ReadonlySet<string>;
  inline: ReadonlySet<string>;
  /** The outermost boxes are devices: each is laid out alone, without lanes, and lines between them are drawn later. */
  devices?: boolean;
}

export const NO_RULES: LaneRules = { aside: new Set(), inline: new Set() };

const LOOPS_BACK = /^(Ref)?NextIteration$/;
const APPLY = /^(Resource)?(Sparse)?Apply[A-Z]/;
const TRAINERS = /^(gradients|GradientDescent|Momentum|Adagrad(DA)?|Adadelta|Adam|RMSProp|Ftrl|Proximal\w+)(_\d+)?$/;
const HOUSEKEEPING = /^(init|init_\d+|save|save_\d+|report_uninitialized_.*|init_all_tables.*)$/;
const STEP = 5000; // ops
const MOST_PORTS = 2 ** 20;
const HUB_NEIGHBOURS = 12;
const HUB_AMONG = 30; // boxes; a small picture can show its hub, and needs it

export function* makeOpenScope(
  model: GraphModel,
  scope: Node,
  boxes: Node[],
  parent: OpenScope | null,
  rules: LaneRules,
): Steps<OpenScope> {
  const rep = new Map<number, Node>();
  for (const box of boxes) for (const index of box.members) rep.set(index, box);
  if (rep.size > STEP) yield;
  const frame: OpenScope = {
    scope,
    depth: scope.depth,
    parent,
    boxes,
    rep,
    lanes: new Map(),
    drawn: [],
    cut: [],
    entering: [],
    leaving: [],
    hidden: [],
    apart: rules.devices === true && parent === null,
  };
  const inside = yield* bundleInside(model, frame);
  if (rules.devices === true) for (const box of boxes) frame.lanes.set(box.id, "main");
  else assignLanes(model, frame, inside, rules);
  for (const bundle of inside) {
    const same = !frame.apart && frame.lanes.get(bundle.from) === frame.lanes.get(bundle.to);
    // Boxes set aside are a list without edges.
    (same && frame.lanes.get(bundle.from) !== "aside" ? frame.drawn : frame.cut).push(bundle);
  }
  if (parent !== null) yield* bundleAcross(model, frame);
  return frame;
}

class Bundles {
  readonly #model: GraphModel;
  readonly all = new Map<string, Bundle>();
  constructor(model: GraphModel) {
    this.#model = model;
  }

  add(from: string, to: string, base: Base, place = 0): void {
    // Not every input that was made later: tf.contrib.graph_editor and tf.contrib.quantize give ops new inputs.
    const back = base.from > base.to && LOOPS_BACK.test(this.#model.ops[base.from]?.type ?? "");
    const key = `${from}\u0001${to}${back ? "\u0001back" : ""}`;
    let bundle = this.all.get(key);
    if (bundle === undefined) {
      bundle = { key, from, to, base: [], kind: "control", tensors: 0, back, place };
      this.all.set(key, bundle);
    }
    bundle.base.push(base);
  }

  finish(): Bundle[] {
    for (const bundle of this.all.values()) {
      const tensors = new Set<number>();
      let references = 0;
      for (const { from, port } of bundle.base) {
        const tensor = from * MOST_PORTS + port;
        if (port < 0 || tensors.has(tensor)) continue;
        tensors.add(tensor);
        if (isReference(this.#model.ops[from]?.outputs[port]?.dtype ?? "")) references++;
      }
      bundle.tensors = tensors.size;
      if (tensors.size > 0) bundle.kind = references === tensors.size ? "reference" : "data";
    }
    return [...this.all.values()];
  }
}

function* bundleInside(model: GraphModel, frame: OpenScope): Steps<Bundle[]> {
  const bundles = new Bundles(model);
  let n = 0;
  for (const index of frame.scope.members) {
    if (++n % STEP === 0) yield;
    const op = model.ops[index]!;
    const to = frame.rep.get(index)!;
    eachInput(op, (from, port, place) => {
      const source = frame.rep.get(from);
      if (source !== undefined && source !== to) bundles.add(source.id, to.id, { from, port, to: index }, place);
    });
  }
  if (n > STEP) yield;
  return bundles.finish();
}

function eachInput(op: Op, visit: (from: number, port: number, place: number) => void): void {
  let place = op.index * 1000;
  for (const input of op.inputs) visit(input.op, input.port, place++);
  for (const from of op.controls) visit(from, -1, place++);
}

/** The box, in the nearest open scope around, on the other end of an edge that crosses this scope's border; null where
 * that edge runs between lanes and so is not drawn. */
function portKey(frame: OpenScope, inner: number, outer: number): string | null {
  for (let f = frame.parent; f !== null; f = f.parent) {
    const there = f.rep.get(outer);
    if (there === undefined) continue;
    if (f.apart) return null;
    const here = f.rep.get(inner)!;
    const lane = f.lanes.get(there.id);
    return lane === f.lanes.get(here.id) && lane !== "aside" ? `${f.depth}\u0002${there.id}` : null;
  }
  return null;
}

/** The port key, inside a box, of the bundle that joins it to a sibling. */
export const siblingPort = (frame: OpenScope, sibling: string): string => `${frame.depth}\u0002${sibling}`;

function* bundleAcross(model: GraphModel, frame: OpenScope): Steps<void> {
  const entering = new Bundles(model);
  const leaving = new Bundles(model);
  let n = 0;
  for (const index of frame.scope.members) {
    if (++n % STEP === 0) yield;
    const box = frame.rep.get(index)!;
    const aside = frame.lanes.get(box.id) === "aside";
    const note = (bundles: Bundles, other: number, base: Base, place: number): void => {
      if (frame.rep.has(other) || model.ops[other] === undefined) return;
      const key = portKey(frame, index, other);
      // Boxes set aside have no edges, from outside neither.
      if (key === null) return;
      if (aside) frame.hidden.push(base);
      else if (bundles === entering) bundles.add(key, box.id, base, place);
      else bundles.add(box.id, key, base);
    };
    eachInput(model.ops[index]!, (from, port, place) => note(entering, from, { from, port, to: index }, place));
    for (const { op, port } of model.uses[index] ?? []) note(leaving, op, { from: index, port, to: op }, 0);
  }
  frame.entering = entering.finish();
  frame.leaving = leaving.finish();
}

function assignLanes(model: GraphModel, frame: OpenScope, bundles: Bundle[], rules: LaneRules): void {
  const neighbours = new Map<string, Set<string>>(frame.boxes.map((b) => [b.id, new Set<string>()]));
  const readers = new Map<string, Set<string>>();
  const reads = new Map<string, Set<string>>();
  const note = (map: Map<string, Set<string>>, key: string, value: string): void => {
    const known = map.get(key);
    if (known === undefined) map.set(key, new Set([value]));
    else known.add(value);
  };
  for (const { from, to } of bundles) {
    neighbours.get(from)!.add(to);
    neighbours.get(to)!.add(from);
    note(readers, from, to);
    note(reads, to, from);
  }
  let inTraining = false;
  for (let f: OpenScope | null = frame; f?.parent != null; f = f.parent) {
    if (f.parent.lanes.get(f.parent.rep.get(f.scope.members[0]!)!.id) === "training") inTraining = true;
  }
  const lane = frame.lanes;
  for (const box of frame.boxes) {
    lane.set(box.id, laneOf(model, box, neighbours.get(box.id)!.size, frame.boxes.length, inTraining, rules));
  }
  // Nodes that only training uses (Adam's powers, learning rates) belong to it.
  for (let round = 0; round < 2; round++) {
    for (const box of frame.boxes) {
      if (lane.get(box.id) !== "main" || rules.inline.has(nameOf(box))) continue;
      const out = [...(readers.get(box.id) ?? [])].filter((id) => lane.get(id) !== "aside");
      if (out.length === 0 || !out.every((id) => lane.get(id) === "training")) continue;
      if ([...(reads.get(box.id) ?? [])].every((id) => lane.get(id) !== "main")) lane.set(box.id, "training");
    }
  }
  // A series set aside opens to a list. If every box is in a side lane otherwise, there are no lanes.
  if (frame.scope.kind === "series" && isSetAside(rules.aside, frame.scope)) return;
  if (![...lane.values()].includes("main")) for (const box of frame.boxes) lane.set(box.id, "main");
}

const nameOf = (box: Node): string => box.id.replace(/\/$/, "");

function laneOf(
  model: GraphModel,
  box: Node,
  degree: number,
  siblings: number,
  inTraining: boolean,
  rules: LaneRules,
): Lane {
  const name = nameOf(box);
  if (rules.inline.has(name)) return "main";
  if (isSetAside(rules.aside, box)) return "aside";
  const op = box.kind === "op" ? model.opOf(box)! : undefined;
  const base = name.slice(name.lastIndexOf("/") + 1);
  if (HOUSEKEEPING.test(base) && (op === undefined || op.type === "NoOp")) return "aside";
  if (op?.type === "MergeSummary" || (/^Merge(_\d+)?$/.test(base) && holds(model, box, /^MergeSummary$/)))
    return "aside";
  if (!inTraining && box.kind === "scope" && (TRAINERS.test(base) || holds(model, box, APPLY))) return "training";
  if (!inTraining && op !== undefined && APPLY.test(op.type)) return "training";
  if (siblings >= HUB_AMONG && degree >= Math.max(HUB_NEIGHBOURS, siblings * 0.4)) return "aside";
  return "main";
}

const holds = (model: GraphModel, box: Node, type: RegExp): boolean =>
  box.members.some((index) => type.test(model.ops[index]!.type));
