// Parts of the step view that know nothing of the step in view: words about ops, and which lines say their value.
import { button, h } from "../base/elements";
import type { Scene, SceneEdge } from "../layout/scene";
import type { Op } from "../model/graph";
import { splitName } from "../model/prune";
import type { Recorded, Step } from "../model/recorded_run";

/** The lines that say their value: those with room for a label, else the first of a tensor. */
export function speakers(scene: Scene): Set<string> {
  const found = new Set<string>();
  const said = new Set<string>();
  const tensorsOf = ({ base }: SceneEdge): string =>
    [...new Set(base.map(({ from, port }) => `${from}:${port}`))].join();
  const byRoom = [...scene.edges].sort((a, b) => Number(a.labelAt === null) - Number(b.labelAt === null));
  for (const edge of byRoom) {
    const tensors = tensorsOf(edge);
    if (edge.labelAt !== null || !said.has(tensors)) found.add(edge.id);
    said.add(tensors);
  }
  return found;
}

export function section(title: string, content: HTMLElement[]): HTMLElement {
  return h("section", {}, h("h4", {}, title), ...content);
}

/** A name that may break after each scope. */
export function title(name: string): HTMLElement {
  const parts = name.split("/").map((part, i, all) => (i < all.length - 1 ? `${part}/` : part));
  return h("h3", {}, ...parts.flatMap((part) => [part, h("wbr")]));
}

export function sourceOf(op: Op | undefined): HTMLElement | null {
  if (op?.source === undefined) return null;
  const { file, line, text } = op.source;
  return h(
    "div",
    { class: "tft-step-source" },
    h("span", { class: "tft-muted" }, `${file} line ${line}`),
    ...(text === "" ? [] : [h("pre", {}, text.trim())]),
  );
}

export const NO_STEPS =
  "No op had to run: all that is fetched was known before the run, from constants and what was fed.";

/** For each loop around a step its turn, with the ways to the others and out of it. */
export function turnChips(run: Recorded, step: Step | undefined, seek: (step: number) => void): HTMLElement[] {
  return (step?.loops ?? []).map(({ loop, turn }, depth) => {
    const { name, times } = run.loops[loop]!;
    const words = turn < times ? `turn ${turn + 1} of ${times}` : "the test that ends it";
    const go = (text: string, title: string, key: string, to: number | undefined): HTMLButtonElement => {
      const made = button(text, title, () => to !== undefined && seek(to));
      made.disabled = to === undefined;
      made.dataset.move = `${key}${depth}`;
      return made;
    };
    return h(
      "span",
      { class: "tft-turn", role: "group", "aria-label": `Loop ${name}` },
      h("code", {}, name),
      go("‹", `Turn before of ${name} (Shift and left arrow)`, "back", run.toTurn(step!, depth, turn - 1)),
      h("span", { class: "tft-turn-words" }, words),
      go("›", `Next turn of ${name} (Shift and right arrow)`, "next", run.toTurn(step!, depth, turn + 1)),
      go("Out ›", `Out of ${name}: to the first step after it`, "out", run.out(step!, depth)),
    );
  });
}

export const FLOW = /^(Ref)?(Switch|Merge|Enter|Exit|NextIteration)$/;
const VARIABLE = /^(Variable|VariableV2|VarHandleOp)$/;

export function sourceWords(op: Op, feeds: readonly string[]): string {
  if (feeds.some((feed) => splitName(feed)[0] === op.name)) return "fed";
  if (op.type === "Const") return "constant";
  return VARIABLE.test(op.type) ? "the variable, as it stood" : "known before the run";
}

export function noStepWords(op: Op, feeds: readonly string[]): string {
  if (feeds.some((feed) => splitName(feed)[0] === op.name)) return "it was fed";
  if (op.type === "Const") return "a constant is known before the run";
  if (VARIABLE.test(op.type)) return "a variable only holds its value; what reads or writes it has steps";
  if (FLOW.test(op.type)) return "it only hands values on; see its lines";
  return "nothing fetched needs it, its branch was not taken, or it was folded or merged before the run";
}
