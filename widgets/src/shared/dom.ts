// Elements without HTML strings: names in a graph are data, and only ever become text.

type Child = Node | string | null;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attrs: Record<string, string> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(attrs)) el.setAttribute(key, value);
  el.append(...children.filter((c) => c !== null));
  return el;
}

export function button(text: string, title: string, press: () => void, className = "tft-button"): HTMLButtonElement {
  const el = h("button", { type: "button", class: className, title, "aria-label": title }, text);
  el.addEventListener("click", press);
  return el;
}
