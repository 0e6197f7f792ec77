// The view of traced functions: each call, why it traced anew, and its trace beside the code.
import type { ReadonlySignal } from "@preact/signals-core";
import { computed, effect, signal, untracked } from "@preact/signals-core";
import { Cleanup } from "../base/cleanup";
import { button, h } from "../base/elements";
import { stairs } from "../drawing/trace_stairs";
import { GraphView } from "../graph_view/graph_view";
import { hosted } from "../kernel/host";
import type { CodeBlock } from "../kernel/lines_messages";
import { LocalTraits } from "../kernel/local_traits";
import type { TraceGraph, TraceTraits, WireFunction } from "../kernel/trace_messages";
import { traitSignal } from "../kernel/trait_signal";
import type { Traits } from "../kernel/traits";
import { update } from "../kernel/traits";
import { keyOf } from "../panels/code_listing";
import { LineLinks } from "../panels/line_links";
import { momentDetails, momentOf, TraceCalls } from "../panels/trace_calls";

const GROUP_ABOVE = 40;

class TraceView {
  readonly #traits: Traits<TraceTraits>;
  readonly #cleanup = new Cleanup();
  readonly #functions: ReadonlySignal<WireFunction[]>;
  readonly #graphs: ReadonlySignal<Record<string, TraceGraph>>;
  readonly #function: ReadonlySignal<number>;
  readonly #call: ReadonlySignal<number>;
  /** Whether the code that AutoGraph wrote is shown; null as long as nobody chose. */
  readonly #wantsCode = signal<boolean | null>(null);
  readonly #names = h("div", { class: "tft-trace-names", role: "group", "aria-label": "Functions" });
  readonly #verdict = h("div", { class: "tft-trace-verdict" });
  readonly #details = h("div", {});
  readonly #codeButton = button("AutoGraph's code", "Show the code that AutoGraph wrote beside the source", () => {
    this.#wantsCode.value = !this.#showsCode;
  });
  readonly #body = h("div", { class: "tft-trace-body" });
  readonly #calls = new TraceCalls((call) => update(this.#traits, { call }));
  readonly #root: HTMLElement;
  #pane: TracePane | undefined;

  constructor(traits: Traits<TraceTraits>, parent: HTMLElement) {
    this.#traits = traits;
    const cleanup = this.#cleanup;
    const functions = traitSignal(traits, "_functions", cleanup);
    const graphs = traitSignal(traits, "_graphs", cleanup);
    this.#functions = computed(() => JSON.parse(functions.value) as WireFunction[]);
    this.#graphs = computed(() => JSON.parse(graphs.value) as Record<string, TraceGraph>);
    this.#function = traitSignal(traits, "function", cleanup);
    this.#call = traitSignal(traits, "call", cleanup);
    const head = h("div", { class: "tft-trace-head" }, this.#names, this.#codeButton);
    this.#root = h(
      "div",
      { class: "tfteach-graph tfteach-trace", role: "group", "aria-label": "Traced functions" },
      head,
      this.#verdict,
      this.#calls.el,
      this.#details,
      this.#body,
    );
    this.#root.dataset.lmSuppressShortcuts = "true";
    parent.append(this.#root);
    const shown = computed(() => momentOf(this.#shown, this.#call.value).number);
    cleanup.add(
      effect(() => this.#showNames()),
      effect(() => this.#showVerdict()),
      effect(() => this.#calls.show(this.#shown, this.#call.value)),
      effect(() => this.#details.replaceChildren(momentDetails(this.#shown, momentOf(this.#shown, this.#call.value)))),
      effect(() => this.#showGraph(`${this.#function.value}:${shown.value}`)),
      effect(() => this.#showCodeButton()),
      () => this.#pane?.destroy(),
      () => this.#root.remove(),
    );
  }

  destroy(): void {
    this.#cleanup.end();
  }

  get #shown(): WireFunction {
    return this.#functions.value[this.#function.value] ?? NOTHING;
  }

  get #showsCode(): boolean {
    return this.#wantsCode.value ?? this.#shown.is_changed;
  }

  #showNames(): void {
    const functions = this.#functions.value;
    this.#names.replaceChildren(
      ...functions.map(({ name, verdict }, i) => {
        const words = `${verdict.is_waste ? "⚠ " : ""}${name}`;
        const made = button(words, `Show ${name}`, () => update(this.#traits, { function: i, call: 1 }));
        made.append(h("span", { class: "tft-muted" }, ` ${verdict.sign}`));
        made.setAttribute("aria-label", `${name} ${verdict.sign}`);
        made.setAttribute("aria-pressed", `${i === this.#function.value}`);
        made.classList.toggle("tft-wasteful", verdict.is_waste);
        return made;
      }),
    );
    if (functions.length === 0) this.#names.replaceChildren("No traced function was called yet.");
  }

  #showVerdict(): void {
    const { verdict, traces, count, made_variables: made, at } = this.#shown;
    const { headline, cost, fix, code, is_waste: isWaste } = verdict;
    this.#verdict.hidden = headline === "";
    this.#verdict.classList.toggle("tft-wasteful", isWaste);
    const words = h("div", { class: "tft-trace-words" }, h("p", { class: "tft-headline" }, ...codes(headline)));
    const more = [cost, fix].filter((text) => text !== "");
    words.append(...more.map((text) => h("p", { class: text === cost ? "tft-muted" : "" }, ...codes(text))));
    if (code !== "") words.append(h("pre", {}, code));
    if (!isWaste && at !== "") words.append(h("p", { class: "tft-muted" }, at));
    if (made)
      words.append(h("p", { class: "tft-muted" }, "It was traced twice at first: the first trace made variables."));
    const plot =
      count === 0
        ? null
        : h(
            "figure",
            {},
            stairs(
              traces.map(({ call }) => call),
              count,
              isWaste,
            ),
            h("figcaption", { class: "tft-muted" }, "traces against calls"),
          );
    this.#verdict.replaceChildren(words, plot ?? "");
  }

  #showCodeButton(): void {
    const { converted, problem } = this.#shown;
    this.#codeButton.hidden = this.#functions.value.length === 0;
    this.#codeButton.disabled = converted === null;
    if (problem !== "") this.#codeButton.title = problem;
    this.#codeButton.setAttribute("aria-pressed", `${this.#showsCode && converted !== null}`);
    this.#body.classList.toggle("tft-with-converted", this.#showsCode && converted !== null);
  }

  /** Shows another trace; nothing changes while more calls of the same one arrive. */
  #showGraph(key: string): void {
    const graph = this.#graphs.value[key];
    if (graph === undefined) {
      this.#pane?.destroy();
      this.#pane = undefined;
      const none = this.#functions.value.length > 0;
      this.#body.replaceChildren(none ? h("p", { class: "tft-muted" }, "The graph of this trace was not kept.") : "");
      return;
    }
    if (this.#pane?.isOf(key, graph) === true) return;
    this.#pane?.destroy();
    const { code, converted } = untracked(() => this.#shown);
    this.#pane = new TracePane(key, graph, code, converted, this.#traits.get("height"), this.#body);
  }
}

/** A trace beside the code. */
class TracePane {
  readonly #key: string;
  readonly #ops: number;
  readonly #cleanup = new Cleanup();
  readonly #view: GraphView;

  constructor(
    key: string,
    { ops, inner }: TraceGraph,
    code: CodeBlock[],
    converted: CodeBlock | null,
    height: number,
    parent: HTMLElement,
  ) {
    this.#key = key;
    this.#ops = ops.rows.length;
    const cleanup = this.#cleanup;
    const links = new LineLinks("Code", () => this.#view, signal(inner));
    parent.replaceChildren();
    this.#view = new GraphView(new LocalTraits(ops, { height, group_above: GROUP_ABOVE, labels: true }), parent, {
      isRecord: true,
      decorate: (node, marks) => links.node(node, marks),
      edge: (edge, classes) => links.edge(edge, classes),
    });
    const counted = computed(() => code.map((block) => withCounts(block, links.ofLine.value)));
    const column = h("div", { class: "tft-trace-code" }, links.add(counted, cleanup, "Source"));
    if (converted !== null) {
      const written = links.add(signal([converted]), cleanup, "The code that AutoGraph wrote");
      written.classList.add("tft-converted");
      column.append(written);
    }
    this.#view.frame.body.prepend(column);
    links.connect(cleanup);
    this.#view.start();
    cleanup.add(() => this.#view.destroy());
  }

  isOf(key: string, graph: TraceGraph): boolean {
    return key === this.#key && graph.ops.rows.length === this.#ops;
  }

  destroy(): void {
    this.#cleanup.end();
  }
}

/** A block with the number of ops of each line in this trace. */
function withCounts(block: CodeBlock, ofLine: Map<string, number[]>): CodeBlock {
  return {
    ...block,
    lines: block.lines.map(([text], i) => {
      const count = ofLine.get(keyOf(block.file, block.first + i))?.length ?? 0;
      const words = count === 1 ? "1 op" : `${count} ops`;
      return [text, count === 0 ? [] : [["count", words, `${words} of this trace`]]];
    }),
  };
}

/** A sentence whose parts between backticks are code. */
const codes = (line: string): (string | HTMLElement)[] =>
  line.split("`").map((part, i) => (i % 2 === 1 ? h("code", {}, part) : part));

const NOTHING: WireFunction = {
  name: "",
  at: "",
  count: 0,
  calls: [],
  traces: [],
  made_variables: false,
  verdict: { kind: "clean", is_waste: false, sign: "", headline: "", cost: "", fix: "", code: "" },
  code: [],
  converted: null,
  problem: "",
  is_changed: false,
};

export default hosted((traits: Traits<TraceTraits>, el) => new TraceView(traits, el));
