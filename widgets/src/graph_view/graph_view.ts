import { Cleanup } from "../base/cleanup";
import { onChange, update } from "../kernel/traits";
// The graph view: holds what is open, selected and fetched, and keeps page and kernel in step.

import { button, focusNear } from "../base/elements";
import { digits } from "../base/format";
import { Working } from "../base/progress";
import type { Steps } from "../base/time_slices";
import { Canvas } from "../drawing/canvas";
import { listen } from "../drawing/canvas_input";
import { likeness, makeMarks, missingLines } from "../drawing/node_marks";
import type { GraphTraits } from "../kernel/graph_messages";
import { shareSelection } from "../kernel/shared_selection";
import type { Traits } from "../kernel/traits";
import type { Measure } from "../layout/box_style";
import type { Scene } from "../layout/scene";
import { depthSteps, emptyScene, opensByLevel, sceneSteps } from "../layout/scene";
import type { LayoutCache, LayoutOptions } from "../layout/scope_layout";
import { makeMeasure } from "../layout/text_width";
import type { GraphModel, Node as GraphNode, Op } from "../model/graph";
import { Source } from "../model/graph_source";
import type { Highlight } from "../model/highlight";
import { highlight } from "../model/highlight";
import { fetchName, splitName } from "../model/prune";
import { waves } from "../model/pruning_reasons";
import { grouped } from "../model/series";
import type { PanelHost } from "../panels/panel_host";
import { Search } from "../panels/search";
import { Panels } from "../panels/side_panels";
import type { ViewFrame } from "../panels/toolbar";
import { buildFrame, showStatus } from "../panels/toolbar";
import type { Extensions } from "./extensions";

export class GraphView implements PanelHost {
  readonly model: GraphModel;
  readonly frame: ViewFrame;
  readonly canvas: Canvas;
  private readonly cache: LayoutCache = new Map();
  private readonly likenessKnown = new Map<string, number>();
  private readonly measure: Measure = makeMeasure();
  private readonly cleanup = new Cleanup();
  private expanded = new Set<string>();
  /** Whether somebody chose what is open; until then a growing graph opens to its depth. */
  private chosen = false;
  private readonly source: Source;
  private readonly work: Working;
  private readonly panels: Panels;
  /** What is drawn; empty while a large graph is being read. */
  scene = emptyScene();
  /** What was open, and whether somebody chose that, in the picture that is drawn. */
  private drawn = { expanded: new Set<string>(), chosen: false };
  /** What the run needs, up to `wave` steps back from the fetches. */
  light!: Highlight;
  private wave: number | null = null;
  private colours = new Map<string, number>();
  private hovered: string | null = null;
  private readonly search: Search;
  userMoved = false;
  private timer = 0;
  private settling = 0;
  private width = 0;
  /** How tall this picture wants to be; beside another it may stand in more. */
  tall = 0;
  /** Draws the picture that nobody could see yet. */
  private draw: ((moves: boolean) => void) | null = null;
  private lastDrawMs = 0;

  constructor(
    private readonly traits: Traits<GraphTraits>,
    parent: HTMLElement,
    private readonly extensions: Extensions = {},
  ) {
    this.frame = buildFrame(parent, {
      fit: () => this.fit(),
      zoom: (factor) => this.zoom(factor),
      expandAll: () => this.expandLevel(),
      collapseAll: () => this.setExpanded(new Set()),
      outline: () => this.panels.toggleOutline(),
      legend: () => this.setHeight(),
    });
    const still = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.canvas = new Canvas(this.frame.stage, this.measure, () => still.matches);
    this.canvas.least = extensions.least ?? this.canvas.least;
    this.canvas.el.setAttribute(
      "aria-label",
      "Graph. Arrow keys move between boxes, Enter opens one, f fetches, slash searches.",
    );
    this.source = new Source(traits);
    this.model = this.source.model;
    this.panels = new Panels(this, traits, extensions.details);
    this.work = new Working(this.frame.stage, () => this.stopped());
    this.light = this.look();
    this.search = new Search(this.frame, this.model, {
      changed: () => this.canvas.mark(this.marks()),
      take: (index) => this.goTo(index),
      back: () => this.canvas.el.focus({ preventScroll: true }),
    });
    const known = traits.get("expanded");
    if (known !== null) [this.expanded, this.chosen] = [new Set(known), true];
    this.connect();
    this.showCounts();
    this.frame.empty.hidden = traits.get("_ops").rows.length > 0;
    this.redraw(false, false, () => {
      this.frame.root.dataset.firstMs = this.lastDrawMs.toFixed(0); // for who wonders why a page is slow
      if (traits.get("selected") !== "") queueMicrotask(() => this.showSelected()); // once the view around this one is made
    });
  }

  destroy(): void {
    clearTimeout(this.timer);
    clearTimeout(this.settling);
    this.work.drop();
    this.cleanup.end();
    this.frame.root.remove();
  }

  // --- the kernel's side ---

  private connect(): void {
    const { traits } = this;
    this.cleanup.add(
      onChange(traits, ["_batches"], () => this.grow()),
      onChange(traits, ["fetches", "feeds"], () => this.remark()),
      onChange(traits, ["stopped_at"], () => this.showCounts()),
      onChange(traits, ["expanded"], () => this.followExpanded()),
      onChange(traits, ["selected"], () => this.showSelected()),
      onChange(traits, ["depth"], () => {
        this.chosen = false;
        this.redraw(true);
      }),
      onChange(traits, ["aside", "inline", "labels", "group_above"], () => this.redraw(true)),
      shareSelection(traits, () => this.canvas.reveal(this.shown())),
      listen(this.canvas, {
        select: (id) => {
          if (id === null || this.extensions.click?.(id) !== true) this.select(id ?? "");
        },
        toggleOpen: (id) => this.toggleOpen(id),
        toggleFetch: (id) => this.toggle("fetches", this.opAt(id), id),
        toggleFeed: (id) => this.toggle("feeds", this.opAt(id), id),
        hover: (id) => this.hover(id),
        key: (key) => this.extensions.key?.(key, this.traits.get("selected")) === true,
        search: () => this.search.focus(),
        escape: () => this.escape(),
        moved: () => this.moved(),
        fit: () => this.fit(),
        selected: () => this.traits.get("selected"),
        visible: () => this.scene.nodes,
      }),
    );
    this.cleanup.onResize(this.frame.stage, () => this.resized());
  }

  private followExpanded(): void {
    const ids = this.traits.get("expanded");
    const same = ids !== null && ids.length === this.expanded.size && ids.every((id) => this.expanded.has(id));
    if (same) return;
    [this.expanded, this.chosen] = [new Set(ids ?? []), ids !== null];
    this.redraw(true);
  }

  private grow(): void {
    if (this.timer !== 0) return;
    // A large picture takes its time; growth then comes in larger steps instead of freezing the page.
    this.timer = window.setTimeout(
      () => {
        this.timer = 0;
        const before = this.model.ops.length;
        if (this.work.busy) return this.grow(); // one picture after the other, or none would ever be ready
        if (this.source.take()) this.redraw(true, true);
        else this.showCounts();
        const more = this.model.ops.length - before;
        if (more > 0) this.say(`${more} ops added, ${this.model.ops.length} in all`);
      },
      Math.max(30, this.lastDrawMs * 3),
    );
  }

  private save(key: "fetches" | "feeds", names: string[]): void {
    update(this.traits, key === "fetches" ? { fetches: names } : { feeds: names });
    this.remark();
  }

  // --- drawing ---

  private options(): LayoutOptions {
    return {
      expanded: this.expanded,
      measure: this.measure,
      groupAbove: this.traits.get("group_above"),
      rules: { aside: new Set(this.traits.get("aside")), inline: new Set(this.traits.get("inline")) },
      labels: this.traits.get("labels"),
    };
  }

  /** Works out the picture anew, in slices if that takes long; `then` is called when it is there. */
  private redraw(animate: boolean, grown = false, then: () => void = () => undefined): void {
    const began = performance.now();
    this.work.start(
      `${digits(this.traits.get("_ops").rows.length)} ops: working out the picture …`,
      this.steps(),
      (scene) => {
        this.show(scene, animate, grown);
        this.lastDrawMs = performance.now() - began;
        then();
      },
    );
  }

  private *steps(): Steps<Scene> {
    yield* this.source.read();
    const options = this.options();
    if (!this.chosen) this.expanded = yield* depthSteps(this.model, options, this.traits.get("depth"));
    return yield* sceneSteps(this.model, { ...options, expanded: this.expanded }, this.cache);
  }

  /** Somebody would not wait: back to what is drawn. */
  private stopped(): void {
    const isFirst = this.scene.nodes.length === 0;
    [this.expanded, this.chosen] = [this.drawn.expanded, this.drawn.chosen];
    if (this.chosen) {
      update(this.traits, { expanded: [...this.expanded] });
    }
    this.say("Stopped");
    if (!isFirst) return;
    this.frame.empty.replaceChildren(
      "Stopped. ",
      button("Draw the graph", "Work out the picture after all", () => this.redraw(false)),
    );
    this.frame.empty.hidden = false;
  }

  private show(scene: Scene, animate: boolean, grown: boolean): void {
    this.scene = scene;
    this.drawn = { expanded: this.expanded, chosen: this.chosen };
    this.colours = likeness(this.model, this.scene.nodes, this.likenessKnown);
    this.light = this.look();
    if (grown) this.extensions.grown?.();
    this.extensions.before?.(this);
    const newest = grown ? (this.scene.boxOf.get(this.model.ops.length - 1)?.id ?? null) : null;
    this.frame.empty.hidden = this.model.ops.length > 0;
    this.setHeight();
    this.draw = (moves) => {
      this.draw = null;
      this.canvas.draw(this.scene, this.marks(), moves, () => {
        if (!this.userMoved) this.canvas.rest(newest);
      });
    };
    // Out of sight: once it is there, it has a size to be drawn for.
    if (this.canvas.size().width > 0) this.draw(animate);
    this.afterMarks();
    this.extensions.drawn?.();
  }

  /** How many steps back from the fetches the farthest needed op lies. */
  depthOfRun(): number {
    const light = highlight(this.model, this.traits.get("fetches"), this.traits.get("feeds"));
    return Math.max(0, ...waves(this.model, light).values());
  }

  /** Shows only what a run has found that many steps back from its fetches; null for all. */
  showWave(wave: number | null): void {
    this.wave = wave;
    this.remark();
  }

  private look(): Highlight {
    const light = highlight(this.model, this.traits.get("fetches"), this.traits.get("feeds"));
    if (this.extensions.isRun === true) return { ...light, active: false };
    if (this.wave === null) return light;
    const reached = [...waves(this.model, light)].filter(([, step]) => step <= this.wave!).map(([index]) => index);
    return { ...light, needed: new Set(reached) };
  }

  remark(): void {
    this.light = this.look();
    this.extensions.before?.(this);
    this.canvas.mark(this.marks());
    this.afterMarks();
    if (this.light.active) this.say(`${this.light.needed.size} of ${this.model.ops.length} ops run`);
  }

  private afterMarks(): void {
    this.extensions.marked?.();
    this.showCounts();
    this.drawFocus();
    this.panels.fill();
  }

  private marks(): ReturnType<typeof makeMarks> {
    const marks = makeMarks(this.model, this.light, this.focus(), this.shown(), this.search.matches, this.colours);
    const { decorate, edge, edgeNote } = this.extensions;
    return {
      node: decorate === undefined ? marks.node : (node) => decorate(node, marks.node(node)),
      edge: edge === undefined ? marks.edge : (line) => edge(line, marks.edge(line)),
      ...(edgeNote === undefined ? {} : { edgeNote }),
    };
  }

  /** As tall as the picture asks for, within what a notebook can bear; it grows but never shrinks under the reader. */
  private setHeight(anew = false): void {
    const fixed = this.traits.get("height");
    const scale = Math.min(1, (this.frame.stage.clientWidth || 900) / (this.scene.w + 44));
    const now = anew ? 0 : parseFloat(this.frame.stage.style.height) || 0;
    const { legend, details } = this.frame;
    const panels = Math.max(details.hidden ? 0 : 380, legend.hidden ? 0 : legend.offsetHeight + 20);
    const wanted = fixed > 0 ? fixed : Math.max(now, panels, Math.min(680, Math.max(240, this.scene.h * scale + 44)));
    this.tall = wanted;
    if (wanted === now) return;
    this.frame.stage.style.height = `${wanted}px`;
    this.canvas.resized();
  }

  /** A panel at the side takes room. What was just clicked stays in place, at least as long as a second click may follow. */
  private resized(): void {
    const narrower = this.frame.stage.clientWidth < this.width;
    this.canvas.resized();
    const first = this.width === 0;
    this.width = this.frame.stage.clientWidth;
    clearTimeout(this.settling);
    if (first && this.width > 0) {
      this.setHeight(true); // so far its width was a guess
      this.draw?.(false);
      this.extensions.drawn?.();
    } else if (this.draw !== null && this.canvas.size().width > 0) {
      this.draw(false);
      this.extensions.drawn?.();
      return;
    }
    if (this.userMoved || (narrower && this.canvas.showsAll())) return;
    if (first) this.canvas.rest(null);
    else
      this.settling = window.setTimeout(
        () => {
          if (!this.userMoved) this.canvas.glide(() => this.canvas.rest(null));
        },
        narrower ? 450 : 60,
      );
  }

  private showCounts(): void {
    const fetches = this.traits.get("fetches");
    const feeds = this.traits.get("feeds");
    showStatus(
      this.frame.status,
      {
        ops: this.model.ops.length,
        scopes: this.model.scopes.size - 1,
        runs: this.source.runs,
        needed: this.light.active ? this.light.needed.size : null,
        since: this.source.opsAtFirstRun >= 0 ? this.model.ops.length - this.source.opsAtFirstRun : 0,
        crowded: this.scene.crowded,
        stopped: this.traits.get("stopped_at"),
        fetches,
        feeds,
        unknown: this.light.unknown.concat(feeds.filter((f) => !this.model.byName.has(splitName(f)[0]))),
      },
      {
        dropFetch: (name) =>
          this.save(
            "fetches",
            fetches.filter((n) => n !== name),
          ),
        dropFeed: (name) =>
          this.save(
            "feeds",
            feeds.filter((n) => n !== name),
          ),
      },
    );
  }

  say(text: string): void {
    this.frame.live.textContent = text;
  }

  // --- what is looked at ---

  private focus(): Set<number> | null {
    const id = this.hovered ?? this.shown();
    const node = this.scene.byId.get(id);
    // An open box is everything inside: lighting all of that says nothing.
    return node === undefined || node.open ? null : new Set(node.node.members);
  }

  private drawFocus(): void {
    const focus = this.focus();
    this.canvas.drawOverlay(
      focus === null ? [] : missingLines(this.scene.cut, focus, this.scene.boxOf, this.scene.byId),
    );
  }

  private hover(id: string | null): void {
    if (id === this.hovered) return;
    this.hovered = id;
    this.extensions.hovered?.(id);
    this.canvas.mark(this.marks());
    this.drawFocus();
  }

  select(id: string): void {
    update(this.traits, { selected: id });
    this.showSelected();
  }

  private showSelected(): void {
    const id = this.traits.get("selected");
    const found = this.nodeOf(id);
    this.frame.details.hidden = found === undefined;
    this.canvas.resized();
    this.canvas.mark(this.marks());
    this.drawFocus();
    if (found === undefined) return;
    this.setHeight();
    this.panels.fillDetails();
    const drawn = this.canvas.nodes.get(this.shown());
    // Screen readers follow the focus, not a class.
    if (this.canvas.el.contains(focusNear(this.canvas.el))) drawn?.el.focus({ preventScroll: true });
  }

  /** The box in the picture that is what is selected, or hides it; "" without one. */
  private shown(): string {
    const id = this.traits.get("selected");
    const hidden = this.scene.byId.has(id) ? undefined : this.nodeOf(id)?.members[0];
    return hidden === undefined ? id : (this.scene.boxOf.get(hidden)?.id ?? "");
  }

  /** The box of an id, also of a plain name that Python sets. */
  nodeOf(id: string): GraphNode | undefined {
    if (id === "") return undefined;
    const index = this.model.byName.get(splitName(id)[0]);
    return (
      this.scene.byId.get(id)?.node ??
      this.model.scopes.get(id) ??
      (index === undefined ? undefined : this.model.ops[index]!.node)
    );
  }

  private opAt(id: string): Op | undefined {
    const node = this.nodeOf(id);
    return node === undefined ? undefined : this.model.opOf(node);
  }

  private toggle(key: "fetches" | "feeds", op: Op | undefined, id: string): void {
    if (op === undefined) this.say(`${id.replace(/\/$/, "")} is no op: open it and choose one inside`);
    else if (key === "fetches") this.toggleName(key, fetchName(op));
    else if (op.outputs.length > 0) this.toggleName(key, `${op.name}:0`);
    else this.say(`${op.name} has no output to feed`);
  }

  toggleName(key: "fetches" | "feeds", name: string): void {
    const names = this.traits.get(key);
    const [op] = splitName(name);
    const others = names.filter((n) => splitName(n)[0] !== op);
    this.save(key, others.length < names.length ? others : [...names, name]);
  }

  // --- opening and closing ---

  isOpen(id: string): boolean {
    return this.expanded.has(id);
  }

  toggleOpen(id: string): void {
    const node = this.nodeOf(id);
    if (node === undefined) return;
    if (node.kind === "op") {
      this.select(id);
      return;
    }
    const next = new Set(this.expanded);
    if (!next.delete(id)) next.add(id);
    this.setExpanded(next, () => {
      if (this.userMoved) this.canvas.reveal(id);
    });
  }

  setExpanded(ids: Set<string>, then: () => void = () => undefined): void {
    this.expanded = ids;
    this.chosen = true;
    update(this.traits, { expanded: [...ids] });
    this.redraw(true, false, then);
  }

  private expandLevel(): void {
    const closed = this.scene.nodes.filter((n) => opensByLevel(n));
    const top = Math.min(...closed.map((n) => n.depth));
    const next = new Set(this.expanded);
    for (const n of closed) if (n.depth === top) next.add(n.id);
    this.setExpanded(next);
  }

  /** Opens what hides an op, selects it and brings it into view. */
  goTo(index: number): void {
    const next = new Set(this.expanded);
    const above = this.traits.get("group_above");
    let scope = this.model.root;
    let box: GraphNode | undefined;
    for (;;) {
      box = grouped(this.model, scope, above).find((n) => n.members.includes(index));
      if (box === undefined || box.kind === "op") break;
      next.add(box.id);
      scope = box;
    }
    const { id } = box ?? {};
    const show = (): void => {
      if (id === undefined) return;
      this.userMoved = true;
      this.select(id); // first: its details take room
      this.canvas.reveal(id, true);
    };
    if (next.size === this.expanded.size) show();
    else this.setExpanded(next, show);
  }

  // --- the frame ---

  fit(): void {
    this.userMoved = false;
    this.canvas.fit();
  }

  /** Somebody chose what is in sight: growth then leaves it there. */
  moved(): void {
    this.userMoved = true;
  }

  private zoom(factor: number): void {
    const { width, height } = this.canvas.size();
    this.userMoved = true;
    this.canvas.zoom(factor, width / 2, height / 2);
  }

  private escape(): void {
    if (this.work.stop() || this.extensions.escape?.() === true) return;
    if (!this.frame.legend.hidden) this.frame.legend.hidden = true;
    else this.select("");
  }
}
