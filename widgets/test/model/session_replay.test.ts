import { expect, test } from "vitest";
import type { SessionRun } from "../../src/kernel/view_messages";
import { replay } from "../../src/model/session_replay";

const run = (session: string, changes: Record<string, string | null>): SessionRun => ({
  session,
  changes,
  fetches: [],
  feeds: [],
  where: "",
  text: "",
  error: "",
});

const START = { a: { w: null }, b: { w: "9" } };
const RUNS = [run("a", { w: "1" }), run("b", {}), run("a", { w: "2", v: "0" })];

test("each session keeps its own variables, run by run", () => {
  const after = (n: number): unknown => Object.fromEntries(replay(START, RUNS, n));
  expect(after(0)).toEqual({ a: { w: null }, b: { w: "9" } });
  expect(after(1)).toEqual({ a: { w: "1" }, b: { w: "9" } });
  expect(after(3)).toEqual({ a: { w: "2", v: "0" }, b: { w: "9" } });
  expect(START.a.w).toBeNull();
});

test("a session that was not there at the start", () => {
  expect(replay({}, [run("c", { w: "5" })], 1).get("c")).toEqual({ w: "5" });
});
