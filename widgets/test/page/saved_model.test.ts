import { expect, test } from "vitest";
import type { Answers } from "../../src/page/saved_model";
import { SavedModel } from "../../src/page/saved_model";

const ANSWERS: Answers = {
  asked: ["fetches", "unfolded"],
  values: ["as it runs", "unfolded"],
  cases: [
    { when: [["a"], false], answer: { summary: 0 } },
    { when: [["a"], true], answer: { summary: 1 } },
    { when: [["b"], false], answer: { summary: 0 } },
  ],
  otherwise: { summary: "unknown" },
};

function model(answers: Answers | null = ANSWERS): SavedModel {
  return new SavedModel({ fetches: ["a"], unfolded: false, summary: "", _asked: 0, _heard: 0 }, answers);
}

test("an answer arrives after save_changes, and listeners hear of it", () => {
  const saved = model();
  const heard: unknown[] = [];
  saved.on("change:summary", () => heard.push(saved.get("summary")));
  saved.set("unfolded", true);
  expect(heard).toEqual([]);
  saved.save_changes();
  expect(heard).toEqual(["unfolded"]);
  saved.set("fetches", ["c"]);
  saved.save_changes();
  saved.set("fetches", ["a"]);
  saved.save_changes();
  expect(heard).toEqual(["unfolded", "unknown", "unfolded"]);
});

test("other traits ask nothing", () => {
  const saved = model();
  saved.set("selected", "a");
  saved.save_changes();
  expect(saved.get("summary")).toBe("");
});

test("the number is returned only where the other way is known", () => {
  for (const [fetches, heard] of [["a", 7] as const, ["b", 0] as const]) {
    const saved = model();
    saved.set("fetches", [fetches]);
    saved.set("_asked", 7);
    saved.save_changes();
    expect(saved.get("_heard")).toBe(heard);
  }
});

test("without answers nothing happens, and a listener can be removed", () => {
  const saved = model(null);
  let count = 0;
  const act = (): void => {
    count += 1;
  };
  saved.on("change:fetches", act);
  saved.set("fetches", []);
  saved.off("change:fetches", act);
  saved.set("fetches", ["b"]);
  saved.save_changes();
  expect(count).toBe(1);
  expect(saved.get("summary")).toBe("");
});

test("what a view changed is told once", () => {
  const saved = model();
  const told: string[][] = [];
  saved.onSaved = (names) => told.push([...names]);
  saved.set("unfolded", true);
  saved.save_changes();
  saved.save_changes();
  expect(told).toEqual([["unfolded"]]);
});
