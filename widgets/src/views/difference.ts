// Two graphs side by side: what was added, removed and changed.
import { h } from "../base/elements";
import { earlier, legend, SideBySide } from "../graph_view/side_by_side";
import { hosted } from "../kernel/host";
import type { Traits } from "../kernel/traits";
import type { DifferenceTraits } from "../kernel/view_messages";

class DifferenceView {
  readonly #root: HTMLElement;
  readonly #pair: SideBySide;

  constructor(traits: Traits<DifferenceTraits>, parent: HTMLElement) {
    const summary = h("span", { class: "tft-diff-summary" }, traits.get("_summary"));
    const head = h("div", { class: "tft-diff-head" }, summary, ...legend());
    this.#root = h("div", { class: "tfteach-diff" }, head);
    parent.append(this.#root);
    const before = earlier(traits, traits.get("_before"));
    this.#pair = new SideBySide({ before, after: traits }, { changes: traits.get("_changes") }, this.#root);
    head.append(this.#pair.next);
  }

  destroy(): void {
    this.#pair.destroy();
    this.#root.remove();
  }
}

export default hosted((traits: Traits<DifferenceTraits>, el) => new DifferenceView(traits, el));
