// Graphs and sessions on one clock: a track for each, and what is wasted by making them again and again.

import { h } from "../base/elements";
import { count, digits } from "../base/format";
import type { Cost, Finding, Track, TrackKind, WireLives } from "../kernel/growth_messages";

const KINDS: [TrackKind, string][] = [
  ["build", "build ops"],
  ["open", "open session"],
  ["compile", "compile"],
  ["initialize", "initialize variables"],
  ["restore", "restore variables"],
  ["library", "the library's own runs"],
  ["run", "run"],
];
const ROOM = 280; // pixels for the tracks of a recording
const [TALLEST, THINNEST, LEAST_NAMED] = [26, 5, 15];
const ENDS = { open: ", still open", dropped: ", not closed", closed: ", closed", "": "" };

export class GraphTracks {
  readonly root = h("div", { class: "tft-lives" });

  /** Shows the recordings that have tracks, each under its title. */
  show(lives: readonly (WireLives | null)[], titles: readonly string[]): void {
    const shown = lives.flatMap((one, i) => (one !== null && one.tracks.length > 0 ? [{ one, i }] : []));
    this.root.hidden = shown.length === 0;
    if (this.root.hidden) return;
    const total = Math.max(0.001, ...shown.map(({ one }) => one.total_ms));
    const kinds = new Set(shown.flatMap(({ one }) => one.tracks.flatMap((t) => t.stretches.map(([kind]) => kind))));
    this.root.replaceChildren(
      h(
        "p",
        { class: "tft-track-legend", "aria-hidden": "true" },
        ...KINDS.filter(([kind]) => kinds.has(kind)).map(([kind, name]) =>
          h("span", {}, h("i", { class: `tft-is-${kind}` }), name),
        ),
      ),
      ...shown.map(({ one, i }) => recording(one, titles[i] ?? "", i, total)),
      h(
        "p",
        { class: "tft-clock" },
        h("span", {}, "0"),
        h("span", {}, `${total.toFixed(1)} ms of activity; pauses are left out`),
      ),
      ...shown.flatMap(({ one }) => one.findings.map(finding)),
    );
  }

  /** Marks the tracks of the graphs that the panes show at this moment. */
  mark(graphs: readonly number[]): void {
    for (const row of this.root.querySelectorAll<HTMLElement>("li"))
      row.classList.toggle("tft-runs-now", graphs[Number(row.dataset.pane)] === Number(row.dataset.graph));
  }
}

function recording(one: WireLives, title: string, pane: number, total: number): HTMLElement {
  const many = one.tracks.length;
  const height = Math.max(THINNEST, Math.min(TALLEST, Math.floor(ROOM / many)));
  const head = title === "" ? "Graphs and sessions" : title;
  return h(
    "section",
    { "aria-label": `${head}: ${one.whole_sign}` },
    h("h4", {}, head, h("span", { class: one.is_waste ? "tft-waste" : "tft-muted" }, one.whole_sign)),
    h(
      "ol",
      { style: `--tft-track: ${height}px` },
      ...one.tracks.map((track, i) =>
        row(track, pane, total, height >= LEAST_NAMED || i === 0 || i === many - 1, height),
      ),
    ),
    one.left_out > 0 ? h("p", { class: "tft-muted" }, `and ${digits(one.left_out)} more, which are not drawn`) : null,
  );
}

function row(track: Track, pane: number, total: number, named: boolean, height: number): HTMLElement {
  const percent = (ms: number): string => `${((100 * ms) / total).toFixed(3)}%`;
  const begin = track.stretches[0]?.[1] ?? 0;
  const runs = track.stretches.reduce((sum, [kind, , , amount]) => sum + (kind === "run" ? amount : 0), 0);
  const item = h(
    "li",
    { "aria-label": track.text, title: track.text },
    h("b", {}, named ? (track.is_first ? `graph ${track.graph}` : `session ${track.session}`) : ""),
    h(
      "span",
      { class: "tft-lane" },
      h("s", { style: `left:${percent(begin)};width:${percent(track.to_ms - begin)}` }),
      ...track.stretches.map(([kind, from, to]) =>
        h("i", { class: `tft-is-${kind}`, style: `left:${percent(from)};width:${percent(to - from)}` }),
      ),
      track.end === "closed" && height >= 9 ? h("em", { style: `left:${percent(track.to_ms)}` }, "×") : null,
    ),
    h("span", { class: "tft-outcome" }, named ? `${count(runs, "run")}${ENDS[track.end]}` : ""),
  );
  item.dataset.pane = `${pane}`;
  item.dataset.graph = `${track.graph}`;
  return item;
}

/** A card for each graph: how long it took, and for what. */
function cards(costs: readonly Cost[], more: number): HTMLElement | null {
  if (costs.length === 0) return null;
  const whole = costs.map(({ parts }) => parts.reduce((sum, [, , ms]) => sum + ms, 0));
  const longest = Math.max(0.001, ...whole);
  return h(
    "div",
    { class: "tft-costs", role: "list" },
    ...costs.map(({ name, parts }, i) =>
      h(
        "div",
        { class: "tft-cost", role: "listitem" },
        h("p", { class: "tft-cost-name" }, h("b", {}, name), h("span", {}, milliseconds(whole[i]!))),
        h(
          "p",
          { class: "tft-cost-bar", "aria-hidden": "true" },
          ...parts.map(([kind, , ms]) =>
            h("i", { class: `tft-is-${kind}`, style: `width:${((100 * ms) / longest).toFixed(2)}%` }),
          ),
        ),
        ...parts.map(([kind, words, ms]) =>
          h("p", {}, h("i", { class: `tft-is-${kind}` }), h("span", {}, words), h("span", {}, milliseconds(ms))),
        ),
      ),
    ),
    more > 0 ? h("p", { class: "tft-muted", role: "listitem" }, `and ${digits(more)} more`) : null,
  );
}

/** With two figures, as the kernel writes it. */
const milliseconds = (ms: number): string => `${ms.toFixed(ms < 1 ? 2 : ms < 100 ? 1 : 0)} ms`;

function finding({ kind, headline, at, text, cost, costs, more, fix, code }: Finding): HTMLElement {
  const waste = kind !== "repeated" && kind !== "kept";
  return h(
    "div",
    { class: waste ? "tft-finding tft-waste-found" : "tft-finding" },
    h("p", { class: "tft-headline" }, ...codeIn(headline)),
    text === "" ? null : h("p", { class: "tft-culprit" }, h("span", { class: "tft-muted" }, at), h("code", {}, text)),
    cards(costs, more),
    cost === "" ? null : h("p", {}, cost),
    ...fix.map((line) => h("p", {}, ...codeIn(line))),
    code === ""
      ? null
      : h("details", {}, h("summary", {}, "The program that keeps them"), h("pre", {}, h("code", {}, code))),
  );
}

/** Words between backquotes as code; a line of a program may hold anything, so it is only ever text. */
export function codeIn(text: string): (HTMLElement | string)[] {
  return text.split("`").map((part, i) => (i % 2 === 1 ? h("code", {}, part) : part));
}
