// The frame around the canvas: search, buttons, panels, the line that counts what runs.
import { button, h } from "../base/elements";
import { count, digits } from "../base/format";
import { shorten } from "../layout/box_style";

const LONGEST_CHIP = 80;

export interface ViewFrame {
  root: HTMLElement;
  /** The row of tools, and what is below it: outline, picture, details. */
  bar: HTMLElement;
  body: HTMLElement;
  search: HTMLInputElement;
  results: HTMLElement;
  outline: HTMLElement;
  stage: HTMLElement;
  details: HTMLElement;
  legend: HTMLElement;
  status: HTMLElement;
  live: HTMLElement;
  outlineButton: HTMLButtonElement;
  empty: HTMLElement;
}

export interface FrameActions {
  fit: () => void;
  zoom: (factor: number) => void;
  expandAll: () => void;
  collapseAll: () => void;
  outline: () => void;
  legend: () => void;
}

export function buildFrame(parent: HTMLElement, actions: FrameActions): ViewFrame {
  const search = h("input", {
    type: "search",
    class: "tft-search",
    placeholder: "Search ops  ( / )",
    "aria-label": "Search name or op type",
    title: "Part of a name or of an op type, or a regular expression between slashes: /conv\\d/",
    role: "combobox",
    "aria-expanded": "false",
    "aria-autocomplete": "list",
    spellcheck: "false",
  });
  const results = h("ul", { class: "tft-results", role: "listbox", "aria-label": "Search results" });
  const legend = makeLegend();
  const outlineButton = button("Outline", "Outline: the graph as a list", actions.outline);
  const legendButton = button("Legend", "What the signs mean", () => {
    legend.hidden = !legend.hidden;
    legendButton.setAttribute("aria-pressed", `${!legend.hidden}`);
    actions.legend();
  });
  const bar = h(
    "div",
    { class: "tft-bar", role: "toolbar", "aria-label": "Graph view" },
    h("div", { class: "tft-search-box" }, search, results),
    h("span", { class: "tft-space" }),
    outlineButton,
    legendButton,
    h("span", { class: "tft-rule" }),
    button("Expand", "Expand one level more", actions.expandAll),
    button("Collapse", "Collapse everything", actions.collapseAll),
    h("span", { class: "tft-rule" }),
    button("−", "Zoom out (-)", () => actions.zoom(0.8)),
    button("+", "Zoom in (+)", () => actions.zoom(1.25)),
    button("Fit", "Show the whole graph (0)", actions.fit),
  );
  const outline = h("div", { class: "tft-outline" });
  outline.hidden = true;
  const details = h("aside", { class: "tft-details", "aria-label": "Details" });
  details.hidden = true;
  const empty = h("p", { class: "tft-empty" }, "Nothing in this graph yet. What you build appears here.");
  const stage = h("div", { class: "tft-stage" }, legend, empty);
  const status = h("div", { class: "tft-status" });
  const live = h("div", { class: "tft-sr", "aria-live": "polite" });
  const body = h("div", { class: "tft-body" }, outline, stage, details);
  const root = h("div", { class: "tfteach-graph", "data-lm-suppress-shortcuts": "true" }, bar, body, status, live);
  parent.append(root);
  return { root, bar, body, search, results, outline, stage, details, legend, status, live, outlineButton, empty };
}

function makeLegend(): HTMLElement {
  const rows: [string, string][] = [
    ["op", "op: computes when a run needs it"],
    ["const", "constant, with its value"],
    ["placeholder", "placeholder: to be fed"],
    ["variable", "variable: keeps its value between runs"],
    ["flow", "control flow"],
    ["scope", "name scope: double-click or Enter opens it"],
    ["data", "tensor, with its shape; point at the line where that is cut short"],
    ["control", "control edge: only an order"],
    ["reference", "reference: may change the variable"],
    ["left-out", "edge of the selected box that the picture leaves out"],
  ];
  const legend = h(
    "div",
    { class: "tft-legend" },
    h(
      "ul",
      {},
      ...rows.map(([sign, text]) =>
        h("li", {}, h("span", { class: `tft-sign tft-sign-${sign}`, "aria-hidden": "true" }), text),
      ),
    ),
    h(
      "p",
      {},
      "Shift-click or f fetches, d feeds. Boxes with the same letter (≅A) are built alike. ",
      "i and o trace what a box is made from and what is made from it; c changes the colours. ",
      "Under the pointer, ∇ joins an op and its gradients. ",
      "Drag to pan; Ctrl and wheel to zoom. Search takes regular expressions between slashes: /conv\\d/.",
    ),
  );
  legend.hidden = true;
  return legend;
}

export interface StatusActions {
  dropFetch: (name: string) => void;
  dropFeed: (name: string) => void;
}

export interface Counts {
  ops: number;
  scopes: number;
  needed: number | null;
  verb: "run" | "needed";
  runs: number;
  since: number;
  /** The ops are a record, and counted elsewhere. */
  isRecord: boolean;
  /** Scopes stay closed for want of room. */
  crowded: boolean;
  /** Where a cell's error ended the building, "" without one. */
  stopped: string;
  fetches: readonly string[];
  feeds: readonly string[];
  unknown: readonly string[];
}

export function showStatus(el: HTMLElement, counts: Counts, actions: StatusActions): void {
  const parts: HTMLElement[] = [];
  if (counts.needed === null) {
    const scopes = counts.scopes > 0 ? ` in ${count(counts.scopes, "scope")}` : "";
    if (!counts.isRecord) parts.push(h("span", { class: "tft-count" }, count(counts.ops, "op") + scopes));
  } else {
    const text = `${digits(counts.needed)} of ${count(counts.ops, "op")} ${counts.verb}`;
    parts.push(h("span", { class: "tft-count" }, h("strong", {}, text)));
  }
  const chips = (names: readonly string[], word: "fetch" | "feed", drop: (name: string) => void): void => {
    for (const name of names) {
      const missing = counts.unknown.includes(name);
      const chip = h(
        "span",
        { title: name, class: `tft-chip tft-chip-${word}${missing ? " tft-missing" : ""}` },
        h("b", {}, word),
        ` ${shorten(name, LONGEST_CHIP)}${missing ? " (not in this graph)" : ""} `,
        button("✕", `Stop ${word === "fetch" ? "fetching" : "feeding"} ${name}`, () => drop(name), "tft-x"),
      );
      parts.push(chip);
    }
  };
  chips(counts.fetches, "fetch", actions.dropFetch);
  chips(counts.feeds, "feed", actions.dropFeed);
  if (counts.crowded)
    parts.push(h("span", { class: "tft-crowded" }, "too many boxes for one picture: some scopes stay closed"));
  if (counts.stopped !== "")
    parts.push(h("span", { class: "tft-stopped" }, h("b", {}, "stopped by an error"), ` at ${counts.stopped}`));
  if (counts.runs > 0) {
    parts.push(
      h(
        "span",
        { class: "tft-runs" },
        `${count(counts.runs, "run")}${counts.since > 0 ? ` · +${count(counts.since, "op")} since the first` : ""}`,
      ),
    );
  }
  el.replaceChildren(...parts);
}
