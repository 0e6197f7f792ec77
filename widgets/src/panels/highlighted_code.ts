// Python code with its words coloured.
import { h } from "../base/elements";

const KEYWORDS =
  "and as assert async await break class continue def del elif else except finally for from global if import in is " +
  "lambda nonlocal not or pass raise return try while with yield None True False";
const TOKEN = new RegExp(
  [
    "(?<comment>#.*)",
    "(?<string>[rbfu]{0,2}(?:\"\"\"|'''|\"(?:[^\"\\\\]|\\\\.)*\"?|'(?:[^'\\\\]|\\\\.)*'?))",
    `(?<keyword>\\b(?:${KEYWORDS.replaceAll(" ", "|")})\\b)`,
    "(?<decorator>^\\s*@[\\w.]+)",
    "(?<number>\\b\\d[\\w.]*)",
  ].join("|"),
  "gi",
);

/** The parts of a line; what a token is follows from this line alone. */
export function highlighted(line: string): (string | HTMLElement)[] {
  const parts: (string | HTMLElement)[] = [];
  let at = 0;
  for (const match of line.matchAll(TOKEN)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0];
    if (kind === "keyword" && !KEYWORDS.split(" ").includes(match[0])) continue;
    parts.push(line.slice(at, match.index), h("span", { class: `tft-code-${kind}` }, match[0]));
    at = match.index + match[0].length;
  }
  return [...parts, line.slice(at)].filter((part) => part !== "");
}
