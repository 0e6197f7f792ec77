// Draws a scene as SVG and moves from one scene to the next; knows nothing of what the boxes mean.

import { svg } from "../base/svg";
import type { Measure } from "../layout/box_style";
import { SUBTITLE_PX, TITLE_PX } from "../layout/box_style";
import { resample } from "../layout/polyline";
import type { Scene, SceneArea, SceneEdge, SceneNode } from "../layout/scene";
import type { Point } from "../layout/scope_layout";
import type { Badge } from "./badges";
import { badgeWidth, drawBadges, drawFetcher, drawToggle } from "./badges";
import type { EdgeNotes } from "./edge_labels";
import { EdgeLabels } from "./edge_labels";
import { PanZoom } from "./pan_zoom";
import { CONST_PILL_H, cornerPath, glyphPaths, headPath, linePath } from "./paths";

const MOVE_MS = 380;
const ANIMATE_UP_TO = 450; // boxes; above, a move would stutter

/** CSS classes of a box, its badges, and what a screen reader reads out. */
export interface NodeMarks {
  classes: string[];
  badges: Badge[];
  label: string;
  /** Replaces the second line while a run is shown. */
  note?: string | undefined;
}

export interface Marks {
  node: (node: SceneNode) => NodeMarks;
  edge: (edge: SceneEdge) => string[];
  notes?: EdgeNotes | undefined;
}

interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Of one depth of nesting; deeper ones are drawn over it. */
interface Layer {
  areas: SVGGElement;
  edges: SVGGElement;
  nodes: SVGGElement;
  labels: SVGGElement;
}

interface DrawnNode {
  el: SVGGElement;
  shape: SVGPathElement;
  /** The extra strokes of its glyph, if any. */
  mark: SVGPathElement | null;
  title: SVGTextElement;
  subtitle: SVGTextElement;
  extra: SVGGElement;
  /** The inputs that `shape` and `extra` were last drawn for. */
  shapeKey: string;
  extraKey: string;
  /** Was selected or under the pointer, so it has its fetch button. */
  touched: boolean;
  now: Rect;
  from: Rect;
  item: SceneNode;
}

interface DrawnEdge {
  el: SVGGElement;
  line: SVGPathElement;
  /** Arrow head and ring exist only where needed: thousands of edges have none. */
  head: SVGPathElement | null;
  /** Shows, under the pointer, the words for which there is no room. */
  hint: SVGPathElement | null;
  now: Point[];
  from: Point[];
  item: SceneEdge;
}

export class Canvas extends PanZoom {
  readonly #measure: Measure;
  readonly nodes = new Map<string, DrawnNode>();
  readonly #edges = new Map<string, DrawnEdge>();
  readonly #layers: Layer[] = [];
  readonly #labels: EdgeLabels;
  #frame = 0;

  constructor(parent: Element, measure: Measure, calm: () => boolean) {
    super(parent, calm);
    this.#measure = measure;
    this.#labels = new EdgeLabels(measure, (depth) => this.#layer(depth).labels);
    this.el.addEventListener("pointerover", (event) => {
      const id = (event.target as Element).closest<SVGGElement>(".tft-node")?.dataset.id;
      const drawn = id === undefined ? undefined : this.nodes.get(id);
      if (drawn !== undefined) this.#touch(drawn);
    });
  }

  /** Draws a scene; `place` sets pan and zoom first, so that the browser lays out the drawing only once. */
  draw(scene: Scene, marks: Marks, animate: boolean, place: () => void = () => undefined): void {
    const before = this.scene;
    this.scene = scene;
    place();
    const move = animate && !this.calm() && scene.nodes.length <= ANIMATE_UP_TO;
    this.#drawAreas(scene);
    this.#drawNodes(scene, before, move);
    this.#drawEdges(scene, move);
    this.mark(marks, move);
    if (move) this.#start();
    else this.#step(1);
  }

  /** Updates classes, badges and labels without a new layout. */
  mark(marks: Marks, fade = false): void {
    const badgesOf = new Map<SceneNode, Badge[]>();
    for (const drawn of this.nodes.values()) {
      const { item } = drawn;
      const { classes, badges, label, note } = marks.node(item);
      badgesOf.set(item, badges);
      drawn.subtitle.textContent = item.open ? "" : (note ?? item.style.subtitle);
      const born = drawn.el.classList.contains("tft-born") ? ["tft-born"] : [];
      const base = [
        "tft-node",
        `tft-${item.style.glyph}`,
        `tft-lane-${item.lane}`,
        ...(item.open ? ["tft-open"] : []),
        ...born,
      ];
      drawn.el.setAttribute("class", [...base, ...classes].join(" "));
      drawn.el.setAttribute("aria-label", label);
      // An open box's name is in another layer.
      drawn.title.classList.toggle("tft-future", classes.includes("tft-future"));
      this.#drawExtras(drawn, badges);
      if (classes.includes("tft-selected")) this.#touch(drawn);
    }
    for (const drawn of this.#edges.values()) {
      drawn.el.setAttribute("class", ["tft-edge", `tft-${drawn.item.kind}`, ...marks.edge(drawn.item)].join(" "));
    }
    if (this.scene === null) return;
    const width = (node: SceneNode): number => badgeWidth(badgesOf.get(node) ?? [], this.#measure);
    this.#labels.show(this.scene, marks.notes, width, fade);
    for (const drawn of this.#edges.values()) this.#drawHint(drawn, this.#labels.hidden.get(drawn.item.id));
  }

  #drawHint(drawn: DrawnEdge, words: string | undefined): void {
    if (words === undefined) {
      drawn.hint?.remove();
      drawn.hint = null;
      return;
    }
    if (drawn.hint === null) {
      drawn.hint = svg("path", drawn.el, { class: "tft-hint", d: drawn.line.getAttribute("d") ?? "" });
      svg("title", drawn.hint);
    }
    drawn.hint.firstElementChild!.textContent = words;
  }

  /** Draws lines on top, for edges that the layout leaves out. */
  drawOverlay(lines: { from: SceneNode; to: SceneNode; kind: string }[]): void {
    this.overlay.replaceChildren();
    const g = svg("g", this.overlay, { transform: this.world.getAttribute("transform") ?? "" });
    for (const { from, to, kind } of lines) {
      const right = to.x >= from.x;
      const a: Point = [from.x + (from.w / 2) * (right ? 1 : -1), from.y];
      const b: Point = [to.x + (to.w / 2) * (right ? -1 : 1), to.y];
      const bend = Math.max(40, Math.abs(b[0] - a[0]) / 2) * (right ? 1 : -1);
      svg("path", g, {
        class: `tft-over tft-${kind}`,
        d: `M${a[0]},${a[1]}C${a[0] + bend},${a[1]} ${b[0] - bend},${b[1]} ${b[0]},${b[1]}`,
      });
      svg("path", g, { class: "tft-over-head", d: `${headPath(b, [b[0] - bend, b[1]], 8)}Z` });
    }
  }

  #layer(depth: number): Layer {
    while (this.#layers.length <= depth) {
      const g = svg("g", this.world);
      const [areas, edges, nodes, labels] = [svg("g", g), svg("g", g), svg("g", g), svg("g", g)];
      this.#layers.push({ areas, edges, nodes, labels });
    }
    return this.#layers[depth]!;
  }

  #drawAreas(scene: Scene): void {
    for (const layer of this.#layers) layer.areas.replaceChildren();
    for (const area of scene.areas) this.#drawArea(area);
  }

  #drawArea(area: SceneArea): void {
    const g = svg("g", this.#layer(area.depth).areas, { class: `tft-area tft-area-${area.lane}` });
    svg("rect", g, { x: `${area.x}`, y: `${area.y}`, width: `${area.w}`, height: `${area.h}`, rx: "12" });
    svg("text", g, { x: `${area.x + 12}`, y: `${area.y + 17}` }).textContent =
      area.lane === "training" ? "TRAINING" : "SET ASIDE";
    svg("title", g).textContent =
      area.lane === "training"
        ? "Gradients and optimizers stand apart from the model; select a box to see its edges."
        : "Joined to nearly everything, so drawn apart; select a box to see its edges.";
  }

  #drawNodes(scene: Scene, before: Scene | null, move: boolean): void {
    const fresh: SceneNode[] = [];
    for (const [id, drawn] of this.nodes) {
      if (!scene.byId.has(id)) {
        drawn.el.remove();
        drawn.title.remove();
        this.nodes.delete(id);
      }
    }
    for (const item of scene.nodes) {
      const drawn = this.nodes.get(item.id);
      if (drawn === undefined) fresh.push(item);
      else {
        drawn.from = { ...drawn.now };
        drawn.item = item;
        const layer = this.#layer(item.depth).nodes;
        if (drawn.el.parentNode !== layer) layer.appendChild(drawn.el);
        this.#fill(drawn);
      }
    }
    for (const item of fresh) this.nodes.set(item.id, this.#create(item, scene, before, move));
  }

  #create(item: SceneNode, scene: Scene, before: Scene | null, move: boolean): DrawnNode {
    const el = svg("g", this.#layer(item.depth).nodes, { role: "button", tabindex: "-1" });
    el.dataset.id = item.id;
    const drawn: DrawnNode = {
      el,
      shape: svg("path", el, { class: "tft-shape" }),
      mark: null,
      title: svg("text", el, { class: "tft-title" }),
      subtitle: svg("text", el, { class: "tft-subtitle" }),
      extra: svg("g", el, { class: "tft-extra" }),
      shapeKey: "",
      extraKey: "",
      touched: false,
      now: { ...item },
      from: { ...item },
      item,
    };
    if (move && before !== null) {
      // Nodes that were inside a closed box emerge from it; new ones appear in place.
      const home = before.boxOf.get(item.node.members[0] ?? -1);
      const opened = home !== undefined && scene.byId.get(home.id)?.open === true;
      if (opened) drawn.from = drawn.now = { x: home.x, y: home.y, w: item.w, h: item.h };
      else {
        el.classList.add("tft-born");
        // Once only: a new theme, or moving the view within the page, would restart the animation.
        setTimeout(() => el.classList.remove("tft-born"), 1000);
      }
    }
    this.#fill(drawn);
    return drawn;
  }

  #fill(drawn: DrawnNode): void {
    const { style } = drawn.item;
    drawn.title.textContent = style.title;
    // An open box's name is drawn above the lines that cross the box.
    const { open, depth } = drawn.item;
    const home = open ? this.#layer(depth + 1).labels : drawn.el;
    if (drawn.title.parentNode !== home) home.insertBefore(drawn.title, open ? null : drawn.subtitle);
    drawn.title.setAttribute("class", open ? "tft-title tft-open-title" : "tft-title");
    if (!open) drawn.title.removeAttribute("transform");
    drawn.subtitle.textContent = drawn.item.open ? "" : style.subtitle;
    drawn.el.setAttribute("aria-expanded", `${drawn.item.open}`);
    if (drawn.item.node.kind === "op") drawn.el.removeAttribute("aria-expanded");
  }

  #drawExtras(drawn: DrawnNode, badges: Badge[]): void {
    const { item, extra } = drawn;
    const key = `${badges.map(({ text }) => text).join()}|${item.open}|${item.w}|${item.h}|${item.style.glyph}`;
    if (drawn.extraKey === key) return;
    drawn.extraKey = key;
    extra.replaceChildren();
    if (item.node.kind !== "op") drawToggle(extra, item);
    drawBadges(extra, item, badges, this.#measure);
    if (drawn.touched) drawFetcher(extra, item);
  }

  /** Adds the fetch button when first needed: only one box shows it at a time. */
  #touch(drawn: DrawnNode): void {
    if (drawn.touched) return;
    drawn.touched = true;
    drawFetcher(drawn.extra, drawn.item);
  }

  #drawEdges(scene: Scene, move: boolean): void {
    const ids = new Set(scene.edges.map((e) => e.id));
    for (const [id, drawn] of this.#edges) {
      if (!ids.has(id)) {
        drawn.el.remove();
        this.#edges.delete(id);
      }
    }
    for (const item of scene.edges) {
      let drawn = this.#edges.get(item.id);
      if (drawn === undefined) {
        const layer = this.#layer(item.depth);
        const el = svg("g", layer.edges);
        drawn = {
          el,
          line: svg("path", el, { class: "tft-line" }),
          head: null,
          hint: null,
          now: item.points,
          from: item.points,
          item,
        };
        el.dataset.edge = item.id;
        if (move) {
          el.animate([{ opacity: 0 }, { opacity: 0, offset: 0.5 }, { opacity: 1 }], { duration: MOVE_MS * 1.3 });
        }
        this.#edges.set(item.id, drawn);
      } else {
        drawn.from = resample(drawn.now, item.points.length);
        drawn.item = item;
      }
    }
  }

  #start(): void {
    cancelAnimationFrame(this.#frame);
    const began = performance.now();
    const tick = (now: number): void => {
      const t = Math.min(1, (now - began) / MOVE_MS);
      this.#step(t < 0.5 ? 4 * t ** 3 : 1 - (-2 * t + 2) ** 3 / 2);
      if (t < 1) this.#frame = requestAnimationFrame(tick);
    };
    this.#step(0);
    this.#frame = requestAnimationFrame(tick);
  }

  #step(t: number): void {
    const mix = (a: number, b: number): number => a + (b - a) * t;
    for (const drawn of this.nodes.values()) {
      const { from, item } = drawn;
      const now = { x: mix(from.x, item.x), y: mix(from.y, item.y), w: mix(from.w, item.w), h: mix(from.h, item.h) };
      drawn.now = now;
      const transform = `translate(${now.x.toFixed(1)},${now.y.toFixed(1)})`;
      drawn.el.setAttribute("transform", transform);
      if (item.open) drawn.title.setAttribute("transform", transform);
      this.#shape(drawn, now);
    }
    for (const drawn of this.#edges.values()) {
      const { from, item } = drawn;
      const points =
        t >= 1 ? item.points : item.points.map(([x, y], i): Point => [mix(from[i]![0], x), mix(from[i]![1], y)]);
      drawn.now = points;
      this.#shapeEdge(drawn, points);
    }
  }

  #shape(drawn: DrawnNode, { w, h }: Rect): void {
    const { item } = drawn;
    const { glyph, title, subtitle } = item.style;
    const key = `${w.toFixed(1)},${h.toFixed(1)},${item.open},${glyph},${title},${subtitle}`;
    if (drawn.shapeKey === key) return;
    drawn.shapeKey = key;
    const paths = glyphPaths(glyph, w, h, item.open, this.#measure(subtitle, SUBTITLE_PX, false));
    drawn.shape.setAttribute("d", paths.shape);
    if (paths.mark !== "" && drawn.mark === null) {
      drawn.mark = svg("path", null, { class: "tft-mark" });
      drawn.shape.after(drawn.mark);
    }
    drawn.mark?.setAttribute("d", paths.mark);
    const at = (el: SVGTextElement, x: number, y: number): void => {
      el.setAttribute("x", x.toFixed(1));
      el.setAttribute("y", y.toFixed(1));
    };
    if (item.open) at(drawn.title, -w / 2 + 14, -h / 2 + 20);
    else if (glyph === "const") {
      at(drawn.title, 0, -h / 2 + 10.5);
      at(drawn.subtitle, 0, h / 2 - CONST_PILL_H / 2 + SUBTITLE_PX * 0.35);
    } else {
      const drum = glyph === "variable" ? 4 : 0;
      at(drawn.title, 0, subtitle === "" ? TITLE_PX * 0.35 : -2 + drum);
      at(drawn.subtitle, 0, 12.5 + drum);
    }
  }

  #shapeEdge(drawn: DrawnEdge, points: Point[]): void {
    const { item } = drawn;
    const tip = points.at(-1)!;
    const first = points[0]!;
    const before: Point = item.back ? points.at(-2)! : [tip[0], tip[1] + (tip[1] >= first[1] ? -10 : 10)];
    const end: Point = item.arrow
      ? [tip[0], tip[1] + Math.sign(before[1] - tip[1]) * (item.kind === "control" ? 1 : 4)]
      : tip;
    const d = item.back ? cornerPath(points) : linePath([...points.slice(0, -1), end]);
    drawn.line.setAttribute("d", d);
    drawn.hint?.setAttribute("d", d);
    const head = item.arrow ? headPath(tip, before) + (item.kind === "control" ? "" : "Z") : "";
    const ring =
      item.kind === "reference" && item.starts ? `M${first[0] - 3},${first[1] + 3}a3,3 0 1 0 6,0a3,3 0 1 0 -6,0z` : "";
    if (head + ring !== "") drawn.head ??= svg("path", drawn.el, { class: "tft-head" });
    drawn.head?.setAttribute("d", head + ring);
  }
}
