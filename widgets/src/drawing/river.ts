// A pipeline drawn as a river that flows down: beds, the water in them, and basins for buffers.
import { s } from "../base/svg";
import type { PipelineStage, StageFigures } from "../kernel/pipeline_messages";

export const ROW = 60; // pixels, as in pipeline.css
const PAD = 9; // above and below a stage's stretch
const LANE = 92;
const SIDE = 8;
const MOST_SHARE = 0.44; // of a lane, on each side of its middle

export const riverWidth = (stages: readonly PipelineStage[]): number =>
  2 * SIDE + LANE * (1 + Math.max(0, ...stages.map(({ lane }) => lane)));

/** A way to a stage in another column: its middle, and how wide it is. */
export interface Join {
  d: string;
  width: number;
}

/**
 * The outlines of a stage's stretch and of the ways to the stages that read it, for these half widths; and the ways
 * into other columns.
 */
export function stretch(
  stages: readonly PipelineStage[],
  index: number,
  half: (index: number) => number,
): { own: string; ways: string[]; joins: Join[] } {
  const stage = stages[index]!;
  const [x, b] = [middle(stage), half(index)];
  const upper = ROW * index + PAD;
  const lower = upper + ROW - 2 * PAD;
  const ways: string[] = [];
  const joins: Join[] = [];
  for (const [at, reader] of stages.entries()) {
    if (!reader.inputs.includes(index)) continue;
    const [x2, b2] = [middle(reader), half(at)];
    if (reader.lane !== stage.lane) {
      const top = ROW * at;
      const d = `M${x},${lower}V${top - PAD}C${x},${top + 24} ${x2},${top - PAD} ${x2},${top + 30}`;
      joins.push({ d, width: 2 * Math.min(b, b2) });
      continue;
    }
    const end = ROW * at + PAD;
    const begin = end - 2 * PAD;
    const bend = (begin + end) / 2;
    ways.push(
      `M${x - b},${lower}V${begin}C${x - b},${bend} ${x2 - b2},${bend} ${x2 - b2},${end}` +
        `H${x2 + b2}C${x2 + b2},${bend} ${x + b},${bend} ${x + b},${begin}V${lower}Z`,
    );
  }
  return { own: `M${x - b},${upper}H${x + b}V${lower}H${x - b}Z`, ways, joins };
}

const middle = ({ lane }: PipelineStage): number => SIDE + LANE * (lane + 0.5);

/** The river of a pipeline; `show` draws it anew with other figures. */
export class RiverPicture {
  readonly el = s("svg", { class: "tft-river", "aria-hidden": "true" });
  readonly #stages: readonly PipelineStage[];

  constructor(stages: readonly PipelineStage[]) {
    this.#stages = stages;
    const [width, height] = [riverWidth(stages), ROW * stages.length];
    for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
      this.el.setAttribute(key, `${value}`);
  }

  show(rows: readonly StageFigures[], flow: number, narrowest: number): void {
    const water = flow > 0 ? Math.max(0.02, flow) : 0;
    const bed = (index: number): number => LANE * MOST_SHARE * (rows[index]?.width ?? 0);
    const parts = [this.#shapes("tft-bed", bed, narrowest)];
    if (water > 0) parts.push(this.#shapes("tft-water", () => LANE * MOST_SHARE * water, -1));
    for (const [index, row] of rows.entries())
      if (row.level >= 0) parts.push(this.#basin(index, row.level, index === narrowest));
    this.el.replaceChildren(...parts.flat());
  }

  #shapes(className: string, half: (index: number) => number, marked: number): SVGElement[] {
    return this.#stages.flatMap((_, index) => {
      const { own, ways, joins } = stretch(this.#stages, index, half);
      const mark = index === marked ? " tft-narrow" : "";
      return [
        s("path", { class: className, d: ways.join("") }),
        ...joins.map(({ d, width }) => s("path", { class: `${className}-join`, d, "stroke-width": width })),
        s("path", { class: `${className}${mark}`, d: own }),
      ];
    });
  }

  #basin(index: number, level: number, isNarrow: boolean): SVGElement[] {
    const width = LANE - 10;
    const x = middle(this.#stages[index]!) - width / 2;
    const [y, height] = [ROW * index + PAD, ROW - 2 * PAD];
    const full = height * level;
    const found = [
      s("rect", { class: `tft-basin${isNarrow ? " tft-narrow" : ""}`, x, y, width, height, rx: 7 }),
    ] as SVGElement[];
    if (full >= 1) {
      const corner = Math.min(5, full);
      const floor = y + height - 1;
      const d =
        `M${x + 1},${floor - full + 1}h${width - 2}V${floor - corner}q0,${corner} ${-corner},${corner}` +
        `H${x + 1 + corner}q${-corner},0 ${-corner},${-corner}Z`;
      found.push(s("path", { class: "tft-water", d }));
    }
    return found;
  }
}
