// Marks of boxes and lines: needed by the run, selected, found, and the text read out for each box.

import { count } from "../base/format";
import { readable } from "../layout/box_style";
import type { Base } from "../layout/edge_bundles";
import type { SceneNode } from "../layout/scene";
import type { GraphModel, Op } from "../model/graph";
import { nameOf, shapeText } from "../model/graph";
import type { Highlight } from "../model/highlight";
import type { Badge, BadgeKind } from "./badges";
import type { Marks, NodeMarks } from "./canvas";

/** An edge is used by a run if its reader runs and its source runs or is fed. */
const works = (light: Highlight, { from, to }: Base): boolean =>
  light.needed.has(to) && (light.needed.has(from) || light.fed.has(from));

export function makeMarks(
  model: GraphModel,
  light: Highlight,
  focus: Set<number> | null,
  selected: string,
  matches: ReadonlySet<number>,
  colours: Map<string, number>,
): Marks {
  const some = (node: SceneNode, set: ReadonlySet<number>): number => {
    if (set.size === 0) return 0;
    return node.node.members.reduce((n, i) => n + (set.has(i) ? 1 : 0), 0);
  };
  return {
    node: (node) => {
      const needed = some(node, light.needed);
      const fed = some(node, light.fed);
      const classes: string[] = [];
      const runs = needed > 0 || (fed > 0 && !node.open);
      if (light.active) classes.push(runs ? "tft-needed" : "tft-dim");
      const own = model.opOf(node.node);
      if (own !== undefined && !node.open && light.fed.has(own.index)) classes.push("tft-fed");
      if (node.id === selected) classes.push("tft-selected");
      if (some(node, matches) > 0) classes.push("tft-match");
      const colour = colours.get(node.id);
      if (colour !== undefined) classes.push(`tft-like-${colour}`);
      const badges: Badge[] = [];
      if (!node.open && fed > 0) badges.push({ text: "feed", kind: "feed" });
      if (!node.open && some(node, light.fetched) > 0) badges.push({ text: "fetch", kind: "fetch" });
      if (colour !== undefined) badges.unshift({ text: `≅${String.fromCharCode(65 + colour)}`, kind: "alike" });
      const note =
        light.active && node.node.kind !== "op" && node.style.glyph !== "op"
          ? `${needed} of ${node.node.members.length} run`
          : undefined;
      return { classes, badges, label: sayNode(model, node, light, needed, badges), note };
    },
    edge: (edge) => {
      const classes: string[] = [];
      if (light.active) classes.push(edge.base.some((b) => works(light, b)) ? "tft-needed" : "tft-dim");
      if (focus !== null) {
        if (edge.base.some((b) => focus.has(b.to))) classes.push("tft-lit", "tft-lit-in");
        else if (edge.base.some((b) => focus.has(b.from))) classes.push("tft-lit", "tft-lit-out");
      }
      return classes;
    },
  };
}

function sayNode(
  model: GraphModel,
  node: SceneNode,
  light: Highlight,
  needed: number,
  badges: readonly Badge[],
): string {
  const has = (kind: BadgeKind): boolean => badges.some((badge) => badge.kind === kind);
  const op = model.opOf(node.node);
  const what =
    node.node.kind === "op"
      ? sayOp(op!)
      : node.node.kind === "series"
        ? `series of ${node.node.like}`
        : `scope of ${count(node.node.members.length, "op")}`;
  const name = node.node.kind === "op" ? op!.name : nameOf(node.node);
  const parts = [readable(name), what];
  if (node.lane !== "main") parts.push(node.lane === "training" ? "training" : "set aside");
  if (light.active) {
    if (node.node.kind !== "op") parts.push(`${needed} run`);
    else parts.push(needed > 0 ? "runs" : has("feed") ? "is fed" : "does not run");
  }
  if (has("fetch")) parts.push("fetched");
  return parts.join(", ");
}

function sayOp(op: Op): string {
  const out = op.outputs[0];
  return out === undefined ? op.type : `${op.type}, ${out.dtype} ${shapeText(out.shape)}`;
}

/** The marks without what likeness() adds, for views whose colours mean something else. */
export function withoutLikeness(marks: NodeMarks): NodeMarks {
  return {
    ...marks,
    classes: marks.classes.filter((name) => !name.startsWith("tft-like-")),
    badges: marks.badges.filter(({ kind }) => kind !== "alike"),
  };
}

/** Scopes of the same structure (equal counts of each op type) share a colour and a letter. */
export function likeness(
  model: GraphModel,
  nodes: readonly SceneNode[],
  known: Map<string, number>,
): Map<string, number> {
  const groups = new Map<string, SceneNode[]>();
  for (const node of nodes) {
    if (node.node.kind !== "scope" || node.style.glyph !== "scope" || node.node.members.length > 3000) continue;
    if (node.node.members.length < 2) continue;
    const types = node.node.members
      .map((i) => model.ops[i]!.type)
      .sort()
      .join();
    const group = groups.get(types);
    if (group === undefined) groups.set(types, [node]);
    else group.push(node);
  }
  const colours = new Map<string, number>();
  for (const [types, group] of groups) {
    if (group.length < 2) continue;
    if (!known.has(types)) known.set(types, known.size % 6);
    for (const node of group) colours.set(node.id, known.get(types)!);
  }
  return colours;
}

/** Edges of the focused ops that the layout leaves out, as lines from box to box, each once. */
export function missingLines(
  cut: readonly Base[],
  focus: Set<number>,
  boxOf: Map<number, SceneNode>,
  byId: Map<string, SceneNode>,
  most = 60,
): { from: SceneNode; to: SceneNode; kind: string }[] {
  const lines = new Map<string, { from: SceneNode; to: SceneNode; kind: string }>();
  for (const { from, to, port } of cut) {
    if (!focus.has(from) && !focus.has(to)) continue;
    const [a, b] = [boxOf.get(from), boxOf.get(to)];
    if (a === undefined || b === undefined || a === b || !byId.has(a.id)) continue;
    const key = `${a.id}\u0001${b.id}`;
    if (!lines.has(key) && lines.size < most) lines.set(key, { from: a, to: b, kind: port < 0 ? "control" : "data" });
  }
  return [...lines.values()];
}
