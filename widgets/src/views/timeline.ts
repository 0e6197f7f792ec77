// The timeline: when each op of a run ran, a lane for each device and thread, beside totals by type or scope.

import { Cleanup } from "../base/cleanup";
import { button, consume, h } from "../base/elements";
import { bytesText, timeText } from "../base/format";
import { drawer, s } from "../base/svg";
import type { Window } from "../base/time_axis";
import { panned, ticks, within, zoomed } from "../base/time_axis";
import type { PathPiece } from "../drawing/path_line";
import { drawPath, pathPieces } from "../drawing/path_line";
import { scopeSpans } from "../drawing/scope_spans";
import { hosted } from "../kernel/host";
import { opOf, shareSelection } from "../kernel/shared_selection";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import type { OpBar, TimelineTraits } from "../kernel/view_messages";
import { decodeBar, decodeTotal } from "../kernel/view_messages";
import { shorten } from "../layout/box_style";
import { renewed } from "../panels/folding_notice";
import { pathStrip } from "../panels/path_strip";

const COLOURS = 6; // for the op types that take the most time
const HEAD = 26;
const SCOPE = 20;
const BAR = 34;
const LANE = SCOPE + BAR + 24;
const PATH = SCOPE + BAR + 8; // of the lane's height
const LEFT = 92;
const RIGHT = 14;
const MOST_COPIES = 400; // in the window
const [ROW, MOST_ROWS] = [24, 9]; // of the totals; more scroll

class TimelineView {
  readonly #traits: Traits<TimelineTraits>;
  readonly #root: HTMLElement;
  readonly #stage = h("div", {
    class: "tft-lanes",
    tabindex: "0",
    role: "application",
    "aria-label":
      "Ops over time. Left and right: op before, op after. Plus and minus: zoom. " +
      "Shift with left and right: pan. 0: everything.",
  });
  readonly #card = h("div", { class: "tft-hover", hidden: "" });
  readonly #statusText = h("div", { class: "tft-said", "aria-live": "polite" });
  readonly #rows = h("tbody");
  readonly #byType = button("By type", "Totals by op type", () => this.#group("type"));
  readonly #byScope = button("By scope", "Totals by name scope", () => this.#group("scope"));
  readonly #ops: OpBar[];
  readonly #span: number;
  readonly #rank = new Map<string, number>();
  #window: Window;
  #grouping: "type" | "scope" = "type";
  #marked: string | null = null;
  readonly #pieces: PathPiece[];
  /** The part of the critical path that is marked, by its bound, and its ops. */
  #bound: number | null = null;
  #boundOps = new Set<OpBar | undefined>();
  readonly #drawLater: () => void;
  readonly #cleanup = new Cleanup();
  /** Ends when the pointer is released. */
  readonly #drag = new Cleanup();

  constructor(traits: Traits<TimelineTraits>, parent: HTMLElement, notice: HTMLElement) {
    this.#traits = traits;

    this.#ops = traits.get("_ops").map(decodeBar);
    this.#pieces = pathPieces(traits.get("_path"), this.#ops);
    this.#span = Math.max(1, ...this.#ops.map((op) => op.start + op.elapsed));
    this.#window = { from: 0, to: this.#span };
    for (const [i, { name }] of traits.get("_types").map(decodeTotal).entries()) this.#rank.set(name, i);
    const tools = h(
      "div",
      { class: "tft-tools", role: "group", "aria-label": "Zoom" },
      button("−", "Zoom out (-)", () => this.#zoom(1.6)),
      button("+", "Zoom in (+)", () => this.#zoom(1 / 1.6)),
      button("Fit", "Fit: show everything (0)", () => this.#showWindow({ from: 0, to: this.#span })),
    );
    const table = h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "What"),
          h("th", { scope: "col" }, "Calls"),
          h("th", { scope: "col" }, "Time"),
        ),
      ),
      this.#rows,
    );
    const side = h(
      "section",
      { class: "tft-totals", "aria-label": "Totals" },
      h("div", { class: "tft-totals-head", role: "group", "aria-label": "Totals" }, this.#byType, this.#byScope),
      h(
        "div",
        { class: "tft-totals-rows", tabindex: "0", role: "region", "aria-label": "Totals, longest first" },
        table,
      ),
    );
    this.#root = h(
      "div",
      {
        class: "tfteach-graph tfteach-timeline",
        role: "group",
        "aria-label": "Timeline of a run",
        "data-lm-suppress-shortcuts": "true",
      },
      h("div", { class: "tft-time-bar" }, h("h3", {}, traits.get("_summary").replace(/(\d) us\b/g, "$1 µs")), tools),
      notice,
      pathStrip(traits.get("_path"), (bound) => this.#markBound(bound)),
      h("div", { class: "tft-time-body" }, h("div", { class: "tft-time-main" }, this.#stage, this.#statusText), side),
      this.#card,
    );
    parent.append(this.#root);
    const height = traits.get("height");
    const rows = Math.max(traits.get("_types").length, traits.get("_scopes").length);
    side.style.minHeight = `${Math.min(MOST_ROWS, rows) * ROW + 66}px`;
    if (height > 0) side.style.height = `${height}px`;
    this.#stage.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    this.#stage.addEventListener("pointerdown", (event) => this.#onDrag(event));
    this.#stage.addEventListener("pointermove", (event) => this.#onMove(event));
    this.#stage.addEventListener("pointerleave", () => {
      this.#card.hidden = true;
    });
    this.#stage.addEventListener("keydown", (event) => this.#onKey(event));
    this.#drawLater = drawer(this.#stage, () => this.#draw(), this.#cleanup);
    this.#cleanup.add(
      onChange(traits, ["selected"], () => this.#show()),
      shareSelection(traits),
      () => this.#root.remove(),
      () => this.#drag.end(),
    );
    this.#group("type");
  }

  destroy(): void {
    this.#cleanup.end();
  }

  // --- looking closer ---

  #showWindow(window: Window): void {
    this.#window = within(window, this.#span);
    this.#card.hidden = true;
    this.#drawLater();
  }

  get #chosen(): OpBar | undefined {
    const name = opOf(this.#traits.get("selected"));
    return name === "" ? undefined : this.#ops.find((op) => op.name === name);
  }

  #zoom(factor: number, at?: number): void {
    const op = this.#chosen;
    const { from, to } = this.#window;
    const middle = op !== undefined && op.start >= from && op.start <= to ? op.start + op.elapsed / 2 : (from + to) / 2;
    this.#showWindow(zoomed(this.#window, factor, at ?? middle, this.#span));
  }

  get #width(): number {
    return Math.max(60, this.#stage.clientWidth - LEFT - RIGHT);
  }

  #timeAt(clientX: number): number {
    const x = clientX - this.#stage.getBoundingClientRect().left - LEFT;
    return this.#window.from + (x / this.#width) * (this.#window.to - this.#window.from);
  }

  #onWheel(event: WheelEvent): void {
    event.preventDefault();
    const wide = this.#window.to - this.#window.from;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      this.#showWindow(panned(this.#window, ((event.deltaX + event.deltaY) / this.#width) * wide, this.#span));
    else this.#zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.#timeAt(event.clientX));
  }

  #onDrag(event: PointerEvent): void {
    if (event.button !== 0) return;
    const [x, start] = [event.clientX, this.#window];
    let moved = false;
    const move = (to: PointerEvent): void => {
      moved ||= Math.abs(to.clientX - x) > 4;
      if (moved)
        this.#showWindow(panned(start, (-(to.clientX - x) / this.#width) * (start.to - start.from), this.#span));
    };
    const up = (end: PointerEvent): void => {
      this.#drag.end();
      if (moved) return;
      const op = this.#opAt(end);
      this.#choose(op?.name ?? "");
    };
    this.#drag.on(window, "pointermove", move);
    this.#drag.on(window, "pointerup", up);
  }

  #opAt(event: PointerEvent): OpBar | undefined {
    const box = this.#stage.getBoundingClientRect();
    const lane = Math.floor((event.clientY - box.top - HEAD) / LANE);
    const slack = (3 / this.#width) * (this.#window.to - this.#window.from);
    const at = this.#timeAt(event.clientX);
    const near = this.#ops.filter(
      (op) => op.lane === lane && op.start - slack <= at && op.start + op.elapsed + slack >= at,
    );
    return near.sort(
      (a, b) =>
        Math.abs(a.start + a.elapsed / 2 - at) -
        a.elapsed / 2 -
        (Math.abs(b.start + b.elapsed / 2 - at) - b.elapsed / 2),
    )[0];
  }

  #onMove(event: PointerEvent): void {
    const op = event.buttons === 0 ? this.#opAt(event) : undefined;
    this.#card.hidden = op === undefined;
    if (op === undefined) return;
    this.#card.replaceChildren(...this.#words(op));
    const box = this.#root.getBoundingClientRect();
    this.#card.style.left = `${Math.max(6, Math.min(box.width - 290, event.clientX - box.left + 14))}px`;
    this.#card.style.top = `${event.clientY - box.top + 16}px`;
  }

  #words({ name, type, lane, start, elapsed, size }: OpBar): HTMLElement[] {
    const on = this.#traits.get("_lanes")[lane];
    const where = `${on?.label ?? ""}${on?.model ? ` (a model of ${on.model})` : on?.simulated ? " (simulated)" : ""}`;
    const model = this.#traits.get("_models")[name];
    const because = this.#traits.get("_path").because[name];
    const made = size > 0 ? ` · ${bytesText(size)}` : "";
    return [
      h("code", {}, name),
      h("span", {}, `${type} · ${timeText(elapsed)} from ${timeText(start)}${made} · ${where}`),
      ...(model === undefined ? [] : [h("span", { class: "tft-model" }, `modelled: ${model}`)]),
      ...(because === undefined ? [] : [h("span", { class: "tft-model" }, `critical path: ${because}`)]),
    ];
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const wide = this.#window.to - this.#window.from;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step !== undefined && event.shiftKey) this.#showWindow(panned(this.#window, step * wide * 0.2, this.#span));
    else if (step !== undefined) this.#step(step);
    else if (event.key === "+" || event.key === "=") this.#zoom(1 / 1.6);
    else if (event.key === "-") this.#zoom(1.6);
    else if (event.key === "0") this.#showWindow({ from: 0, to: this.#span });
    else if (event.key === "Home") this.#choose(this.#ops[0]?.name ?? "");
    else if (event.key === "End") this.#choose(this.#ops.at(-1)?.name ?? "");
    else if (event.key === "Escape") this.#choose("");
    else return;
    consume(event);
  }

  #step(by: number): void {
    const chosen = this.#chosen;
    const at = chosen === undefined ? (by > 0 ? -1 : this.#ops.length) : this.#ops.indexOf(chosen);
    const next = this.#ops[Math.max(0, Math.min(this.#ops.length - 1, at + by))];
    if (next !== undefined) this.#choose(next.name);
  }

  #choose(name: string): void {
    update(this.#traits, { selected: name });
    this.#show();
  }

  /** Brings the chosen op into the window, and says it. */
  #show(): void {
    const op = this.#chosen;
    this.#statusText.replaceChildren(
      ...(op === undefined
        ? [h("span", { class: "tft-muted" }, "Choose an op: click it, or use the arrow keys.")]
        : this.#words(op)),
    );
    if (op !== undefined && (op.start + op.elapsed < this.#window.from || op.start > this.#window.to)) {
      const wide = this.#window.to - this.#window.from;
      this.#showWindow({ from: op.start + op.elapsed / 2 - wide / 2, to: op.start + op.elapsed / 2 + wide / 2 });
    }
    this.#drawLater();
  }

  // --- totals ---

  #group(by: "type" | "scope"): void {
    this.#grouping = by;
    this.#marked = null;
    this.#byType.setAttribute("aria-pressed", `${by === "type"}`);
    this.#byScope.setAttribute("aria-pressed", `${by === "scope"}`);
    this.#showTotals();
    this.#show();
  }

  #showTotals(): void {
    const rows = this.#traits.get(this.#grouping === "type" ? "_types" : "_scopes");
    this.#rows.replaceChildren(
      ...rows.map(decodeTotal).map(({ name, calls, elapsed, size, share }) => {
        const press = h(
          "button",
          {
            type: "button",
            class: "tft-mark",
            "aria-pressed": this.#marked === name,
            title: `${name}: ${bytesText(size)} made`,
            onclick: () => {
              this.#marked = this.#marked === name ? null : name;
              for (const other of this.#rows.querySelectorAll(".tft-mark"))
                other.setAttribute("aria-pressed", `${other === press && this.#marked !== null}`);
              this.#drawLater();
            },
          },
          this.#grouping === "type"
            ? h("span", { class: `tft-swatch ${this.#colour(name)}`, "aria-hidden": "true" })
            : null,
          shorten(name, 24),
        );
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, press),
          h("td", {}, `${calls}`),
          h(
            "td",
            { class: "tft-share" },
            h("span", { class: "tft-share-bar", style: `width: ${(100 * share).toFixed(2)}%`, "aria-hidden": "true" }),
            h("span", {}, `${timeText(elapsed)}`),
            h("b", {}, `${Math.round(100 * share)}%`),
          ),
        );
      }),
    );
  }

  #colour(type: string): string {
    const rank = this.#rank.get(type) ?? COLOURS;
    return rank < COLOURS ? `tft-kind-${rank}` : "tft-kind-other";
  }

  #markBound(bound: number | null): void {
    this.#bound = bound;
    const { parts } = this.#traits.get("_path");
    const ops = parts.filter((part) => part[3] === bound && !part[4]).map(([op]) => this.#ops[op]);
    this.#boundOps = new Set(ops);
    this.#drawLater();
  }

  #isMarked(op: OpBar): boolean {
    const { name, type } = op;
    if (this.#bound !== null && !this.#boundOps.has(op)) return false;
    if (this.#marked === null) return true;
    return this.#grouping === "type"
      ? type === this.#marked
      : this.#marked.endsWith("/")
        ? name.startsWith(this.#marked)
        : name === this.#marked;
  }

  // --- the picture ---

  #draw(): void {
    const lanes = this.#traits.get("_lanes");
    const { from, to } = this.#window;
    const [width, height] = [this.#width + LEFT + RIGHT, HEAD + LANE * lanes.length + 2];
    const x = (at: number): number => LEFT + ((at - from) / (to - from)) * this.#width;
    const clip = `tft-clip-${this.#ops.length}`;
    const picture = s(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      s("defs", {}, s("clipPath", { id: clip }, s("rect", { x: LEFT, y: 0, width: this.#width, height }))),
    );
    const axis = s("g", { class: "tft-axis" });
    for (const at of ticks(this.#window, this.#width / 110))
      axis.append(
        s("path", { d: `M${x(at).toFixed(1)},${HEAD - 5}V${height}` }),
        s(
          "text",
          { x: x(at).toFixed(1), y: HEAD - 11, "text-anchor": x(at) > width - 40 ? "end" : "middle" },
          timeText(at),
        ),
      );
    const copies = s("g", { "clip-path": `url(#${clip})` }); // behind the bars and their words
    const bars = s("g", { "clip-path": `url(#${clip})` });
    const chosen = opOf(this.#traits.get("selected"));
    for (const [lane, { label, simulated, model, busy, thread, name }] of lanes.entries()) {
      const y = HEAD + lane * LANE + 6;
      const about = [
        model ? `${model}, model` : simulated ? "simulated" : "",
        thread > 0 ? `thread ${thread % 10000}` : "",
        lanes.length > 1 ? `${Math.round(100 * busy)}% busy` : "",
      ].filter((words) => words !== "");
      picture.append(
        s(
          "g",
          { class: "tft-lane" },
          s("title", {}, name),
          s("path", { d: `M0,${y + LANE - 8}H${width}` }),
          s("text", { x: 12, y: y + SCOPE + 11, class: "tft-lane-name" }, label),
          ...about.map((words, i) => s("text", { x: 12, y: y + SCOPE + 25 + 13 * i }, words)),
        ),
      );
      const mine = this.#ops.filter((op) => op.lane === lane);
      bars.append(...scopeSpans(mine, y, x, { from: LEFT, to: LEFT + this.#width }));
      let end = -1; // bars that would lie under one pixel are one
      for (const [i, op] of mine.entries()) {
        const [left, right] = [x(op.start), x(op.start + op.elapsed)];
        if (right < LEFT || left > width || (right < end + 0.5 && op.name !== chosen)) continue;
        end = Math.max(end, right);
        const after = mine[i + 1]; // it may begin before this one ends, and hide its words
        const free = after === undefined ? right : Math.min(right, x(after.start));
        this.#drawBar(bars, op, { left, right, free }, y + SCOPE, chosen);
      }
    }
    this.#drawCopies(copies, bars, x, chosen);
    const path = s("g", { "clip-path": `url(#${clip})` });
    const y = (lane: number): number => HEAD + lane * LANE + 6 + PATH;
    path.append(...drawPath(this.#traits.get("_path"), this.#pieces, x, y, this.#bound));
    picture.append(axis, copies, path, bars);
    this.#stage.replaceChildren(picture);
  }

  /** Curves between lanes, from the end of a `_Send` to that of its `_Recv`; a chosen one over the bars. */
  #drawCopies(behind: SVGElement, bars: SVGElement, x: (at: number) => number, chosen: string): void {
    const copies = this.#traits
      .get("_copies")
      .map(([send, receive]) => [this.#ops[send]!, this.#ops[receive]!] as const)
      .filter(
        ([send, receive]) => receive.start + receive.elapsed >= this.#window.from && send.start <= this.#window.to,
      )
      .slice(0, MOST_COPIES);
    for (const [send, receive] of copies) {
      const down = receive.lane > send.lane;
      const [x1, x2] = [x(send.start + send.elapsed), x(receive.start + receive.elapsed)];
      const y1 = HEAD + send.lane * LANE + 6 + SCOPE + (down ? BAR : 0);
      const y2 = HEAD + receive.lane * LANE + 6 + SCOPE + (down ? 0 : BAR);
      const middle = (y1 + y2) / 2;
      const isChosen = send.name === chosen || receive.name === chosen;
      (isChosen ? bars : behind).append(
        s("path", {
          class: `tft-copy${isChosen ? " tft-chosen" : ""}`,
          d: `M${x1.toFixed(1)},${y1}C${x1.toFixed(1)},${middle} ${x2.toFixed(1)},${middle} ${x2.toFixed(1)},${y2}`,
        }),
      );
    }
  }

  /** @param at where the bar begins and ends, and where its words must end. */
  #drawBar(
    bars: SVGElement,
    op: OpBar,
    at: { left: number; right: number; free: number },
    y: number,
    chosen: string,
  ): void {
    const { name, type } = op;
    const { left, right, free } = at;
    const wide = Math.max(1, right - left - 0.6);
    const state = `${this.#isMarked(op) ? "" : " tft-dim"}${name === chosen ? " tft-chosen" : ""}`;
    const classes = `tft-bar-op ${this.#colour(type)}${state}`;
    const bar = s(
      "g",
      { class: classes, "data-op": name },
      s("rect", { x: left.toFixed(2), y, width: wide.toFixed(2), height: BAR, rx: Math.min(3, wide / 3) }),
    );
    const seen = Math.min(free, LEFT + this.#width) - Math.max(left, LEFT);
    const [room, boldRoom] = [Math.floor((seen - 10) / 6.4), Math.floor((seen - 10) / 7.4)];
    if (room >= 3) {
      const from = Math.max(left, LEFT) + 5;
      if (boldRoom >= Math.min(7, type.length))
        bar.append(s("text", { x: from.toFixed(1), y: y + 14, class: "tft-bar-type" }, shorten(type, boldRoom)));
      if (room >= 9) bar.append(s("text", { x: from.toFixed(1), y: y + 28 }, shorten(name, room)));
    }
    bars.append(bar);
  }
}

export default hosted((traits: Traits<TimelineTraits>, el) =>
  renewed(traits, (notice) => new TimelineView(traits, el, notice)),
);
