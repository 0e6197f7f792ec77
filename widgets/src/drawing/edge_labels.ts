// The labels of lines: their words, and where they stand.

import { svg } from "../base/svg";
import type { Measure } from "../layout/box_style";
import type { LabelPlace, Wish } from "../layout/label_places";
import { placeLabels } from "../layout/label_places";
import { LABEL_PX, NOTE_PX } from "../layout/layered_layout";
import type { Scene, SceneEdge, SceneNode } from "../layout/scene";
import type { EdgeNote } from "../layout/scope_layout";

const BASELINE = 3.2; // below the middle of a label
const MOST_LINES = 6; // at which a place for one label is looked for
const FADE_MS = 570;

/** A view's words on lines, in place of their labels. */
export interface EdgeNotes {
  /** The words now; without them a line shows its label. */
  now: (edge: SceneEdge) => EdgeNote | undefined;
  /** The longest that it will show while this picture stands. */
  longest: (edge: SceneEdge) => EdgeNote | undefined;
}

/** The label of a line, or of several that carry the same. */
interface Label extends Wish {
  lines: SceneEdge[];
  /** The words without a note. */
  plain: string;
}

interface DrawnLabel {
  el: SVGTextElement;
  place: LabelPlace;
}

export class EdgeLabels {
  readonly #measure: Measure;
  readonly #layer: (depth: number) => SVGGElement;
  readonly #drawn = new Map<string, DrawnLabel>();
  #labels = new Map<string, Label>();
  /** The scene and the widths for which places were found. */
  #scene: Scene | null = null;
  #widths = "";
  /** All the words of a label that is shortened or left out, by one of its lines. */
  readonly hidden = new Map<string, string>();

  constructor(measure: Measure, layer: (depth: number) => SVGGElement) {
    this.#measure = measure;
    this.#layer = layer;
  }

  /** Draws the labels of a scene, at new places if these or the widths have changed. */
  show(scene: Scene, notes: EdgeNotes | undefined, badgeWidth: (node: SceneNode) => number, fade: boolean): void {
    if (scene === this.#scene && notes === undefined) return;
    this.#labels = this.#collect(scene, notes);
    const widths = [...this.#labels].map(([key, { width }]) => `${key}:${width}`).join("\n");
    if (scene !== this.#scene || widths !== this.#widths) {
      this.#scene = scene;
      this.#widths = widths;
      this.#place(scene, badgeWidth, fade);
    }
    this.hidden.clear();
    for (const [key, { lines, plain }] of this.#labels) {
      const note = notes === undefined ? undefined : firstOf(lines, notes.now);
      const text = note?.text ?? plain;
      const drawn = this.#drawn.get(key);
      const fits = drawn === undefined ? "" : this.#cut(text, drawn.place, note !== undefined);
      if (drawn !== undefined) {
        if (drawn.el.textContent !== fits) drawn.el.textContent = fits;
        drawn.el.classList.toggle("tft-noted", note !== undefined);
      }
      if (fits !== text) this.hidden.set(drawn?.place.edge.id ?? lines[0]!.id, text);
    }
  }

  #collect(scene: Scene, notes: EdgeNotes | undefined): Map<string, Label> {
    const found = new Map<string, Label>();
    // A line that continues another may only lend a place to that one's label.
    const begin = scene.edges.filter(({ starts }) => starts);
    for (const edge of [...begin, ...scene.edges.filter(({ starts }) => !starts)]) {
      const longest = notes?.longest(edge);
      if (edge.label === "" && (longest?.text ?? "") === "") continue;
      const key = longest?.subject ?? edge.id;
      if (!edge.starts && !found.has(key)) continue;
      const label = found.get(key) ?? { lines: [], plain: "", width: 0 };
      found.set(key, label);
      label.lines.push(edge);
      label.plain ||= edge.label;
      const plain = edge.label === "" ? 0 : this.#measure(edge.label, LABEL_PX, false);
      const noted = longest === undefined ? 0 : this.#measure(longest.text, NOTE_PX, true);
      label.width = Math.max(label.width, Math.ceil(Math.max(plain, noted)) + 2);
    }
    for (const { lines } of found.values()) {
      const rank = (edge: SceneEdge): number => (edge.labelAt === null ? 2 : 0) + (edge.starts ? 0 : 1);
      lines.sort((a, b) => rank(a) - rank(b));
      lines.length = Math.min(lines.length, MOST_LINES);
    }
    return found;
  }

  #place(scene: Scene, badgeWidth: (node: SceneNode) => number, fade: boolean): void {
    const places = placeLabels(scene, this.#labels, badgeWidth);
    for (const [key, { el }] of this.#drawn) {
      if (places.has(key)) continue;
      el.remove();
      this.#drawn.delete(key);
    }
    for (const [key, place] of places) {
      let drawn = this.#drawn.get(key);
      if (drawn === undefined) {
        drawn = { el: svg("text", null, { class: "tft-label" }), place };
        this.#drawn.set(key, drawn);
        if (fade) drawn.el.animate([{ opacity: 0 }, { opacity: 1 }], { duration: FADE_MS });
      }
      drawn.place = place;
      const { el } = drawn;
      const home = this.#layer(place.edge.depth);
      if (el.parentNode !== home) home.append(el);
      const { left, right, top, bottom, anchor } = place;
      const x = anchor === "start" ? left : anchor === "end" ? right : (left + right) / 2;
      el.setAttribute("x", x.toFixed(1));
      el.setAttribute("y", ((top + bottom) / 2 + BASELINE).toFixed(1));
      el.style.textAnchor = anchor;
    }
  }

  /** As much of a text as its place holds. */
  #cut(text: string, { left, right }: LabelPlace, isNote: boolean): string {
    const px = isNote ? NOTE_PX : LABEL_PX;
    const room = right - left;
    if (text === "" || this.#measure(text, px, isNote) <= room) return text;
    let [low, high] = [0, text.length - 1];
    while (low < high) {
      const mid = Math.ceil((low + high) / 2);
      if (this.#measure(`${text.slice(0, mid).trimEnd()}…`, px, isNote) <= room) low = mid;
      else high = mid - 1;
    }
    return `${text.slice(0, low).trimEnd()}…`;
  }
}

function firstOf<A, B>(all: readonly A[], find: (one: A) => B | undefined): B | undefined {
  for (const one of all) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
