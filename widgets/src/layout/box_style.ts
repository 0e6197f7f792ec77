// The glyph, text lines and size of a box. No DOM: the caller supplies the text measure.

import { count, digits } from "../base/format";
import type { GraphModel, Node, Op } from "../model/graph";
import { shapeText } from "../model/graph";
import { isPlaceholder, isVariable, passesValuesOn } from "../model/op_families";

export type Glyph = "op" | "const" | "placeholder" | "variable" | "flow" | "group" | "scope" | "series";

export interface BoxStyle {
  glyph: Glyph;
  title: string;
  subtitle: string;
  w: number;
  h: number;
}

export type Measure = (text: string, fontPx: number, bold: boolean) => number;

/** An estimate, where there is no canvas (tests). */
export const estimateWidth: Measure = (text, fontPx, bold) => text.length * fontPx * (bold ? 0.6 : 0.56);

export const TITLE_PX = 12.5;
export const SUBTITLE_PX = 10.5;
const LONGEST = 26;

/** Shortens in the middle: names differ at their ends. */
export function shorten(text: string, longest = LONGEST): string {
  if (text.length <= longest) return text;
  const tail = Math.floor(longest * 0.45);
  return `${text.slice(0, longest - tail - 1)}…${text.slice(-tail)}`;
}

/** A name shortened for display: names are unlimited, and a page needs a second for a million letters. */
export const readable = (name: string): string => shorten(name, 300);

export function glyphOf(model: GraphModel, node: Node): Glyph {
  if (node.kind === "series") return "series";
  const op = model.opOf(node);
  if (node.kind === "scope" && op !== undefined && isVariable(op.type)) return "variable";
  if (node.kind === "scope" && ownConstants(model, node) === null) return "scope";
  if (op === undefined) return "op";
  if (op.type === "Const") return "const";
  if (isPlaceholder(op.type)) return "placeholder";
  if (isVariable(op.type)) return "variable";
  if (passesValuesOn(op.type) || op.type === "LoopCond") return "flow";
  return op.type === "NoOp" ? "group" : "op";
}

/** The constants created with an op: `x + 1.0` makes "add" and "add/y", shown as one box. Null for other scopes. */
function ownConstants(model: GraphModel, node: Node): Op[] | null {
  const op = model.opOf(node);
  if (op === undefined || node.members.length > 4) return null;
  const others = node.members.filter((i) => i !== op.index).map((i) => model.ops[i]!);
  const inside = others.every((o) => o.type === "Const" && o.node.parent === node);
  return inside && others.length > 0 ? others : null;
}

function tensorText(op: Op): string {
  const out = op.outputs[0];
  if (out === undefined) return "";
  return `${out.dtype.replace(/_ref$/, "")} ${shapeText(out.shape)}`;
}

/** A variable's type is that of its value; a resource handle says it in its attributes. */
function variableText(op: Op): string {
  if (op.type !== "VarHandleOp") return tensorText(op);
  return `${op.attrs?.dtype ?? ""} ${op.attrs?.shape ?? ""}`.trim();
}

function subtitleOf(model: GraphModel, node: Node, glyph: Glyph): string {
  const op = model.opOf(node);
  if (glyph === "series") return `×${digits(node.like)} · ${count(node.members.length, "op")}`;
  if (glyph === "variable" && op !== undefined) return variableText(op);
  const constants = node.kind === "scope" ? ownConstants(model, node) : null;
  if (node.kind === "scope" && constants === null) return count(node.members.length, "op");
  if (op === undefined) return "";
  if (glyph === "const") return op.value ?? shapeText(op.outputs[0]?.shape ?? null);
  if (glyph === "placeholder") return tensorText(op);
  // "add_1" says its type; "loss" does not.
  const plain = node.label
    .replace(/^\((.*)\)$/, "$1")
    .replace(/_\d+$/, "")
    .replaceAll("_", "")
    .toLowerCase();
  const type = plain === op.type.replace(/V\d$/, "").toLowerCase() ? [] : [op.type];
  const given = (constants ?? []).map((c) => `${c.node.label} = ${c.value ?? "?"}`);
  return [...type, ...given].join(" · ");
}

export function boxStyleOf(model: GraphModel, node: Node, measure: Measure): BoxStyle {
  const glyph = glyphOf(model, node);
  const title = shorten(node.label);
  const subtitle = shorten(subtitleOf(model, node, glyph), glyph === "const" ? 14 : 30);
  const titleW = measure(title, TITLE_PX, glyph === "scope" || glyph === "series");
  const subtitleW = measure(subtitle, SUBTITLE_PX, false);
  const text = Math.max(titleW, subtitleW);
  const two = subtitle !== "";
  const round = (w: number, h: number): BoxStyle => ({ glyph, title, subtitle, w: Math.ceil(w), h });
  switch (glyph) {
    case "const": // the name above a small pill with the value
      return round(Math.max(titleW, subtitleW + 16, 26), 34);
    case "placeholder":
      return round(text + (node.kind === "scope" ? 72 : 40), 40);
    case "variable":
      return round(text + (node.kind === "scope" ? 50 : 32), 48);
    case "flow":
      return round(text + 40, two ? 40 : 30);
    case "scope":
    case "series":
      return round(Math.max(text + 50, 84), 46);
    default:
      return round(Math.max(text + (node.kind === "scope" ? 56 : 30), 58), two ? 40 : 30);
  }
}
