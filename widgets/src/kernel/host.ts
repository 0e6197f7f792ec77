// Hosts of anywidget, and whether they are dark: JupyterLab says so on its body, other pages are measured.

import { Cleanup } from "../base/cleanup";
import type { Traits } from "./traits";

interface Context<S> {
  model: Traits<S>;
  el: HTMLElement;
}

const DARK = "(prefers-color-scheme: dark)";

/** A module for anywidget; while the view is shown, `el` has the class tft-dark where the page around it is dark. */
export function hosted<S>(show: (traits: Traits<S>, el: HTMLElement) => { destroy(): void }): {
  render: (context: Context<S>) => () => void;
} {
  return {
    render: ({ model, el }) => {
      const cleanup = new Cleanup();
      followTheme(el, cleanup);
      const view = show(model, el);
      cleanup.add(() => view.destroy());
      return () => cleanup.end();
    },
  };
}

function followTheme(el: HTMLElement, cleanup: Cleanup): void {
  const { body, documentElement } = el.ownerDocument;
  const update = (): void => void el.classList.toggle("tft-dark", isDark(el));
  const marks = new MutationObserver(() => {
    update();
    clearTimeout(fading);
    fading = window.setTimeout(update, 500); // pages may fade from one background to the other
  });
  let fading = 0;
  const system = window.matchMedia(DARK);
  for (const page of [body, documentElement]) marks.observe(page, { attributes: true });
  cleanup.on(system, "change", update);
  cleanup.add(
    () => el.classList.remove("tft-dark"),
    () => marks.disconnect(),
    () => clearTimeout(fading),
  );
  update();
}

/** Taken from the page's attributes, else from the color behind `el`. */
function isDark(el: HTMLElement): boolean {
  const { body, documentElement } = el.ownerDocument;
  const lab = body.dataset.jpThemeLight;
  if (lab !== undefined) return lab === "false";
  const code = body.dataset.vscodeThemeKind ?? "";
  if (code !== "") return code === "vscode-dark" || code === "vscode-high-contrast";
  const ground = groundOf(el);
  if (ground !== null) return 0.299 * ground[0] + 0.587 * ground[1] + 0.114 * ground[2] < 128;
  // A transparent frame, such as Colab's, paints nothing but carries an attribute.
  const marks = [documentElement, body].flatMap((page) => [page.getAttribute("theme"), page.dataset.theme]);
  if (marks.some((mark) => mark === "dark" || mark === "light")) return marks.includes("dark");
  const scheme = getComputedStyle(documentElement).colorScheme;
  return scheme.includes("dark") && (!scheme.includes("light") || window.matchMedia(DARK).matches);
}

/** The background painted behind an element, as red, green, blue. */
function groundOf(el: Element): [number, number, number] | null {
  const context = el.ownerDocument.createElement("canvas").getContext("2d", { willReadFrequently: true });
  for (let at: Element | null = el; at !== null && context !== null; at = at.parentElement ?? hostOf(at)) {
    // Painted and read back, since CSS writes a color in many ways.
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = getComputedStyle(at).backgroundColor;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, opacity] = context.getImageData(0, 0, 1, 1).data;
    if (opacity! > 127) return [red!, green!, blue!];
  }
  return null;
}

function hostOf(el: Element): Element | null {
  const root = el.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}
