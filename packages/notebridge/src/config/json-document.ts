import { positionsIn } from '@notebridge/protocol/util/text-position';
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { type Fault, type Faults, isFilled, type KeyPath, type Problem, writePath } from './fault.js';

/** A JSON file (comments and trailing commas allowed) whose values know where they stand. */
export interface JsonDocument {
  value: unknown;
  /** The places of problems, in the order of the file. */
  locate(problems: readonly Problem[]): Fault[];
}

/** Parses a file; on faults of syntax, nesting or repeated keys there is no document but the list of faults. */
export function parseJsonDocument(text: string): { document: JsonDocument } | { faults: Faults } {
  const toFaults = faultsIn(text);
  const broken = toFaults(syntaxProblems(text));
  if (isFilled(broken)) return { faults: broken };
  const root = parseTree(text, [], leniently);
  if (root === undefined) throw new Error('A text without syntax errors has a root');
  const badKeys: Placed[] = [];
  const value = toValue(root, [], badKeys);
  const repeated = toFaults(badKeys);
  if (isFilled(repeated)) return { faults: repeated };
  const find = finderIn(root);
  const place = (problem: Problem): Placed => ({ ...problem, offset: offsetOf(problem, find) });
  return { document: { value, locate: (problems) => toFaults(problems.map(place)) } };
}

const leniently = { allowTrailingComma: true };
/** The parser recurses: without a bound a small file of brackets would overflow the stack. */
const deepest = 100;
/** A wrong file (a log, say) has a fault at every word; no one reads on after the first hundred. */
export const mostFaults = 100;

/** A problem at an offset of the text. */
type Placed = Pick<Problem, 'path' | 'found' | 'next'> & { offset: number };

function syntaxProblems(text: string): Placed[] {
  if (text.trim() === '') return [{ path: [], offset: 0, found: 'is empty', next: 'Write "{}" into it, or delete it.' }];
  const tooDeep = firstTooDeep(text);
  if (tooDeep !== undefined) {
    return [{ path: [], offset: tooDeep, found: `is nested deeper than ${deepest} levels`, next: 'Check that it is the right file.' }];
  }
  const errors: ParseError[] = [];
  parseTree(text, errors, leniently);
  return errors.map(({ error, offset }) => ({
    path: [],
    offset,
    found: `is not JSON: ${whatStands(text.charAt(offset))} stands there`,
    next: syntaxAdvice[printParseErrorCode(error)] ?? 'Fix the JSON there.',
  }));
}

/** Only the kind of what stands there: the text itself may be a secret that lacks its quotes or its comma. */
function whatStands(first: string): string {
  if (first.trim() === '') return 'nothing';
  if (first === '"') return 'a text';
  if (/[\d-]/.test(first)) return 'a number';
  return /[\w$]/.test(first) ? 'a word without quotes' : `"${first}"`;
}

const syntaxAdvice: Record<string, string> = {
  CommaExpected: 'Put a comma before it.',
  ColonExpected: 'Put a colon between key and value.',
  ValueExpected: 'Write a value there: text in double quotes, a number, true, false, null, {…} or […].',
  PropertyNameExpected: 'Write the key in double quotes.',
  CloseBraceExpected: 'Close the object with "}".',
  CloseBracketExpected: 'Close the list with "]".',
  EndOfFileExpected: 'Delete what follows the closing brace.',
  InvalidSymbol: 'Put text in double quotes, or delete it.',
  InvalidCharacter: 'Delete that character, or write it as \\uXXXX.',
  InvalidEscapeCharacter: 'Write a backslash in text as two: \\\\.',
  InvalidUnicode: 'Write \\u with four hexadecimal digits.',
  InvalidNumberFormat: 'Write the number without stray signs.',
  UnexpectedEndOfString: 'Close the text with a double quote on the same line.',
  UnexpectedEndOfComment: 'Close the comment with "*/".',
};

/** The offset of the first bracket beyond the bound; found by the scanner, which does not recurse. */
function firstTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const first = text.charAt(scanner.getTokenOffset());
    if (first === '{' || first === '[') depth++;
    if (first === '}' || first === ']') depth--;
    if (depth > deepest) return scanner.getTokenOffset();
  }
  return undefined;
}

/** Plain data. A key given twice is a fault: which of the two counts differs between programs, and one is a mistake. */
function toValue(node: Node, path: KeyPath, badKeys: Placed[]): unknown {
  if (node.type === 'array') return (node.children ?? []).map((item, index) => toValue(item, [...path, index], badKeys));
  if (node.type !== 'object') return node.value;
  const object: Record<string, unknown> = {};
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key === undefined || value === undefined) continue;
    const name = String(key.value);
    const here = { path: [...path, name], offset: key.offset };
    if (name === '__proto__') badKeys.push({ ...here, found: 'is not allowed as a key', next: 'Delete it.' });
    else if (Object.hasOwn(object, name)) badKeys.push({ ...here, found: 'is given twice', next: 'Keep one of the two.' });
    else object[name] = toValue(value, here.path, badKeys);
  }
  return object;
}

/** Finds the value at a path. The members of each object and list are sorted once, however many paths lead through it. */
function finderIn(root: Node): (path: KeyPath) => Node | undefined {
  const members = new Map<Node, Map<string | number, Node>>();
  return (path) => {
    let node: Node | undefined = root;
    for (const step of path) {
      if (node === undefined) return undefined;
      const known: Map<string | number, Node> = members.get(node) ?? membersOf(node);
      members.set(node, known);
      node = known.get(step);
    }
    return node;
  };
}

function membersOf({ type, children = [] }: Node): Map<string | number, Node> {
  if (type === 'array') return new Map(children.entries());
  const members = new Map<string | number, Node>();
  if (type === 'object')
    for (const { children: [key, value] = [] } of children)
      if (key !== undefined && value !== undefined) members.set(String(key.value), value);
  return members;
}

function offsetOf({ path, at }: Problem, find: (path: KeyPath) => Node | undefined): number {
  const value = find(path);
  if (value === undefined) return offsetOfParent(path, find);
  const property = value.parent?.type === 'property' ? value.parent : value;
  return at === 'key' ? property.offset : value.offset;
}

/** Where what is missing would stand: at the end of the object around it, behind what is wrong there, such as the same key misspelt. */
function offsetOfParent(path: KeyPath, find: (path: KeyPath) => Node | undefined): number {
  const before = path.slice(0, -1);
  const parent = find(before);
  if (parent === undefined) return offsetOfParent(before, find);
  return before.length === 0 ? parent.offset : parent.offset + Math.max(0, parent.length - 1);
}

/** Turns problems of one text into faults, in its order. */
function faultsIn(text: string): (placed: readonly Placed[]) => Fault[] {
  const positionOf = positionsIn(text);
  return (placed) =>
    [...placed]
      .sort((one, other) => one.offset - other.offset)
      .slice(0, mostFaults)
      .map(({ offset, path, found, next }) => ({ ...positionOf(offset), key: writePath(path), found, next }));
}
