import { expect, test } from "vitest";
import { DeviceColumns } from "../../src/layout/device_links";
import type { Scene, SceneNode } from "../../src/layout/scene";
import { makeScene } from "../../src/layout/scene";
import type { Spec } from "../helpers";
import { model, options } from "../helpers";

const send = (name: string, read: string): Spec => ({ name, type: "_Send", reads: [read], outputs: [] });
const recv = (name: string, from: string): Spec => ({ name, type: "_Recv", reads: [from] });

/** CPU:0 feeds both GPUs, which answer; GPU:0 also sends to GPU:1. */
const SPECS: Spec[] = [
  { name: "CPU:0/x", type: "_Arg" },
  send("CPU:0/x/_0", "CPU:0/x"),
  send("CPU:0/x/_2", "CPU:0/x"),
  recv("GPU:0/x/_1", "CPU:0/x/_0"),
  { name: "GPU:0/tower/w" },
  { name: "GPU:0/tower/y", reads: ["GPU:0/x/_1", "GPU:0/tower/w"] },
  send("GPU:0/tower/w/_4", "GPU:0/tower/w"),
  send("GPU:0/tower/y/_6", "GPU:0/tower/y"),
  recv("GPU:1/x/_3", "CPU:0/x/_2"),
  recv("GPU:1/tower/w/_5", "GPU:0/tower/w/_4"),
  { name: "GPU:1/far/y", reads: ["GPU:1/x/_3", "GPU:1/tower/w/_5"] },
  send("GPU:1/far/y/_8", "GPU:1/far/y"),
  recv("CPU:0/tower/y/_7", "GPU:0/tower/y/_6"),
  recv("CPU:0/far/y/_9", "GPU:1/far/y/_8"),
  { name: "CPU:0/sum", reads: ["CPU:0/tower/y/_7", "CPU:0/far/y/_9"] },
];

const drawn = (...open: string[]): Scene => drawnOf(SPECS, ...open);

function drawnOf(specs: Spec[], ...open: string[]): Scene {
  const devices = new DeviceColumns();
  const extra = {
    rules: { aside: new Set<string>(), inline: new Set<string>(), devices: true },
    devices,
  };
  const scene = makeScene(model(specs), { ...options(...open), ...extra }, new Map());
  devices.complete(scene);
  return scene;
}

const DEVICES = ["CPU:0/", "GPU:0/", "GPU:1/"];
const left = ({ x, w }: SceneNode): number => x - w / 2;
const right = ({ x, w }: SceneNode): number => x + w / 2;

test("a device stands apart from those with which it exchanges most, its transfers at its side", () => {
  const { byId } = drawn(...DEVICES);
  const [cpu, first, second] = DEVICES.map((id) => byId.get(id)!) as [SceneNode, SceneNode, SceneNode];
  expect(right(cpu)).toBeLessThan(left(first));
  expect(left(first)).toBe(left(second));
  expect(first.y + first.h / 2).toBeLessThan(second.y - second.h / 2);
  // at the top of their device, not in the scopes after which they are named
  const sent = byId.get("GPU:0/tower/y/_6")!;
  const tower = byId.get("GPU:0/tower/")!;
  expect(sent.scope).toBe("GPU:0/");
  expect(right(sent)).toBeLessThan(left(tower)); // towards CPU:0
  expect(right(byId.get("GPU:0/tower/w/_4")!)).toBeLessThan(left(tower)); // the way to GPU:1 is there, too
  expect(left(byId.get("CPU:0/x/_0")!)).toBeGreaterThan(right(byId.get("CPU:0/x")!));
});

test("what is sent in a group is one box, which opens to a stack", () => {
  const group = (name: string): string => name.replace("CPU:0/x/", "CPU:0/to GPU:0/x/");
  const specs = SPECS.map((spec) => ({ ...spec, name: group(spec.name), reads: spec.reads?.map(group) ?? [] }));
  const closed = drawnOf(specs, ...DEVICES);
  const box = closed.byId.get("CPU:0/to GPU:0/")!;
  expect(left(box)).toBeGreaterThan(right(closed.byId.get("CPU:0/x")!));
  const sent = closed.edges.filter(({ id }) => id.startsWith("link|CPU:0/to GPU:0/"));
  expect(sent.length).toBe(2); // to both of its readers
  const open = drawnOf(specs, ...DEVICES, "CPU:0/to GPU:0/");
  const [one, other] = [open.byId.get("CPU:0/to GPU:0/x/_0")!, open.byId.get("CPU:0/to GPU:0/x/_2")!];
  expect(one.scope).toBe("CPU:0/to GPU:0/");
  expect(one.x).toBe(other.x);
  expect(one.y).not.toBe(other.y);
});

test.each([[DEVICES], [[...DEVICES, "GPU:0/tower/", "GPU:1/far/"]], [["CPU:0/"]]])(
  "%j open: nothing overlaps",
  (open) => {
    const scene = drawn(...open);
    for (const [i, a] of scene.nodes.entries()) {
      for (const b of scene.nodes.slice(i + 1)) {
        if (a.scope !== b.scope) continue;
        const apart = Math.abs(a.x - b.x) >= (a.w + b.w) / 2 - 0.5 || Math.abs(a.y - b.y) >= (a.h + b.h) / 2 - 0.5;
        expect(apart, `${a.id} and ${b.id}`).toBe(true);
      }
      const home = scene.byId.get(a.scope);
      if (home === undefined) continue;
      expect(left(a), a.id).toBeGreaterThanOrEqual(left(home));
      expect(right(a), a.id).toBeLessThanOrEqual(right(home));
      expect(a.y + a.h / 2, a.id).toBeLessThanOrEqual(home.y + home.h / 2);
    }
  },
);

test("every _Send is joined to its _Recv, past the devices between them", () => {
  const scene = drawn(...DEVICES);
  const links = scene.edges.filter(({ id }) => id.startsWith("link|"));
  expect(links.length).toBe(5);
  for (const { points, base } of links) {
    const [from, to] = [scene.boxOf.get(base[0]!.from)!, scene.boxOf.get(base[0]!.to)!];
    const [first, last] = [points[0]!, points.at(-1)!];
    expect([left(from), right(from)]).toContain(first[0]);
    expect([left(to), right(to)]).toContain(last[0]);
    expect(Math.abs(first[1] - from.y)).toBeLessThan(from.h / 2);
    // no piece crosses a device that is neither end
    for (const device of DEVICES.map((id) => scene.byId.get(id)!)) {
      if (from.id.startsWith(device.id) || to.id.startsWith(device.id)) continue;
      for (const [i, [x, y]] of points.entries()) {
        const [nextX, nextY] = points[i + 1] ?? [x, y];
        const across = Math.min(x, nextX) < right(device) && Math.max(x, nextX) > left(device);
        const down = Math.min(y, nextY) < device.y + device.h / 2 && Math.max(y, nextY) > device.y - device.h / 2;
        expect(across && down, device.id).toBe(false);
      }
    }
  }
  // the tracks of lines that turn between the same devices differ
  const turns = links.flatMap(({ points }) => points.slice(1, 2).map(([x]) => x));
  expect(new Set(turns).size).toBe(turns.length);
});

test("a closed device takes all its links", () => {
  const scene = drawn("CPU:0/");
  const links = scene.edges.filter(({ id }) => id.startsWith("link|"));
  expect(links.some(({ base }) => scene.boxOf.get(base[0]!.to)?.id === "GPU:0/")).toBe(true);
  expect(links.every(({ depth }) => depth <= 1)).toBe(true);
});
