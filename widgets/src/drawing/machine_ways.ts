// The ways between the machines of a cluster: curves, arrows, dots that travel on them, and words beside them.
import { s } from "../base/svg";

const PORT = 48; // pixels between the ways to and from a machine
const LABEL_H = 20;
const POSITIONS = [0.4, 0.5, 0.6, 0.3, 0.7]; // on a way, the best first
const GAP = 2; // between labels
const NEAR = [0, 12, -12, 24, -24, 36, -36, 48, -48, 60, -60]; // from a moving point to its label, the best first
const SHIFT = 20; // from a level way to a label above or below it

export interface Point {
  x: number;
  y: number;
}

/** A curve from machine to machine, for all messages that go this way. */
export interface Way {
  from: Point;
  to: Point;
  bend: [Point, Point];
  /** Where there is room for words: left, right or below. */
  side: -1 | 0 | 1;
}

/** True if a way straight from `a` to `b`, beside each other, would cross a machine. */
export function isBetween(place: DOMRect, a: DOMRect, b: DOMRect): boolean {
  const [left, right] = a.left < b.left ? [a.right, b.left] : [b.right, a.left];
  const y = (a.top + a.bottom) / 2;
  return place.left >= left && place.right <= right && place.top < y && place.bottom > y;
}

/** From the side of a machine that faces the other; two ways between the same machines run side by side. */
export function wayBetween(a: DOMRect, b: DOMRect, hasReturn: boolean, isBlocked: boolean): Way {
  const [down, up] = [b.top > a.bottom, b.bottom < a.top];
  const shift = hasReturn ? PORT / 2 : 0;
  if (down || up) {
    const side = down ? -shift : shift;
    const from = { x: a.left + a.width / 2 + side, y: down ? a.bottom : a.top };
    const to = { x: b.left + b.width / 2 + side, y: down ? b.top : b.bottom };
    const middle = (from.y + to.y) / 2;
    return {
      from,
      to,
      bend: [
        { x: from.x, y: middle },
        { x: to.x, y: middle },
      ],
      side: down ? -1 : 1,
    };
  }
  const right = b.left >= a.right;
  if (isBlocked) {
    const side = right ? -shift / 2 : shift / 2;
    const from = { x: a.left + a.width / 2 + side, y: a.bottom };
    const to = { x: b.left + b.width / 2 + side, y: b.bottom };
    const y = Math.max(from.y, to.y) + 34 + side;
    return {
      from,
      to,
      bend: [
        { x: from.x, y },
        { x: to.x, y },
      ],
      side: 0,
    };
  }
  const side = right ? -shift / 2 : shift / 2;
  const from = { x: right ? a.right : a.left, y: a.top + a.height / 2 + side };
  const to = { x: right ? b.left : b.right, y: a.top + a.height / 2 + side };
  const middle = (from.x + to.x) / 2;
  return {
    from,
    to,
    bend: [
      { x: middle, y: from.y },
      { x: middle, y: to.y },
    ],
    side: 0,
  };
}

export function pathOf({ from, to, bend: [a, b] }: Way): string {
  return `M${from.x},${from.y}C${a.x},${a.y} ${b.x},${b.y} ${to.x},${to.y}`;
}

export function pointOn({ from, to, bend: [a, b] }: Way, t: number): Point {
  const u = 1 - t;
  const [p, q, r, w] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
  return {
    x: p * from.x + q * a.x + r * b.x + w * to.x,
    y: p * from.y + q * a.y + r * b.y + w * to.y,
  };
}

export function arrowAt({ to, bend: [, b] }: Way, classes: string): SVGElement {
  const angle = (Math.atan2(to.y - b.y, to.x - b.x) * 180) / Math.PI;
  return s("path", {
    class: `${classes} tft-arrow`,
    d: "M0,0L-9,-4.5V4.5Z",
    transform: `translate(${to.x.toFixed(1)},${to.y.toFixed(1)}) rotate(${angle.toFixed(1)})`,
  });
}

export const dot = ({ x, y }: Point, classes: string): SVGElement =>
  s("circle", { class: classes, cx: x.toFixed(1), cy: y.toFixed(1), r: 7 });

/** Words on grounds of their own, inside the picture. */
export class LabelPlaces {
  readonly #width: number;
  readonly #taken: DOMRect[];

  /** @param taken where no label of a way may stand. */
  constructor(width: number, taken: readonly DOMRect[]) {
    this.#width = width;
    this.#taken = [...taken];
  }

  /** Beside a way: the longest of these words for which there is room; the shortest anyway. */
  beside(way: Way, choices: readonly string[], classes: string): SVGElement {
    const shifts = way.side === 0 ? [0, -SHIFT, SHIFT] : [0];
    for (const said of choices)
      for (const t of POSITIONS)
        for (const shift of shifts) {
          const { x, y } = pointOn(way, t);
          const box = this.#boxOf({ x, y: y + shift }, said, way.side);
          if (this.#taken.some((other) => meet(other, box))) continue;
          this.#taken.push(box);
          return drawn(box, said, classes);
        }
    return this.at(pointOn(way, 0.5), choices.at(-1)!, classes, 0);
  }

  /** Beside a moving point; nothing if there is no room. */
  near(point: Point, said: string, classes: string, side: Way["side"]): SVGElement {
    const box = this.roomNear(point, said, side);
    return box === undefined ? s("g", { class: classes }) : drawn(box, said, classes);
  }

  /** The free place that is nearest to a point, which is then taken. */
  roomNear(point: Point, said: string, side: Way["side"]): DOMRect | undefined {
    const boxes = NEAR.map((shift) => this.#boxOf({ x: point.x, y: point.y + shift }, said, side));
    const box = boxes.find((each) => !this.#taken.some((other) => meet(other, each)));
    if (box !== undefined) this.#taken.push(box);
    return box;
  }

  /** Beside a point, whatever is there. */
  at(point: Point, said: string, classes: string, side: Way["side"]): SVGElement {
    return drawn(this.#boxOf(point, said, side), said, classes);
  }

  #boxOf({ x, y }: Point, said: string, side: Way["side"]): DOMRect {
    const wide = 6.9 * said.length + 14;
    const beside = side === 0 ? x - wide / 2 : side < 0 ? x - wide - 12 : x + 12;
    const left = Math.max(2, Math.min(this.#width - wide - 2, beside));
    return new DOMRect(left, y - LABEL_H / 2, wide, LABEL_H);
  }
}

const meet = (a: DOMRect, b: DOMRect): boolean =>
  a.left < b.right + GAP && b.left < a.right + GAP && a.top < b.bottom + GAP && b.top < a.bottom + GAP;

const drawn = ({ left, top, width }: DOMRect, said: string, classes: string): SVGElement =>
  s(
    "g",
    { class: classes },
    s("rect", { x: left.toFixed(1), y: top.toFixed(1), width: width.toFixed(1), height: LABEL_H, rx: LABEL_H / 2 }),
    s("text", { x: (left + width / 2).toFixed(1), y: (top + 14.2).toFixed(1), "text-anchor": "middle" }, said),
  );
