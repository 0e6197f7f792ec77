// The sessions view: sessions on one graph, what the variables of each hold, and the runs that made it so.
import { Cleanup } from "../base/cleanup";
import { breakable, button, consume, focusNear, h } from "../base/elements";
import { hosted } from "../kernel/host";
import type { Traits } from "../kernel/traits";
import { onChange } from "../kernel/traits";
import type { SessionRow, SessionRun, SessionsTraits } from "../kernel/view_messages";
import { shorten } from "../layout/box_style";
import { replay } from "../model/session_replay";

const COLOURS = 6;
const MOST_CHANGES = 4; // in a line of the log; the table shows all
const MOST_NAME = 64;

class SessionsView {
  readonly #traits: Traits<SessionsTraits>;
  readonly #title = h("h3");
  readonly #slider = h("input", { type: "range", min: "0", "aria-label": "After how many runs" });
  readonly #when = h("span", { class: "tft-when", "aria-live": "polite" });
  readonly #back = button("◀", "One run back (left arrow)", () => this.#go(this.#at - 1));
  readonly #on = button("▶", "One run on (right arrow)", () => this.#go(this.#at + 1));
  readonly #last = button("Now", "After the last run (End)", () => this.#go(Infinity));
  readonly #states = h("div", {
    class: "tft-states",
    role: "region",
    tabindex: "0",
    "aria-label": "What the variables hold",
  });
  readonly #list = h("ol", { role: "listbox", "aria-label": "Runs" });
  readonly #head = h("h4");
  readonly #root: HTMLElement;
  /** After how many of the known runs; null follows the last. */
  #step: number | null = null;
  readonly #cleanup = new Cleanup();

  constructor(traits: Traits<SessionsTraits>, parent: HTMLElement) {
    this.#traits = traits;

    const transport = h(
      "div",
      { class: "tft-transport", role: "group", "aria-label": "Runs" },
      this.#back,
      this.#slider,
      this.#on,
      this.#last,
    );
    this.#root = h(
      "div",
      {
        class: "tfteach-graph tfteach-sessions",
        role: "group",
        "aria-label": "Sessions on one graph",
        "data-lm-suppress-shortcuts": "true",
      },
      h("div", { class: "tft-sessions-bar" }, this.#title, transport, this.#when),
      h(
        "div",
        { class: "tft-sessions-body" },
        this.#states,
        h("section", { class: "tft-run-log" }, this.#head, this.#list),
      ),
    );
    parent.append(this.#root);
    this.#slider.addEventListener("input", () => this.#go(Number(this.#slider.value)));
    this.#list.addEventListener("keydown", (event) => this.#onKey(event));
    this.#root.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: this.#at - 1, ArrowRight: this.#at + 1, Home: 0, End: Infinity }[event.key];
      if (to === undefined || event.target === this.#slider || event.altKey || event.ctrlKey || event.metaKey) return;
      consume(event);
      this.#go(to);
    });
    const drawn = ["_sessions", "_variables", "_start", "_log", "_forgotten", "height"] as const;
    this.#cleanup.add(
      onChange(traits, [...drawn], () => this.#later()),
      () => this.#root.remove(),
    );
    this.#show();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  #waits = false;

  /** Several attributes change at a time: one drawing for all of them. */
  #later(): void {
    if (this.#waits) return;
    this.#waits = true;
    queueMicrotask(() => {
      this.#waits = false;
      this.#show();
    });
  }

  get #at(): number {
    return Math.min(this.#step ?? Infinity, this.#traits.get("_log").length);
  }

  #go(step: number): void {
    const end = this.#traits.get("_log").length;
    const to = Math.max(0, Math.min(end, step));
    this.#step = to === end ? null : to;
    this.#show();
  }

  #show(): void {
    const [runs, sessions] = [this.#traits.get("_log"), this.#traits.get("_sessions")];
    const at = this.#at;
    const ops = this.#traits.get("_ops");
    this.#title.replaceChildren(
      count(sessions.length, "session"),
      " on one graph",
      h("span", {}, `${count(ops, "op")}, ${count(this.#traits.get("_variables").length, "variable")}`),
    );
    this.#slider.max = `${runs.length}`;
    this.#slider.value = `${at}`;
    this.#slider.disabled = runs.length === 0;
    this.#back.disabled = at === 0;
    this.#on.disabled = this.#last.disabled = at === runs.length;
    const before = this.#traits.get("_forgotten");
    this.#when.textContent =
      runs.length === 0
        ? "no run seen yet"
        : at === 0
          ? before > 0
            ? `after run ${before}`
            : "before any run"
          : `after run ${at + before} of ${runs.length + before}`;
    this.#slider.setAttribute("aria-valuetext", this.#when.textContent);
    this.#showStates(sessions, runs, at);
    this.#showRuns(sessions, runs, at);
    const height = this.#traits.get("height");
    for (const part of [this.#states, this.#list.parentElement!]) part.style.height = height > 0 ? `${height}px` : "";
  }

  // --- what the variables hold ---

  #showStates(sessions: readonly SessionRow[], runs: readonly SessionRun[], at: number): void {
    const variables = this.#traits.get("_variables");
    if (sessions.length === 0 || variables.length === 0) {
      this.#states.replaceChildren(
        h(
          "p",
          { class: "tft-nothing" },
          sessions.length === 0
            ? "No session yet. A session that runs this graph appears here."
            : "This graph has no variables yet, so its sessions have nothing to keep.",
        ),
      );
      return;
    }
    const run = at > 0 ? runs[at - 1] : undefined;
    const now = replay(this.#traits.get("_start"), runs, at);
    const before = replay(this.#traits.get("_start"), runs, Math.max(0, at - 1));
    const heads = sessions.map((session, i) =>
      h("th", { scope: "col" }, this.#sessionHead(session, i, run?.session === session.name)),
    );
    const rows = variables.map(({ name, type }) =>
      h(
        "tr",
        {},
        h(
          "th",
          { scope: "row", class: "tft-name" },
          h("code", { title: name }, ...breakable(shorten(name, MOST_NAME))),
          h("span", {}, type),
        ),
        ...sessions.map((session, i) => {
          const changed = run !== undefined && run.session === session.name && name in run.changes;
          const value = now.get(session.name)?.[name] ?? null;
          // A closed session's values are gone now, but existed before its last runs.
          if (session.closed && at === runs.length && value !== null)
            return h("td", {}, h("div", { class: `tft-holds tft-unset ${colour(i)}` }, h("del", {}, value)));
          return h("td", {}, holds(value, changed ? (before.get(session.name)?.[name] ?? null) : undefined, i));
        }),
      ),
    );
    this.#states.replaceChildren(
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, h("td", {}, h("span", { class: "tft-sr" }, "Variable")), ...heads)),
        h("tbody", {}, ...rows),
      ),
    );
  }

  #sessionHead({ name, closed, devices }: SessionRow, index: number, runsNow: boolean): HTMLElement {
    return h(
      "div",
      { class: `tft-session-head ${colour(index)}${runsNow ? " tft-runs-now" : ""}` },
      h("b", {}, name),
      h("span", {}, closed ? "closed: its variables are gone" : devices),
    );
  }

  // --- the log ---

  #showRuns(sessions: readonly SessionRow[], runs: readonly SessionRun[], at: number): void {
    const focused = this.#list.contains(focusNear(this.#list));
    const before = this.#traits.get("_forgotten");
    this.#head.textContent = before > 0 ? `Runs (the first ${before} are not kept)` : "Runs";
    const zero = this.#item(0, at, null, h("span", { class: "tft-what" }, "before any run"));
    if (before > 0) zero.querySelector(".tft-what")!.textContent = `after run ${before}`;
    this.#list.replaceChildren(
      zero,
      ...runs.map((run, i) => {
        const index = sessions.findIndex((s) => s.name === run.session);
        const call = `run(${run.fetches.join(", ")})`;
        const what = h(
          "span",
          { class: "tft-what" },
          h("span", { class: `tft-who ${colour(index)}` }, run.session),
          " ",
          h("code", {}, call),
          run.feeds.length > 0
            ? h("span", { class: "tft-did" }, `fed ${run.feeds.map((name) => shorten(name, 44)).join(", ")}`)
            : null,
          outcome(run),
          run.where === ""
            ? null
            : h(
                "span",
                { class: "tft-did" },
                `${run.where}${run.text === "" ? "" : ": "}`,
                run.text === "" ? null : h("code", {}, run.text),
              ),
        );
        return this.#item(i + 1, at, before + i + 1, what);
      }),
    );
    const chosen = this.#list.querySelector<HTMLElement>("[aria-selected=true]")!;
    if (focused) chosen.focus({ preventScroll: true });
    const [box, own] = [this.#list.getBoundingClientRect(), chosen.getBoundingClientRect()];
    if (own.top < box.top) this.#list.scrollTop += own.top - box.top;
    else if (own.bottom > box.bottom) this.#list.scrollTop += own.bottom - box.bottom;
  }

  #item(step: number, at: number, number: number | null, what: HTMLElement): HTMLElement {
    const item = h(
      "li",
      {
        role: "option",
        tabindex: step === at ? "0" : "-1",
        "aria-selected": step === at,
        class: step > at ? "tft-later" : "",
      },
      h("span", { class: "tft-number" }, number === null ? "" : `${number}`),
      what,
    );
    item.dataset.step = `${step}`;
    item.addEventListener("click", () => this.#go(step));
    return item;
  }

  #onKey(event: KeyboardEvent): void {
    const to = { ArrowUp: this.#at - 1, ArrowDown: this.#at + 1 }[event.key];
    if (to === undefined) return;
    consume(event);
    this.#go(to);
  }
}

/** A variable's value, with the one `before` if the last run changed it. */
function holds(value: string | null, before: string | null | undefined, index: number): HTMLElement {
  const unset = "uninitialized";
  const state = `${value === null ? " tft-unset" : ""}${before !== undefined ? " tft-changed" : ""}`;
  const classes = `tft-holds ${colour(index)}${state}`;
  if (before === undefined) return h("div", { class: classes }, h("span", {}, value ?? unset));
  return h(
    "div",
    { class: classes },
    h("del", {}, before ?? unset),
    h("span", { "aria-hidden": "true" }, "→"),
    h("ins", {}, value ?? unset),
  );
}

function outcome({ error, changes }: SessionRun): HTMLElement {
  if (error !== "") return h("span", { class: "tft-did tft-failed" }, `✗ ${error}`);
  const text = Object.entries(changes).map(
    ([name, value]) => `${shorten(name, 44)} = ${inShort(value ?? "uninitialized")}`,
  );
  const more = text.length > MOST_CHANGES ? `, and ${text.length - MOST_CHANGES} more` : "";
  return h(
    "span",
    { class: "tft-did" },
    text.length === 0 ? "changed no variable" : `now ${text.slice(0, MOST_CHANGES).join(", ")}${more}`,
  );
}

/** The first figures of a large variable; the table has all. */
function inShort(value: string): string {
  const [most, figures] = [34, value.split(", ")];
  let text = figures[0]!;
  for (const next of figures.slice(1)) {
    if (text.length + next.length + 2 > most) return shorten(`${text}, …`, most + 3);
    text += `, ${next}`;
  }
  return shorten(text, most);
}

const colour = (index: number): string => `tft-ses-${1 + (Math.max(0, index) % COLOURS)}`;

const count = (n: number, word: string): string => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

export default hosted((traits: Traits<SessionsTraits>, el) => new SessionsView(traits, el));
