// One growth of the growth view: its meter, its graph, the line that is building, the verdict.
import type { Signal } from "@preact/signals-core";
import { effect, signal } from "@preact/signals-core";
import { Cleanup } from "../base/cleanup";
import { h } from "../base/elements";
import { digits } from "../base/format";
import { svg } from "../base/svg";
import type { NodeMarks } from "../drawing/canvas";
import type { MeterScale } from "../drawing/growth_meter";
import { drawMeter, runAt } from "../drawing/growth_meter";
import type { WireRows } from "../kernel/graph_messages";
import type { GrowthBatch, Round, Verdict, WireEager, WireLives } from "../kernel/growth_messages";
import { decodeRound } from "../kernel/growth_messages";
import { LocalTraits } from "../kernel/local_traits";
import { onChange } from "../kernel/traits";
import type { SceneEdge, SceneNode } from "../layout/scene";
import type { GraphModel } from "../model/graph";
import type { GrowthFrame, WithCopies } from "../model/growth_frames";
import { copyAt, lastOf, opsAtFirstRun, ranAt, runsOf, withCopies } from "../model/growth_frames";
import { EagerField, eagerLines } from "../panels/eager_growth";
import { codeIn } from "../panels/graph_tracks";
import { GraphView } from "./graph_view";

/** A growth as the view knows it so far. */
export interface PaneData {
  title: string;
  before: number;
  ops: WireRows;
  twins: number[];
  rounds: Round[];
  verdict: Verdict;
  eager: WireEager | null;
}

const SETTLE_MS = 420; // a little longer than boxes move
const LEAST_SCALE = 0.26; // that it grows is seen also where its names cannot be read
const GROUP_ABOVE = 40;
const SIGNS = {
  none: "",
  clean: "✓ Build, then run",
  late: "Built late",
  lazy: "⚠ Lazy loading",
  eager: "✓ Eager: nothing grows",
  held: "⚠ Tensors are kept",
};

export class GrowthPane {
  readonly #settled: () => void;
  readonly root: HTMLElement;
  /** Null where code ran eagerly: there is no graph. */
  readonly view: GraphView | null = null;
  readonly #state: LocalTraits;
  readonly #field = new EagerField();
  readonly #meter = svg("svg", null, { class: "tft-growth-meter", role: "img" });
  readonly #sign = h("span", { class: "tft-sign-word" });
  readonly #size = h("span", { class: "tft-size" });
  readonly #now = h("p", { class: "tft-now-line" });
  readonly #verdict = h("div", { class: "tft-verdict" });
  #run = 0;
  /** The ops of all copies so far, for the meter. */
  #built = 0;
  #lives: WireLives | null = null;
  /** The growth with the graphs that the same lines built later. */
  grown: WithCopies;
  /** How many ops there are, the one that was just built (-1 for none), and of which copy of the graph. */
  readonly #moment: Signal<{ ops: number; newest: number; copy: number }>;
  #tall = 0;
  #settling = 0;
  readonly #cleanup = new Cleanup();

  constructor(
    readonly data: PaneData,
    height: number,
    seek: (run: number) => void,
    runs: () => number,
    settled: () => void,
  ) {
    this.#settled = settled;

    this.grown = withCopies(data, 1, []);
    this.#moment = signal({ ops: lastOf(data), newest: -1, copy: 0 });
    const name = data.title !== "" ? data.title : data.eager === null ? "The graph as it grew" : "What ran eagerly";
    const graph = h("div", { class: "tft-growth-graph" });
    if (data.title !== "") graph.append(h("span", { class: "tft-graph-name", "aria-hidden": "true" }, data.title));
    this.root = h(
      "section",
      { class: "tft-pane", "aria-label": name },
      h("header", {}, h("h3", {}, name), this.#size, this.#sign),
      this.#meter,
      this.#now,
      graph,
      this.#verdict,
    );
    this.#state = new LocalTraits(data.ops, { height, group_above: GROUP_ABOVE });
    if (data.eager === null) this.view = this.#drawn(graph);
    else graph.append(this.#field.el);
    this.#cleanup.add(() => clearTimeout(this.#settling));
    const point = (event: PointerEvent): void => {
      if ((event.buttons & 1) === 1) seek(runAt(this.#meter, event.clientX, runs()));
    };
    this.#meter.addEventListener("pointerdown", point);
    this.#meter.addEventListener("pointermove", point);
    this.#showVerdict();
    this.view?.start();
  }

  #drawn(parent: HTMLElement): GraphView {
    const view = new GraphView(this.#state, parent, {
      least: LEAST_SCALE,
      decorate: (node, marks) => this.#decorate(node, marks),
      edge: (edge, classes) => (this.#shows(edge) ? classes : [...classes, "tft-future"]),
    });
    this.#cleanup.add(
      () => view.destroy(),
      onChange(this.#state, ["expanded"], () => this.resize()),
      effect(() => {
        if (view.state.version.value > 0) this.resize();
      }),
    );
    return view;
  }

  /** What moves the line right. */
  get unit(): "run" | "iteration" {
    return this.data.eager === null ? "run" : "iteration";
  }

  destroy(): void {
    this.#cleanup.end();
  }

  take(batch: GrowthBatch): void {
    const { data } = this;
    data.twins.splice(batch.twins_from, data.twins.length, ...batch.twins);
    data.rounds.splice(batch.rounds_from, data.rounds.length, ...batch.rounds.map(decodeRound));
    if (batch.verdict !== undefined) {
      data.verdict = batch.verdict;
      data.eager = batch.eager ?? null;
      this.#showVerdict();
    }
    if (batch.rows.length > 0 || (batch.patches?.length ?? 0) > 0) this.#state.push(batch);
    this.join(this.#lives);
  }

  /** Adds the graphs that the same lines built later. */
  join(lives: WireLives | null): void {
    this.#lives = lives;
    const copies = lives?.copies ?? [];
    this.grown = withCopies(
      this.data,
      lives?.number ?? 1,
      copies.map(([number, rounds]) => [number, rounds.map(decodeRound)]),
    );
    this.#showVerdict();
  }

  /** The number of the graph that is shown at this moment. */
  get graph(): number {
    return this.grown.copies[this.#moment.value.copy]?.number ?? 1;
  }

  /** Shows the growth at a frame. */
  show(frame: GrowthFrame, index: number, before: GrowthFrame | undefined, scale: MeterScale): void {
    const { grown } = this;
    this.#run = Math.min(frame.run, runsOf(grown));
    this.#built = frame.ops[index] ?? lastOf(grown);
    const isNew = before !== undefined && (before.ops[index] ?? 0) < this.#built;
    const copy = copyAt(grown, this.#built);
    const ops = this.#built - grown.copies[copy]!.from;
    this.#moment.value = { ops, newest: isNew ? ops - 1 : -1, copy };
    this.drawMeter(scale);
    const many = grown.copies.length;
    const which = many > 1 ? `graph ${copy + 1} of ${digits(many)}` : "";
    this.#size.textContent = [which, sizeAt(this.data, ops)].filter((text) => text !== "").join(", ");
    this.#showLine(frame);
  }

  drawMeter(scale: MeterScale): void {
    const { unit } = this;
    drawMeter(this.#meter, this.grown, this.#kind !== "clean", this.#run, this.#built, scale, `${unit}s`);
    const first = `${opsAtFirstRun(this.grown)} at the first ${unit}`;
    this.#meter.setAttribute("aria-label", `${this.#built} ops built after ${this.#run} ${unit}s; ${first}.`);
  }

  /** Once the boxes have moved, the graph may need another height. */
  resize(): void {
    clearTimeout(this.#settling);
    this.#settling = window.setTimeout(this.#settled, SETTLE_MS);
  }

  /** As tall as the graph needs; two graphs have to fit on the screen together. */
  fitHeight(pair: boolean): void {
    if (this.view === null) return;
    const { stage } = this.view.frame;
    const { width, height } = stage.querySelector<SVGGElement>(".tft-canvas > g")!.getBBox();
    const scale = Math.min(1, (stage.clientWidth || 900) / (width + 44));
    const [least, most] = pair ? [150, 320] : [190, 560];
    this.#tall = Math.max(this.#tall, Math.min(most, Math.max(least, Math.round(height * scale) + 56)));
    this.#state.set("height", this.#tall);
    stage.style.height = `${this.#tall}px`;
  }

  /** What is wrong: ops are added run by run, or the graph is built again and again. */
  get #kind(): "clean" | "lazy" | "rebuilt" {
    if (this.data.verdict.kind === "lazy") return "lazy";
    return this.#lives?.kind === "rebuilt" ? "rebuilt" : "clean";
  }

  // --- boxes ---

  get #model(): GraphModel | undefined {
    return this.view?.model;
  }

  get #ops(): number {
    return this.#moment.value.ops;
  }

  get #newest(): number {
    return this.#moment.value.newest;
  }

  #shows({ base }: SceneEdge): boolean {
    return base.some(({ from, to }) => from < this.#ops && to < this.#ops);
  }

  /** Whether the graph at this moment is one of those that were built again. */
  get #isCopy(): boolean {
    return this.#moment.value.copy > 0;
  }

  /** The op that this one repeats; constants count once the graph is run. */
  #twinOf(index: number): number | null {
    if (this.#isCopy) return index;
    const twin = this.data.twins[index] ?? index;
    if (twin === index || index < this.data.before) return null;
    const isConstant = this.#model?.ops[index]?.type === "Const";
    return isConstant && index < opsAtFirstRun(this.data) ? null : twin;
  }

  #decorate(node: SceneNode, marks: NodeMarks): NodeMarks {
    const members = node.node.members;
    if ((members[0] ?? 0) >= this.#ops) return { ...marks, classes: [...marks.classes, "tft-future"], badges: [] };
    const classes = [...marks.classes];
    let { badges, label } = marks;
    if (this.#newest >= 0 && members.includes(this.#newest) && !node.open) classes.push("tft-now");
    const own = this.#model?.opOf(node.node);
    const twin = own === undefined ? null : this.#twinOf(own.index);
    if (twin !== null && !node.open) {
      classes.push("tft-again");
      badges = [{ text: "again", kind: "repeated" }, ...badges.filter(({ kind }) => kind !== "alike")];
      label = `${label}, built again: ${this.#likeWhat(twin)}`;
    } else if (own === undefined && !node.open) {
      const again = members.filter((index) => index < this.#ops && this.#twinOf(index) !== null).length;
      if (again > 0 && again * 2 >= members.length) {
        classes.push("tft-again");
        badges = [{ text: `${again} again`, kind: "repeated" }, ...badges.filter(({ kind }) => kind !== "alike")];
        label = `${label}, ${again} built again`;
      }
    }
    const built = members.findIndex((index) => index >= this.#ops);
    const note =
      built > 0 && !node.open && node.node.kind !== "op" ? `${built} of ${members.length} ops so far` : marks.note;
    return { classes, badges, label, note };
  }

  #likeWhat(twin: number): string {
    if (this.#isCopy) return `as in graph ${this.grown.copies[0]!.number}`;
    return `like ${this.#model?.ops[twin]?.name ?? "one before"}`;
  }

  // --- words ---

  #showLine(frame: GrowthFrame): void {
    const op = this.#newest >= 0 ? this.#model?.ops[this.#newest] : undefined;
    const line = (what: HTMLElement, at: string, text: string): void =>
      this.#now.replaceChildren(
        what,
        h(
          "span",
          { class: "tft-line-of" },
          h("span", { class: "tft-muted" }, at),
          " ",
          h("code", { title: text }, text),
        ),
      );
    if (op !== undefined) {
      const { file, line: number, text } = op.source ?? { file: "", line: 0, text: "" };
      const twin = this.#twinOf(op.index);
      const what = h("span", { class: "tft-event" }, h("b", {}, "build"), ` ${op.name}`);
      if (twin !== null) what.append(h("span", { class: "tft-again-word" }, `again, ${this.#likeWhat(twin)}`));
      line(what, file === "" ? "" : `${file} line ${number}`, text);
    } else if (frame.ran && frame.run <= runsOf(this.grown)) {
      const [at, text] = ranAt(this.grown, frame.run);
      line(h("span", { class: "tft-event" }, h("b", {}, this.unit), ` ${frame.run}`), at, text);
    } else
      this.#now.replaceChildren(
        h(
          "span",
          { class: "tft-event tft-muted" },
          frame.ran ? "has ended" : frame.run === 0 ? "the start" : "builds nothing",
        ),
      );
  }

  #showVerdict(): void {
    const { kind, headline, fix, lines, constants } = this.data.verdict;
    const { eager } = this.data;
    if (eager !== null) this.#field.show(eager);
    const rebuilt = this.#kind === "rebuilt";
    const again = kind !== "lazy" && (rebuilt || this.#lives?.kind === "reopened");
    this.root.dataset.verdict = kind;
    this.#sign.textContent = again ? `⚠ ${capital(this.#lives?.sign ?? "")}` : SIGNS[kind];
    this.#sign.className = `tft-sign-word tft-is-${again ? "lazy" : kind}`;
    const still = `Built once, run ${runsOf(this.data)} times. The graph stays as it is.`;
    const copied = "In each of the graphs; but it is built again and again, as the tracks show.";
    this.#verdict.replaceChildren(
      h("p", { class: "tft-headline" }, headline),
      kind === "clean" ? h("p", { class: "tft-muted" }, rebuilt ? copied : still) : "",
      ...lines.map(({ at, text, ops, runs }) =>
        h(
          "p",
          { class: "tft-culprit" },
          h("span", { class: "tft-muted" }, at),
          h("code", {}, text),
          h("span", { class: "tft-muted" }, `+${ops} ops in ${runs} runs`),
        ),
      ),
      ...(eager === null ? [] : eagerLines(eager)),
      ...fix.map((text) => h("p", {}, ...codeIn(text))),
      ...constants.map((text) => h("p", { class: "tft-constants" }, ...codeIn(text))),
    );
  }
}

/** The GraphDef's size when the last round up to here was built. */
function sizeAt(data: PaneData, ops: number): string {
  const bytes = data.rounds.filter(({ stop }) => stop <= ops).at(-1)?.bytes;
  if (bytes === undefined) return "";
  if (bytes < 1000) return `GraphDef ${bytes} bytes`;
  return `GraphDef ${bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`}`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
