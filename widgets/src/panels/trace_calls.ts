// The calls of a traced function as signs in a row, and what one of them passed.
import { button, consume, h } from "../base/elements";
import { count, digits } from "../base/format";
import type { FunctionCall, FunctionTrace, WireFunction } from "../kernel/trace_messages";
import { decodeCall } from "../kernel/trace_messages";

const msText = (ms: number): string => `${ms >= 100 ? ms.toFixed(0) : ms.toFixed(ms >= 10 ? 1 : 2)} ms`;

/** A moment of a function: a call with its trace, or a trace whose call is not known. */
export interface Moment {
  call: FunctionCall | undefined;
  number: number;
  trace: FunctionTrace | undefined;
}

/** What the number of a call, or of a trace, stands for. */
export function momentOf(of: WireFunction, number: number): Moment {
  const row = of.calls[number - 1];
  if (row === undefined) return { call: undefined, number, trace: of.traces[number - 1] };
  const call = decodeCall(row, number - 1);
  return { call, number: call.trace, trace: of.traces[call.trace - 1] };
}

export class TraceCalls {
  readonly el = h("div", { class: "tft-calls" });
  readonly #choose: (number: number) => void;

  constructor(choose: (number: number) => void) {
    this.#choose = choose;
    this.el.addEventListener("keydown", (event) => this.#key(event));
  }

  show(of: WireFunction, chosen: number): void {
    const hadFocus = this.el.querySelector("button:focus") !== null;
    const known = of.calls.length > 0;
    const signs = known
      ? of.calls.map((row, i) => this.#sign(of, i + 1, decodeCall(row, i), chosen))
      : of.traces.map((_, i) => this.#sign(of, i + 1, undefined, chosen));
    const list = h(
      "ol",
      { "aria-label": known ? `Calls of ${of.name}` : `Traces of ${of.name}` },
      ...signs.map((sign) => h("li", {}, sign)),
    );
    if (known && of.count > of.calls.length)
      list.append(h("li", { class: "tft-muted" }, `and ${digits(of.count - of.calls.length)} more`));
    const key = known
      ? h(
          "span",
          { class: "tft-muted tft-calls-key" },
          h("i", { class: "tft-call tft-made", "aria-hidden": "true" }),
          "traced",
          of.verdict.is_waste ? h("i", { class: "tft-call tft-made tft-anew", "aria-hidden": "true" }) : null,
          of.verdict.is_waste ? "traced anew" : null,
          h("i", { class: "tft-call", "aria-hidden": "true" }),
          "found its trace",
        )
      : null;
    this.el.replaceChildren(h("span", { class: "tft-calls-word" }, known ? "Calls" : "Traces"), list, key ?? "");
    if (hadFocus) signs[chosen - 1]?.focus();
  }

  #sign(of: WireFunction, number: number, call: FunctionCall | undefined, chosen: number): HTMLButtonElement {
    const trace = call?.trace ?? number;
    const isNew = call === undefined || call.isNew;
    const reason = of.traces[trace - 1]?.reason ?? "";
    const how = isNew ? `trace ${trace}, new: ${reason}` : `trace ${trace}, found`;
    const title = call === undefined ? how : `Call ${number}: ${how}`;
    const made = button(`${trace}`, title, () => this.#choose(number), "tft-call");
    made.setAttribute("aria-label", `${trace}. ${title}`);
    made.classList.toggle("tft-made", isNew);
    made.classList.toggle("tft-anew", isNew && isAnew(of, trace));
    made.setAttribute("aria-pressed", `${number === chosen}`);
    made.tabIndex = number === chosen ? 0 : -1;
    return made;
  }

  #key(event: KeyboardEvent): void {
    const signs = [...this.el.querySelectorAll<HTMLElement>("button.tft-call")];
    const at = signs.findIndex((sign) => sign.matches(":focus"));
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: signs.length - 1 }[event.key];
    const next = to === undefined || at < 0 ? undefined : signs[to];
    if (next === undefined) return;
    consume(event);
    next.focus();
    next.click();
  }
}

/** Whether a trace is one of those that the verdict counts as waste. */
const isAnew = (of: WireFunction, trace: number): boolean =>
  of.verdict.is_waste && of.traces[trace - 1]?.kind !== "first";

/** What a call was, and its arguments beside those of the trace that it is compared with. */
export function momentDetails(of: WireFunction, { call, number, trace }: Moment): HTMLElement {
  if (trace === undefined) return h("div", { class: "tft-moment" });
  const isNew = call === undefined || call.isNew;
  const facts: (HTMLElement | string)[] = [];
  if (call !== undefined) {
    facts.push(h("b", {}, `Call ${call.number}`), call.inside === "" ? "" : ` inside the trace of ${call.inside}`);
    if (call.at !== "") facts.push(h("span", { class: "tft-muted" }, ` ${call.at} `), h("code", {}, call.text));
  }
  const words = isNew ? `traced: ${trace.reason}` : `found trace ${number}`;
  const took: string[] = [];
  if (isNew && trace.tracing_ms > 0) took.push(`${msText(trace.tracing_ms)} tracing`);
  if (call !== undefined) took.push(`${msText(call.runMs)} running`);
  took.push(count(trace.ops, "op"));
  return h(
    "div",
    { class: "tft-moment", "aria-live": "polite" },
    h("p", {}, ...facts),
    h(
      "p",
      { class: isNew && isAnew(of, number) ? "tft-anew-word" : "" },
      h("b", {}, `${isNew ? `Trace ${number}, ` : ""}${words}`),
      h("span", { class: "tft-muted" }, ` · ${took.join(" · ")}`),
    ),
    argumentTable(of, call, number, trace, isNew),
  );
}

function argumentTable(
  of: WireFunction,
  call: FunctionCall | undefined,
  number: number,
  trace: FunctionTrace,
  isNew: boolean,
): HTMLElement | "" {
  if (trace.arguments.length === 0) return "";
  const other = isNew ? of.traces[trace.compared - 1] : undefined;
  const before = new Map(other?.arguments ?? []);
  const different = new Set(trace.differences.map(([argument]) => argument));
  const names = [...new Set([...trace.arguments.map(([name]) => name), ...different])];
  const head = ["argument", ...(other === undefined ? [] : [`trace ${trace.compared}`]), `trace ${number}`];
  const rows = names.map((name, i) => {
    const now = trace.arguments.find(([known]) => known === name)?.[1] ?? "not there";
    const isDifferent = isNew && different.has(name);
    const passed = call?.args[i];
    const shown = !isNew && passed !== undefined ? passed : now;
    return h(
      "tr",
      { class: isDifferent ? "tft-different" : null },
      h("th", { scope: "row" }, h("code", {}, name)),
      other === undefined ? null : h("td", {}, before.get(name) ?? "not there"),
      h("td", {}, shown, isDifferent ? h("b", {}, " ≠") : null),
    );
  });
  return h(
    "table",
    { class: "tft-arguments" },
    h("thead", {}, h("tr", {}, ...head.map((word) => h("th", { scope: "col" }, word)))),
    h("tbody", {}, ...rows),
  );
}
