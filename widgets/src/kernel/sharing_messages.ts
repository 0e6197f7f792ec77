// The traits of the views of shared variables and of collections, and the rows in them.

// --- variables and the calls that share them ---

/** A line of code: "In [3]", 2, "w = tf.get_variable(...)". */
export type CodeLine = [place: string, line: number, text: string];

type WireScope = [outer: number, text: string, kind: string, asked: string, line: number];

/** A scope of the code; `outer` is the index of the one around it, `line` that of its line, or -1. */
export interface CodeScope {
  outer: number;
  text: string;
  kind: string;
  asked: string;
  line: number;
}

export const decodeScope = ([outer, text, kind, asked, line]: WireScope): CodeScope => ({
  outer,
  text,
  kind,
  asked,
  line,
});

type WireVariableCall = [
  variable: number,
  scope: number,
  line: number,
  call: string,
  made: boolean,
  reuse: string,
  variableScope: string,
  nameScope: string,
  ops: string[],
];

/** A call that created or shared a variable, in one of the scopes (or -1). */
export interface VariableCall {
  variable: number;
  scope: number;
  line: number;
  call: string;
  made: boolean;
  reuse: string;
  variableScope: string;
  nameScope: string;
  /** Ops that use the result. */
  ops: string[];
}

export const decodeVariableCall = (row: WireVariableCall): VariableCall => {
  const [variable, scope, line, call, made, reuse, variableScope, nameScope, ops] = row;
  return { variable, scope, line, call, made, reuse, variableScope, nameScope, ops };
};

/** A part of a name: what it is called, and by what kind of scope. */
export type NamePart = [text: string, kind: string, asked: string, line: number];

export interface SharingTraits {
  _graph: string;
  _summary: string;
  _lines: CodeLine[];
  _scopes: WireScope[];
  _variables: [name: string, value: string, byName: boolean][];
  _calls: WireVariableCall[];
  _duplicates: [first: number, second: number, sameLine: boolean, advice: string][];
  /** Op or variable -> the parts of its name. */
  _names: Record<string, NamePart[]>;
  selected: string;
}

// --- collections ---

type WireProblem = [
  collection: number,
  names: string,
  items: string[],
  text: string,
  cure: string,
  made: number,
  taken: number,
];

/** Items that are lost, with the lines that made them and looked for them. */
export interface Problem {
  collection: number;
  names: string;
  items: string[];
  text: string;
  cure: string;
  made: number;
  taken: number;
}

export const decodeProblem = ([collection, names, items, text, cure, made, taken]: WireProblem): Problem => ({
  collection,
  names,
  items,
  text,
  cure,
  made,
  taken,
});

export interface CollectionsTraits {
  _graph: string;
  _summary: string;
  _lines: CodeLine[];
  _makers: [call: string, line: number][];
  _collections: [
    name: string,
    key: string,
    items: [name: string, kind: string, maker: number][],
    makers: [maker: number, count: number][],
  ][];
  _takers: [
    call: string,
    line: number,
    takes: [collection: number, count: number, scope: string, makers: number[]][],
  ][];
  _problems: WireProblem[];
  selected: string;
}
