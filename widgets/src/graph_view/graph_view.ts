// The graph view: draws its state and handles the reader's actions; other views extend it.
import { batch, effect, signal, untracked } from "@preact/signals-core";
import { Cleanup } from "../base/cleanup";
import { button, focusNear } from "../base/elements";
import { digits } from "../base/format";
import { LayoutProgress } from "../base/progress";
import type { Steps } from "../base/time_slices";
import type { Marks } from "../drawing/canvas";
import { Canvas } from "../drawing/canvas";
import { listenToCanvas } from "../drawing/canvas_input";
import { GraphState } from "../drawing/graph_state";
import { makeMarks, missingLines } from "../drawing/node_marks";
import type { GraphTraits } from "../kernel/graph_messages";
import { shareSelection } from "../kernel/shared_selection";
import type { Traits } from "../kernel/traits";
import { onChange } from "../kernel/traits";
import type { Measure } from "../layout/box_style";
import type { Scene } from "../layout/scene";
import { depthSteps, emptyScene, opensByLevel, sceneSteps } from "../layout/scene";
import type { LayoutCache, LayoutOptions } from "../layout/scope_layout";
import { NO_NOTES } from "../layout/scope_layout";
import { makeMeasure } from "../layout/text_width";
import type { GraphModel, Node as GraphNode, Op } from "../model/graph";
import { GraphSource } from "../model/graph_source";
import type { Highlight } from "../model/highlight";
import { fetchName, splitName } from "../model/prune";
import { grouped } from "../model/series";
import type { PanelHost } from "../panels/panel_host";
import { Search } from "../panels/search";
import { SidePanels } from "../panels/side_panels";
import type { ViewFrame } from "../panels/toolbar";
import { buildFrame, showStatus } from "../panels/toolbar";
import type { Extensions } from "./extensions";

export class GraphView implements PanelHost {
  readonly #traits: Traits<GraphTraits>;
  readonly #extensions: Extensions;
  readonly model: GraphModel;
  readonly state: GraphState;
  readonly frame: ViewFrame;
  readonly canvas: Canvas;
  readonly #cache: LayoutCache = new Map();
  readonly #measure: Measure = makeMeasure();
  readonly #cleanup = new Cleanup();
  readonly #source: GraphSource;
  readonly #work: LayoutProgress;
  readonly #panels: SidePanels;
  readonly #search: Search;
  /** The canvas is visible, so it has a size to draw for. */
  readonly #visible = signal(false);
  /** The layout on the canvas, and the expansion of the last one computed. */
  #drawn = emptyScene();
  #laidOut = { ids: new Set() as ReadonlySet<string>, chosen: false };
  /** How the next picture appears: animated or not, and scrolled to the newest op or not. */
  #entry: { animate: boolean; newest: string | null } = { animate: false, newest: null };
  userMoved = false;
  #timer = 0;
  #settling = 0;
  #width = 0;
  /** The height that this picture needs; beside another it may get more. */
  tall = 0;
  #lastDrawMs = 0;

  constructor(traits: Traits<GraphTraits>, parent: HTMLElement, extensions: Extensions = {}) {
    this.#traits = traits;
    this.#extensions = extensions;

    this.frame = buildFrame(parent, {
      fit: () => this.fit(),
      zoom: (factor) => this.#zoom(factor),
      expandAll: () => this.#expandLevel(),
      collapseAll: () => this.setExpanded(new Set()),
      outline: () => this.#panels.toggleOutline(),
      legend: () => this.#setHeight(),
    });
    const still = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.canvas = new Canvas(this.frame.stage, this.#measure, () => still.matches);
    this.canvas.least = extensions.least ?? this.canvas.least;
    this.canvas.el.setAttribute(
      "aria-label",
      "Graph. Arrow keys move between boxes, Enter opens one, f fetches, slash searches.",
    );
    this.#source = new GraphSource(traits);
    this.model = this.#source.model;
    this.state = new GraphState(this.model, traits, this.#cleanup, extensions.isRun === true);
    this.#panels = new SidePanels(this, traits, extensions.details, extensions.isRecord === true);
    this.#work = new LayoutProgress(this.frame.stage, () => this.#stopped());
    this.#search = new Search(this.frame, this.model, {
      found: (ops) => {
        this.state.matches.value = ops;
      },
      take: (index) => this.goTo(index),
      back: () => this.canvas.el.focus({ preventScroll: true }),
    });
    if (extensions.isRun === true) this.frame.empty.textContent = "No op is left to run.";
    this.frame.empty.hidden = traits.get("_ops").rows.length > 0;
  }

  /** Draws the graph for the first time, once the view around this one is complete. */
  start(): void {
    this.#connect();
    this.#render();
    this.#redraw(false, false, () => {
      this.frame.root.dataset.firstMs = this.#lastDrawMs.toFixed(0); // for diagnosing slow pages
      this.#showSelected();
    });
  }

  destroy(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#settling);
    this.#work.drop();
    this.#cleanup.end();
    this.frame.root.remove();
  }

  /** The current layout. */
  get scene(): Scene {
    return this.state.scene.value;
  }

  get light(): Highlight {
    return this.state.highlight.value;
  }

  // --- events ---

  #connect(): void {
    const traits = this.#traits;
    const { state } = this;
    this.#cleanup.add(
      onChange(traits, ["_batches"], () => this.#grow()),
      onChange(traits, ["expanded"], () => {
        if (state.readExpanded()) this.#redraw(true);
      }),
      onChange(traits, ["depth"], () => {
        state.forgetChoice();
        this.#redraw(true);
      }),
      onChange(traits, ["aside", "inline", "labels", "group_above"], () => this.#redraw(true)),
      shareSelection(traits, () => this.canvas.reveal(state.selectedBox.value)),
    );
    listenToCanvas(
      this.canvas,
      {
        select: (id) => {
          if (id === null || this.#extensions.click?.(id) !== true) this.select(id ?? "");
        },
        toggleOpen: (id) => this.toggleOpen(id),
        toggleFetch: (id) => this.#toggle("fetches", this.#opAt(id), id),
        toggleFeed: (id) => this.#toggle("feeds", this.#opAt(id), id),
        hover: (id) => {
          state.hovered.value = id;
        },
        key: (key) => this.#extensions.key?.(key, state.selected.value) === true,
        search: () => this.#search.focus(),
        escape: () => this.#escape(),
        moved: () => this.moved(),
        fit: () => this.fit(),
        selected: () => state.selected.value,
        visible: () => this.scene.nodes,
      },
      this.#cleanup,
    );
    this.#cleanup.onResize(this.frame.stage, () => this.#resized());
  }

  #grow(): void {
    if (this.#timer !== 0) return;
    // Large pictures take long: growth is then shown in larger steps instead of freezing the page.
    const wait = Math.max(30, this.#lastDrawMs * 3);
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
      const before = this.model.ops.length;
      if (this.#work.busy) return this.#grow(); // one layout at a time, or none would ever finish
      if (this.#source.take()) this.#redraw(true, true);
      const more = this.model.ops.length - before;
      if (more > 0) this.say(`${more} ops added, ${this.model.ops.length} in all`);
    }, wait);
  }

  // --- layout ---

  #options(): LayoutOptions {
    return {
      expanded: this.state.expansion.peek().ids,
      measure: this.#measure,
      groupAbove: this.#traits.get("group_above"),
      rules: {
        aside: new Set(this.#traits.get("aside")),
        inline: new Set(this.#traits.get("inline")),
        devices: this.#extensions.devices !== undefined,
      },
      labels: this.#traits.get("labels"),
      note: this.#extensions.longestNote ?? NO_NOTES,
      devices: this.#extensions.devices,
    };
  }

  /** Computes a new layout, in slices if that takes long; `then` is called when it is drawn. */
  #redraw(animate: boolean, grown = false, then: () => void = () => undefined): void {
    const began = performance.now();
    const count = digits(this.#traits.get("_ops").rows.length);
    this.#work.start(`${count} ops: working out the picture …`, this.#steps(), (scene) => {
      this.#show(scene, animate, grown);
      this.#lastDrawMs = performance.now() - began;
      then();
    });
  }

  *#steps(): Steps<Scene> {
    yield* this.#source.read();
    const options = this.#options();
    this.model.setAside = options.rules.aside;
    const { expansion } = this.state;
    if (!expansion.peek().chosen) {
      expansion.value = { ids: yield* depthSteps(this.model, options, this.#traits.get("depth")), chosen: false };
    }
    const scene = yield* sceneSteps(this.model, { ...options, expanded: expansion.peek().ids }, this.#cache);
    this.#extensions.devices?.complete(scene);
    return scene;
  }

  /** The reader stopped the layout: back to the drawn state. */
  #stopped(): void {
    const isFirst = this.scene.nodes.length === 0;
    this.state.restore(this.#laidOut);
    this.say("Stopped");
    if (!isFirst) return;
    this.frame.empty.replaceChildren(
      "Stopped. ",
      button("Draw the graph", "Work out the picture after all", () => this.#redraw(false)),
    );
    this.frame.empty.hidden = false;
  }

  #show(scene: Scene, animate: boolean, grown: boolean): void {
    this.#laidOut = this.state.expansion.peek();
    const newest = grown ? (scene.boxOf.get(this.model.ops.length - 1)?.id ?? null) : null;
    this.#entry = { animate, newest };
    this.frame.empty.hidden = this.model.ops.length > 0;
    this.#setHeight(false, scene);
    batch(() => {
      this.#visible.value = this.canvas.size().width > 0;
      this.state.scene.value = scene;
    });
    this.#extensions.drawn?.();
  }

  // --- what is drawn follows the state ---

  #render(): void {
    const { state } = this;
    this.#cleanup.add(
      effect(() => this.#draw()),
      effect(() => {
        const { cut, boxOf, byId } = state.scene.value;
        const focus = state.focus.value;
        this.canvas.drawOverlay(focus === null ? [] : missingLines(cut, focus, boxOf, byId));
      }),
      effect(() => this.#showStatus()),
      effect(() => this.#panels.showOutline()),
      effect(() => this.#panels.showDetails()),
      effect(() => {
        state.selected.value;
        state.isSelectedKnown.value;
        untracked(() => this.#showSelected());
      }),
      effect(() => {
        const { active, needed } = state.highlight.value;
        if (active) this.say(`${needed.size} of ${this.model.ops.length} ops ${this.#verb}`);
      }),
    );
  }

  /** Draws a new layout, or new marks on the current one; waits while the canvas is hidden. */
  #draw(): void {
    const entry = this.#entry;
    const { state } = this;
    const scene = state.scene.value;
    const marks = this.#marks();
    if (!this.#visible.value) return;
    if (scene === this.#drawn) {
      this.canvas.mark(marks);
      return;
    }
    this.#drawn = scene;
    this.canvas.draw(scene, marks, entry.animate, () => {
      if (!this.userMoved) this.canvas.rest(entry.newest);
    });
  }

  #marks(): Marks {
    const { highlight, focus, selectedBox, matches, likeness } = this.state;
    const marks = makeMarks(this.model, highlight.value, focus.value, selectedBox.value, matches.value, likeness.value);
    const { decorate, edge, note, longestNote } = this.#extensions;
    return {
      node: decorate === undefined ? marks.node : (node) => decorate(node, marks.node(node)),
      edge: edge === undefined ? marks.edge : (line) => edge(line, marks.edge(line)),
      notes: note && { now: note, longest: (line) => longestNote?.(line.base) ?? note(line) },
    };
  }

  /** As tall as the picture needs, within limits; it grows but never shrinks while someone reads. */
  #setHeight(anew = false, { w, h } = this.scene): void {
    const fixed = this.#traits.get("height");
    const scale = Math.min(1, (this.frame.stage.clientWidth || 900) / (w + 44));
    const now = anew ? 0 : parseFloat(this.frame.stage.style.height) || 0;
    const { legend, details } = this.frame;
    const panels = Math.max(details.hidden ? 0 : 380, legend.hidden ? 0 : legend.offsetHeight + 20);
    const wanted = fixed > 0 ? fixed : Math.max(now, panels, Math.min(680, Math.max(240, h * scale + 44)));
    this.tall = wanted;
    if (wanted === now) return;
    this.frame.stage.style.height = `${wanted}px`;
    this.canvas.resized();
  }

  /** A side panel takes space; a box that was just clicked stays in place while a second click may follow. */
  #resized(): void {
    const narrower = this.frame.stage.clientWidth < this.#width;
    this.canvas.resized();
    const first = this.#width === 0;
    this.#width = this.frame.stage.clientWidth;
    clearTimeout(this.#settling);
    if (first && this.#width > 0) {
      this.#setHeight(true); // its width was a guess until now
      this.#drawWaiting();
      this.#extensions.drawn?.();
    } else if (this.#drawWaiting()) {
      this.#extensions.drawn?.();
      return;
    }
    if (this.userMoved || (narrower && this.canvas.showsAll())) return;
    if (first) this.canvas.rest(null);
    else
      this.#settling = window.setTimeout(
        () => {
          if (!this.userMoved) this.canvas.glide(() => this.canvas.rest(null));
        },
        narrower ? 450 : 60,
      );
  }

  /** Draws a picture that was computed while the canvas was hidden; true if there was one. */
  #drawWaiting(): boolean {
    if (this.#visible.peek() || this.canvas.size().width === 0) return false;
    this.#entry = { ...this.#entry, animate: false };
    this.#visible.value = true;
    return true;
  }

  get #verb(): "run" | "needed" {
    return this.#extensions.verb?.() ?? "run";
  }

  #showStatus(): void {
    const { state, model } = this;
    const [fetches, feeds] = [state.fetches.value, state.feeds.value];
    const { active, needed, unknown } = state.highlight.value;
    const { runs, opsAtFirstRun } = this.#source.counts.value;
    const counts = {
      ops: model.ops.length,
      scopes: model.scopes.size - 1,
      runs,
      needed: active ? needed.size : null,
      verb: this.#verb,
      since: opsAtFirstRun >= 0 ? model.ops.length - opsAtFirstRun : 0,
      isRecord: this.#extensions.isRecord === true,
      crowded: state.scene.value.crowded,
      stopped: state.stoppedAt.value,
      fetches,
      feeds,
      unknown: unknown.concat(feeds.filter((name) => !model.byName.has(splitName(name)[0]))),
    };
    const without = (names: readonly string[], name: string): string[] => names.filter((other) => other !== name);
    showStatus(this.frame.status, counts, {
      dropFetch: (name) => state.setNames("fetches", without(fetches, name)),
      dropFeed: (name) => state.setNames("feeds", without(feeds, name)),
    });
  }

  say(text: string): void {
    this.frame.live.textContent = text;
  }

  // --- what is selected ---

  select(id: string): void {
    this.state.select(id);
    this.#showSelected(); // also when it was selected before
  }

  #showSelected(): void {
    const found = this.state.selectedNode.value;
    this.frame.details.hidden = found === undefined;
    this.canvas.resized();
    if (found === undefined) return;
    this.#setHeight();
    const drawn = this.canvas.nodes.get(this.state.selectedBox.peek());
    // Screen readers follow the focus, not CSS classes.
    if (this.canvas.el.contains(focusNear(this.canvas.el))) drawn?.el.focus({ preventScroll: true });
  }

  nodeOf(id: string): GraphNode | undefined {
    return this.state.nodeOf(id);
  }

  #opAt(id: string): Op | undefined {
    const node = this.nodeOf(id);
    return node === undefined ? undefined : this.model.opOf(node);
  }

  #toggle(key: "fetches" | "feeds", op: Op | undefined, id: string): void {
    if (this.#extensions.isRecord === true) this.say("Nothing can be fetched or fed here");
    else if (op === undefined) this.say(`${id.replace(/\/$/, "")} is no op: open it and choose one inside`);
    else if (key === "fetches") this.state.toggleName(key, fetchName(op));
    else if (op.outputs.length > 0) this.state.toggleName(key, `${op.name}:0`);
    else this.say(`${op.name} has no output to feed`);
  }

  // --- opening and closing ---

  toggleOpen(id: string): void {
    const node = this.nodeOf(id);
    if (node === undefined) return;
    if (node.kind === "op") {
      this.select(id);
      return;
    }
    const next = new Set(this.state.expansion.value.ids);
    if (!next.delete(id)) next.add(id);
    this.setExpanded(next, () => {
      if (this.userMoved) this.canvas.reveal(id);
    });
  }

  setExpanded(ids: ReadonlySet<string>, then: () => void = () => undefined): void {
    this.state.expand(ids);
    this.#redraw(true, false, then);
  }

  #expandLevel(): void {
    const closed = this.scene.nodes.filter((n) => opensByLevel(n));
    const top = Math.min(...closed.map((n) => n.depth));
    const next = new Set(this.state.expansion.value.ids);
    for (const n of closed) if (n.depth === top) next.add(n.id);
    this.setExpanded(next);
  }

  /** Opens what hides an op, selects it and brings it into view. */
  goTo(index: number): void {
    const next = new Set(this.state.expansion.value.ids);
    const above = this.#traits.get("group_above");
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
    if (next.size === this.state.expansion.value.ids.size) show();
    else this.setExpanded(next, show);
  }

  // --- the frame ---

  fit(): void {
    this.userMoved = false;
    this.canvas.fit();
  }

  /** The reader has panned or zoomed: growth then leaves the view alone. */
  moved(): void {
    this.userMoved = true;
  }

  #zoom(factor: number): void {
    const { width, height } = this.canvas.size();
    this.userMoved = true;
    this.canvas.zoom(factor, width / 2, height / 2);
  }

  #escape(): void {
    if (this.#work.stop() || this.#extensions.escape?.() === true) return;
    if (!this.frame.legend.hidden) this.frame.legend.hidden = true;
    else this.select("");
  }
}
