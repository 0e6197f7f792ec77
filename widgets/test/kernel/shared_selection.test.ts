import { expect, test } from "vitest";
import { shareSelection } from "../../src/kernel/shared_selection";

/** A view's state, as anywidget's model holds it. */
class State {
  shown = 0;
  selected = "";
  private readonly listeners = new Set<() => void>();
  readonly end: () => void;

  constructor(
    page: EventTarget,
    private readonly graph: string,
  ) {
    this.end = shareSelection(this, () => (this.shown += 1), page);
  }

  get(key: string): string {
    return key === "_graph" ? this.graph : this.selected;
  }

  set(_: string, name: string): void {
    this.selected = name;
    for (const act of this.listeners) act();
  }

  save_changes(): void {
    // there is no kernel
  }

  on(_: string, act: () => void): void {
    this.listeners.add(act);
  }

  off(_: string, act: () => void): void {
    this.listeners.delete(act);
  }

  select(name: string): void {
    this.set("selected", name);
  }
}

test("views of one graph share what is selected, those of others do not", () => {
  const page = new EventTarget();
  const [a, b, other, alone] = [new State(page, "g"), new State(page, "g"), new State(page, "h"), new State(page, "")];
  a.select("x");
  expect([a, b, other, alone].map((v) => v.selected)).toEqual(["x", "x", "", ""]);
  b.select("y");
  alone.select("z");
  expect([a, b, other, alone].map((v) => v.selected)).toEqual(["y", "y", "", "z"]);
  b.select("");
  expect(a.selected).toBe("");
});

test("what is selected elsewhere is shown, and what is gone hears nothing", () => {
  const page = new EventTarget();
  const [a, b] = [new State(page, "g"), new State(page, "g")];
  a.select("x");
  expect(b.shown).toBeGreaterThan(0);
  b.end();
  const before = b.shown;
  a.select("y");
  expect(b.selected).toBe("x");
  expect(b.shown).toBe(before);
});
