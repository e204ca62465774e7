import { createScanner, findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { type Fault, type KeyPath, type Problem, writePath } from './fault.js';

/** A JSON file (comments and trailing commas allowed) whose values know where they stand. */
export interface JsonDocument {
  value: unknown;
  /** The places of problems, in the order of the file. */
  locate(problems: readonly Problem[]): Fault[];
}

/** Parses a file; on faults of syntax, nesting or repeated keys there is no document but the list of faults. */
export function parseJsonDocument(text: string): { document: JsonDocument } | { faults: [Fault, ...Fault[]] } {
  const [fault, ...others] = syntaxFaults(text);
  if (fault !== undefined) return { faults: [fault, ...others] };
  const root = parseTree(text, [], leniently);
  if (root === undefined) return { faults: [emptyFile] };
  const badKeys: Placed[] = [];
  const value = toValue(root, [], badKeys);
  const [badKey, ...moreBadKeys] = toFaults(text, badKeys);
  if (badKey !== undefined) return { faults: [badKey, ...moreBadKeys] };
  const locate = (problems: readonly Problem[]): Fault[] =>
    toFaults(
      text,
      problems.map((problem) => ({ ...problem, offset: offsetOf(root, problem) })),
    );
  return { document: { value, locate } };
}

const leniently = { allowTrailingComma: true };
/** The parser recurses: without a bound a small file of brackets would overflow the stack. */
const deepest = 100;
const emptyFile: Fault = { line: 1, column: 1, key: '', found: 'is empty', next: 'Write "{}" into it, or delete it.' };

function syntaxFaults(text: string): Fault[] {
  if (text.trim() === '') return [emptyFile];
  const tooDeep = firstTooDeep(text);
  if (tooDeep !== undefined) {
    return [faultAt(text, tooDeep, { found: `is nested deeper than ${deepest} levels`, next: 'Check that it is the right file.' })];
  }
  const errors: ParseError[] = [];
  parseTree(text, errors, leniently);
  return errors.map((error) => syntaxFault(text, error));
}

function syntaxFault(text: string, error: ParseError): Fault {
  const code = printParseErrorCode(error.error);
  const next = syntaxAdvice[code] ?? 'Mend the JSON there.';
  return faultAt(text, error.offset, { found: `is not JSON: ${whatStands(text.charAt(error.offset))} stands there`, next });
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

type Placed = Pick<Problem, 'path' | 'found' | 'next'> & { offset: number };

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

function offsetOf(root: Node, problem: Problem): number {
  const value = findNodeAtLocation(root, [...problem.path]);
  if (value === undefined) return root.offset;
  const property = value.parent?.type === 'property' ? value.parent : value;
  return problem.at === 'key' ? property.offset : value.offset;
}

function toFaults(text: string, placed: readonly Placed[]): Fault[] {
  const inOrder = [...placed].sort((one, other) => one.offset - other.offset);
  return inOrder.map((problem) => ({ ...faultAt(text, problem.offset, problem), key: writePath(problem.path) }));
}

function faultAt(text: string, offset: number, words: { found: string; next: string }): Fault {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, key: '', found: words.found, next: words.next };
}
