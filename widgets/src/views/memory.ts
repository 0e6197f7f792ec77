// The memory view: what each device's memory held over one run or many; reserved, limit, and where there was no room.

import { Cleanup } from "../base/cleanup";
import { consume, focusNear, h } from "../base/elements";
import { bytesText, timeText } from "../base/format";
import { drawer, s } from "../base/svg";
import { ticks } from "../base/time_axis";
import { hosted } from "../kernel/host";
import { opOf, shareSelection } from "../kernel/shared_selection";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import type { Curve, MemoryTraits } from "../kernel/view_messages";
import { decodeCurve } from "../kernel/view_messages";
import { shorten } from "../layout/box_style";

const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [74, 16, 22, 26, 190];
const MOST_HOLDERS = 9;
const FAR = 20; // times the peak

class MemoryView {
  readonly #traits: Traits<MemoryTraits>;
  readonly #root = h("div", {
    class: "tfteach-graph tfteach-memory",
    role: "group",
    "aria-label": "Memory over time",
    "data-lm-suppress-shortcuts": "true",
  });
  readonly #charts = h("div", { class: "tft-charts" });
  #curves: Curve[] = [];
  /** For each chart the number of the point that the cursor is at. */
  #cursors: (number | null)[] = [];
  readonly #drawLater: () => void;
  readonly #cleanup = new Cleanup();

  constructor(traits: Traits<MemoryTraits>, parent: HTMLElement) {
    this.#traits = traits;

    this.#root.append(this.#charts);
    parent.append(this.#root);
    this.#drawLater = drawer(this.#root, () => this.#draw(), this.#cleanup);
    this.#cleanup.add(
      onChange(traits, ["_curves"], () => this.#show()),
      onChange(traits, ["selected"], () => this.#drawLater()),
      shareSelection(traits),
      () => this.#root.remove(),
    );
    this.#show();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  #show(): void {
    this.#curves = this.#traits.get("_curves").map(decodeCurve);
    const curves = this.#curves;
    if (this.#charts.children.length !== curves.length || curves.length === 0) {
      this.#cursors = curves.map(() => null);
      this.#charts.replaceChildren(...curves.map((_, i) => this.#frame(i)));
      if (curves.length === 0)
        this.#charts.append(
          h(
            "p",
            { class: "tft-nothing" },
            'Nobody counts memory here: make simulated GPUs with tf.simulate_gpus(1, memory="1GiB") before ' +
              "the session, or pass the RunMetadata of a traced run.",
          ),
        );
    }
    this.#drawLater();
  }

  #frame(i: number): HTMLElement {
    const plot = h("div", {
      class: "tft-plot",
      tabindex: "0",
      role: "application",
      "aria-label": "Memory over time. Left and right arrow: moment by moment; End: the peak.",
      onkeydown: (event: KeyboardEvent) => this.#onKey(event, i),
      onpointermove: (event: PointerEvent) =>
        this.#point(i, this.#near(i, event.clientX - plot.getBoundingClientRect().left)),
      onpointerleave: () => this.#point(i, null),
    });
    return h(
      "section",
      { class: "tft-chart" },
      h("h3"),
      h(
        "div",
        { class: "tft-chart-body" },
        h("div", { class: "tft-plot-box" }, plot, h("div", { class: "tft-reading", "aria-live": "polite" })),
        h("div", { class: "tft-holders" }),
      ),
    );
  }

  #point(i: number, at: number | null): void {
    if (this.#cursors[i] === at) return;
    this.#cursors[i] = at;
    this.#drawLater();
  }

  #onKey(event: KeyboardEvent, i: number): void {
    const { points } = this.#curves[i]!;
    const at = this.#cursors[i] ?? -1;
    const peak = points.reduce((best, p, n) => (p.taken > points[best]!.taken ? n : best), 0);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: peak }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    consume(event);
    this.#point(i, Math.max(0, Math.min(points.length - 1, to)));
  }

  #near(i: number, x: number): number {
    const { points } = this.#curves[i]!;
    const { at } = this.#scale(i);
    let found = 0;
    for (const [n, p] of points.entries()) if (at(p.at) <= x + 1) found = n;
    return found;
  }

  #scale(i: number): {
    at: (t: number) => number;
    up: (bytes: number) => number;
    width: number;
    from: number;
    to: number;
    most: number;
  } {
    const curve = this.#curves[i]!;
    const plot = this.#charts.querySelectorAll<HTMLElement>(".tft-plot")[i]!;
    const width = Math.max(120, plot.clientWidth);
    const from = curve.points[0]?.at ?? 0;
    const to = Math.max(from + 1, curve.points.at(-1)?.at ?? 0, curve.runs.at(-1)?.to ?? 0);
    const most = isFar(curve) ? curve.peak * 1.25 : Math.max(1, curve.limit ?? curve.peak * 1.08, curve.peak);
    return {
      width,
      from,
      to,
      most,
      at: (t) => LEFT + ((t - from) / (to - from)) * (width - LEFT - RIGHT),
      up: (bytes) => HEIGHT - BOTTOM - (bytes / most) * (HEIGHT - TOP - BOTTOM),
    };
  }

  // --- the pictures ---

  #draw(): void {
    for (const [i, curve] of this.#curves.entries()) {
      const section = this.#charts.children[i] as HTMLElement | undefined;
      if (section === undefined) return;
      // An idle device is one line, if others have something to show.
      const idle = curve.peak === 0 && curve.exhausted.length === 0 && this.#curves.some(({ peak }) => peak > 0);
      section.classList.toggle("tft-chart-idle", idle);
      const words = [
        curve.policy,
        idle
          ? "nothing was kept here"
          : `peak ${bytesText(curve.peak)}${curve.limit === null ? "" : ` of ${bytesText(curve.limit)}`}`,
      ];
      section
        .querySelector("h3")!
        .replaceChildren(
          curve.title,
          ...(curve.simulated ? [h("i", {}, "simulated")] : []),
          h("span", {}, words.filter((w) => w !== "").join(" · ")),
        );
      if (idle) continue;
      section.querySelector(".tft-plot")!.replaceChildren(this.#plot(i, curve));
      section.querySelector(".tft-reading")!.replaceChildren(...this.#reading(curve, this.#cursors[i] ?? null));
      this.#drawHolders(section.querySelector<HTMLElement>(".tft-holders")!, curve);
    }
  }

  #plot(i: number, curve: Curve): SVGElement {
    const { at, up, width, from, to, most } = this.#scale(i);
    const [right, floor] = [width - RIGHT, HEIGHT - BOTTOM];
    const n = (value: number): string => value.toFixed(1);
    const picture = s("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true" });
    for (const [index, { from: start, to: end, fetches, error }] of curve.runs.entries()) {
      const wide = Math.max(1.5, at(end) - at(start));
      const band = s(
        "g",
        { class: `tft-run${error === "" ? "" : " tft-run-failed"}${index % 2 === 0 ? " tft-run-even" : ""}` },
        s("title", {}, `run(${fetches})${error === "" ? "" : `: ${error}`}`),
        s("rect", { x: n(at(start)), y: TOP, width: n(wide), height: floor - TOP }),
      );
      if (wide > 58)
        band.append(
          s("text", { x: n(at(start) + 4), y: TOP + 13 }, shorten(`run(${fetches})`, Math.floor(wide / 6.5))),
        );
      picture.append(band);
    }
    const axis = s("g", { class: "tft-axis" });
    for (const t of ticks({ from: 0, to: to - from }, width / 120)) {
      const x = at(from + t);
      axis.append(s("text", { x: n(x), y: HEIGHT - 8, "text-anchor": x > right - 20 ? "end" : "middle" }, timeText(t)));
    }
    for (const share of [0, 0.5, 1])
      axis.append(
        s("path", { d: `M${LEFT},${n(up(most * share))}H${right}` }),
        s("text", { x: LEFT - 8, y: n(up(most * share) + 4), "text-anchor": "end" }, bytesText(most * share)),
      );
    picture.append(axis);
    const steps = (of: "taken" | "reserved"): string => {
      let path = "";
      const high = (p: Curve["points"][number]): string => n(up(Math.min(most, p[of] ?? 0)));
      for (const p of curve.points) path += path === "" ? `M${n(at(p.at))},${high(p)}` : `H${n(at(p.at))}V${high(p)}`;
      return `${path}H${n(right)}`;
    };
    if (curve.points.some((p) => p.reserved !== null)) {
      const line = steps("reserved");
      const last = curve.points.at(-1)!.reserved ?? 0;
      picture.append(s("path", { class: "tft-reserved-area", d: `${line}V${floor}H${LEFT}Z` }));
      const y = up(last);
      if (last <= most) {
        // else it is in the heading
        picture.append(
          s("path", { class: "tft-reserved-line", d: line }),
          s(
            "text",
            { class: "tft-note", x: right - 4, y: n(y < TOP + 14 ? TOP + 29 : y - 5), "text-anchor": "end" },
            `reserved ${bytesText(last)}`,
          ),
        );
      }
    }
    const line = steps("taken");
    picture.append(
      s("path", { class: "tft-taken-area", d: `${line}V${floor}H${LEFT}Z` }),
      s("path", { class: "tft-taken-line", d: line }),
    );
    for (const { at: t, needed } of curve.exhausted) {
      const x = at(t);
      const left = x > width / 2;
      picture.append(
        s(
          "g",
          { class: "tft-oom" },
          s("path", { d: `M${n(x)},${TOP - 4}V${floor}` }),
          s("path", { d: `M${n(x - 5)},${TOP - 9}l10,10m0,-10l-10,10` }),
          s(
            "text",
            { x: n(left ? x - 10 : x + 10), y: TOP - 4 + 1, "text-anchor": left ? "end" : "start" },
            `out of memory: ${bytesText(needed)} more needed`,
          ),
        ),
      );
    }
    const cursor = this.#cursors[i] ?? null;
    const p = cursor === null ? undefined : curve.points[cursor];
    if (p !== undefined)
      picture.append(
        s("path", { class: "tft-cursor", d: `M${n(at(p.at))},${TOP}V${floor}` }),
        s("circle", { class: "tft-cursor-dot", cx: n(at(p.at)), cy: n(up(p.taken)), r: 4 }),
      );
    return picture;
  }

  #reading(curve: Curve, cursor: number | null): Node[] {
    const p = cursor === null ? undefined : curve.points[cursor];
    if (p !== undefined) {
      const run = curve.runs.find(({ from, to }) => from <= p.at && p.at <= to);
      const words = [`${timeText(p.at - curve.points[0]!.at)}: ${bytesText(p.taken)} taken`];
      if (p.reserved !== null) words.push(`${bytesText(p.reserved)} reserved`);
      if (run !== undefined) words.push(`in run(${run.fetches})`);
      return [document.createTextNode(words.join(" · "))];
    }
    const oom = curve.exhausted.at(-1);
    if (oom !== undefined)
      return [h("b", {}, "ResourceExhaustedError: "), document.createTextNode(oom.message.split("\n")[0]!)];
    const runs = curve.runs.length;
    return [
      document.createTextNode(
        runs > 1
          ? `${runs} runs; waiting between runs is cut short`
          : runs === 1
            ? "one run"
            : curve.limit === null
              ? "one run, without variables and what is fed"
              : "no run yet",
      ),
    ];
  }

  #drawHolders(el: HTMLElement, curve: Curve): void {
    el.hidden = curve.holders.length === 0;
    if (el.hidden) return;
    const selected = opOf(this.#traits.get("selected"));
    const most = curve.holders[0]!.size;
    const rows = curve.holders.slice(0, MOST_HOLDERS).map(({ name, size }) => {
      const press = h(
        "button",
        {
          type: "button",
          class: "tft-holder",
          "aria-pressed": name === selected,
          title: name,
          onclick: () => {
            update(this.#traits, { selected: name === selected ? "" : name });
            this.#drawLater();
          },
        },
        h("span", {
          class: "tft-share-bar",
          style: `width: ${((100 * size) / most).toFixed(1)}%`,
          "aria-hidden": "true",
        }),
        h("code", {}, shorten(name, 27)),
        h("span", {}, bytesText(size)),
      );
      return h("li", {}, press);
    });
    const more = curve.holders.length - rows.length;
    const focused = [...el.querySelectorAll("button")].indexOf(focusNear(el) as HTMLButtonElement);
    el.replaceChildren(
      h("h4", {}, "Alive at the peak"),
      h("ol", {}, ...rows),
      more > 0 ? h("p", { class: "tft-muted" }, `and ${more} more`) : "",
    );
    if (focused >= 0) el.querySelectorAll("button")[focused]?.focus();
  }
}

/** Usage is so far below the device's limit that a chart up to the limit would show nothing. */
function isFar({ limit, peak, exhausted }: Curve): boolean {
  return limit !== null && peak > 0 && exhausted.length === 0 && limit > FAR * peak;
}

export default hosted((traits: Traits<MemoryTraits>, el) => new MemoryView(traits, el));
