/// <reference types="vite/client" />
import { expect, test } from "vitest";

/** The folders of src/, from the ground up: each imports from itself and from those before it. */
const ROOMS = ["base", "kernel", "model", "layout", "drawing", "panels", "graph_view", "views", "page"];

const sources = import.meta.glob<string>("../src/**/*.ts", { query: "?raw", import: "default", eager: true });

const room = (folder: string): number => ROOMS.indexOf(folder);

test("rooms import downwards only, and views never each other", () => {
  const upward = Object.entries(sources).flatMap(([path, text]) => {
    const own = /^\.\.\/src\/(\w+)\//.exec(path)![1]!;
    expect(room(own), path).toBeGreaterThanOrEqual(0);
    const targets = [...text.matchAll(/ from "(\.[^"]+)"/g)].map((match) => match[1]!);
    return targets
      .filter((target) => {
        const other = /^\.\.\/(\w+)\//.exec(target)?.[1] ?? own;
        return room(other) < 0 || room(other) > room(own) || (other === own && own === "views");
      })
      .map((target) => `${path} -> ${target}`);
  });
  expect(Object.keys(sources).length).toBeGreaterThan(60);
  expect(upward).toEqual([]);
});

test("no line is longer than 120 characters, also where the formatter cannot break it", () => {
  const long = Object.entries(sources).flatMap(([path, text]) =>
    text.split("\n").flatMap((line, i) => (line.length > 120 ? [`${path}:${i + 1}`] : [])),
  );
  expect(long).toEqual([]);
});
