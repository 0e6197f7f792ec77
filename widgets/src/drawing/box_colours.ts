// Colours boxes by device, family, cell, time and so on: a colour per kind, a word on the box, and a key to both.

import { bytesText } from "../base/format";
import type { ColourBy, Figures } from "../kernel/graph_messages";
import type { Glyph } from "../layout/box_style";
import type { SceneNode } from "../layout/scene";
import type { GraphModel, Op } from "../model/graph";
import type { Highlight } from "../model/highlight";
import { familyOf } from "../model/op_families";

export interface Paint {
  /** Class that sets fill and line. */
  tone: string;
  /** Says on the box what the colour says. */
  badge: string;
}

export interface KeyRow {
  tone: string;
  text: string;
  /** How many ops; null where the row is a step of a scale. */
  ops: number | null;
}

export interface Painting {
  of: Map<string, Paint>;
  key: KeyRow[];
  /** Shown instead of the key when there are no figures. */
  missing: string;
}

const TONES = 6;
/** Boxes that readers see as a single op, whatever constants they include. */
const SINGLE = new Set(["op", "variable"]);
/** Families that keep their usual look. */
const NATURAL = new Set(["constant", "feed", "variable", "flow"]);
/** Families that the shape of a box already shows. */
const SHAPED: Partial<Record<Glyph, string>> = { const: "constant", placeholder: "feed", variable: "variable" };
const STEPS = 5;

/** "/job:ps/task:1/device:GPU:0" is "ps:1 GPU:0"; "" is "any device". */
export function deviceText(device: string): string {
  if (device === "") return "any device";
  const job = /\/job:([^/]+)/.exec(device)?.[1];
  const task = /\/task:(\d+)/.exec(device)?.[1];
  const kind = /(?:\/device:|\/)((?:[CG]PU|TPU|XLA_\w+):[\d*]+)/i.exec(device)?.[1]?.toUpperCase();
  const place = job === undefined ? [] : [task === undefined ? job : `${job}:${task}`];
  const words = [...place, ...(kind === undefined ? [] : [kind])];
  return words.length > 0 ? words.join(" ") : device;
}

export function timeText(us: number): string {
  if (us < 1000) return `${us < 10 ? us.toFixed(1) : us.toFixed(0)} µs`;
  return us < 1e6 ? `${(us / 1e3).toFixed(us < 1e4 ? 2 : 1)} ms` : `${(us / 1e6).toFixed(2)} s`;
}

/** Classifies an op; null for "structure" and the scales. */
function kindOf(by: ColourBy, light: Highlight): ((op: Op) => string) | null {
  switch (by) {
    case "device":
      return (op) => deviceText(op.device ?? "");
    case "family":
      return (op) => familyOf(op.type);
    case "run":
      return (op) => (light.needed.has(op.index) ? "runs" : light.fed.has(op.index) ? "is fed" : "pruned");
    case "cell":
      return (op) => op.source?.file ?? "unknown";
    default:
      return null;
  }
}

export function paint(
  model: GraphModel,
  nodes: readonly SceneNode[],
  by: ColourBy,
  light: Highlight,
  figures: Figures,
): Painting {
  const kind = kindOf(by, light);
  if (kind !== null) {
    if (by === "run" && !light.active)
      return { of: new Map(), key: [], missing: "Fetch a box (f) to see what runs and what is pruned." };
    return paintKinds(model, nodes, kind, by);
  }
  return by === "structure" ? { of: new Map(), key: [], missing: "" } : paintScale(model, nodes, by, figures);
}

function paintKinds(model: GraphModel, nodes: readonly SceneNode[], kind: (op: Op) => string, by: ColourBy): Painting {
  const kinds = model.ops.map(kind);
  const totals = new Map<string, number>();
  for (const name of kinds) totals.set(name, (totals.get(name) ?? 0) + 1);
  // Cells in the order they ran, the rest by size; growth then adds at the end or changes little.
  const order = [...totals.keys()];
  if (by !== "cell") order.sort((a, b) => totals.get(b)! - totals.get(a)! || (a < b ? -1 : 1));
  const plain = by === "device" ? "any device" : by === "run" ? "pruned" : null;
  const least = by === "family" ? "constant" : plain;
  const natural = (name: string): boolean => by === "family" && NATURAL.has(name);
  const tones = new Map(order.filter((name) => name !== plain && !natural(name)).map((name, i) => [name, toneOf(i)]));
  for (const name of order) if (natural(name)) tones.set(name, `tft-tone tft-tone-${name}`);
  if (plain !== null) tones.set(plain, "tft-tone tft-tone-none");
  const of = new Map<string, Paint>();
  for (const node of nodes) {
    if (node.open) continue;
    const counts = new Map<string, number>();
    for (const i of node.node.members) counts.set(kinds[i]!, (counts.get(kinds[i]!) ?? 0) + 1);
    const own = model.opOf(node.node);
    // Ops that run have a solid outline, pruned ones a dotted one: no words needed.
    // The most frequent kind inside; but three ops on a GPU say more than ten on any device.
    const [most] = [...counts].sort((a, b) => Number(a[0] === least) - Number(b[0] === least) || b[1] - a[1])[0] ?? [
      undefined,
    ];
    const main = SINGLE.has(node.style.glyph) && own !== undefined ? kinds[own.index] : most;
    if (main === undefined) continue;
    const others = SINGLE.has(node.style.glyph) ? 0 : counts.size - 1;
    of.set(node.id, {
      tone: tones.get(main)!,
      badge:
        main === plain || by === "run" || main === SHAPED[node.style.glyph]
          ? ""
          : others > 0
            ? `${main} +${others}`
            : main,
    });
  }
  return { of, key: order.map((text) => ({ tone: tones.get(text)!, text, ops: totals.get(text)! })), missing: "" };
}

/** After six kinds the colours repeat with another outline; the words tell them apart. */
const toneOf = (i: number): string => `tft-tone tft-like-${i % TONES}${i >= TONES ? " tft-again" : ""}`;

function paintScale(model: GraphModel, nodes: readonly SceneNode[], by: ColourBy, figures: Figures): Painting {
  const field = by === "time" ? "time_us" : "bytes";
  const text = by === "time" ? timeText : bytesText;
  const values = model.ops.map((op) => (Object.hasOwn(figures, op.name) ? (figures[op.name]![field] ?? 0) : 0));
  const sums = nodes
    .filter((node) => !node.open)
    .map((node) => [node, node.node.members.reduce((sum, i) => sum + values[i]!, 0)] as const);
  const most = Math.max(0, ...sums.map(([, value]) => value));
  if (most === 0)
    return {
      of: new Map(),
      key: [],
      missing:
        `No figures for ${by}: set view.figures to a traced run's RunMetadata, ` +
        `or to {op name: {"${field}": ...}}.`,
    };
  const of = new Map<string, Paint>();
  for (const [node, value] of sums) of.set(node.id, { tone: heatOf(value, most), badge: value > 0 ? text(value) : "" });
  const key = Array.from(
    { length: STEPS },
    (_, i): KeyRow => ({
      tone: `tft-tone tft-heat-${i}`,
      text: `up to ${text(most * ((i + 1) / STEPS) ** 2)}`,
      ops: null,
    }),
  );
  return { of, key, missing: "" };
}

/** Square-root steps: on a linear scale one dominant box would make all others look the same. */
function heatOf(value: number, most: number): string {
  if (value <= 0) return "tft-tone tft-tone-none";
  const step = Math.min(STEPS - 1, Math.ceil(Math.sqrt(value / most) * STEPS) - 1);
  return `tft-tone tft-heat-${step}`;
}
