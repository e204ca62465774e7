import type { CheckedPackage } from '@notebridge/bindings';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { toPlainLine } from '../search/one-line.js';
import type { CheckedCode, Diagnostic } from './checker-process.js';
import { isSurelyWrong } from './json-kinds.js';
import { type Position, type Range, SourceText } from './source-text.js';

/** An error of the code against the functions of the tools. */
export interface CodeFault {
  /** From 1. */
  line: number;
  text: string;
  /** The line of the code. */
  source: string;
  /** Of the tool that is called, where one is. */
  signature: string | undefined;
}

/** More would not be read. */
const mostFaults = 5;
const mostDiagnostics = 500;
const mostLooks = 40;
const maxText = 300;

interface Suspicion {
  text: string;
  /** A place in the parentheses of a call that has to be one of a tool. Undefined: it is sure as it is. */
  call: Position | undefined;
  /** A place in a variable that has to be of this type and no other. Undefined: there is none. */
  variable?: { at: Position; type: string } | undefined;
  /** An argument of this name is right all the same if the tool has it. */
  argument?: string | undefined;
}

/** What a name is meant to be: the nearest of those of a module. */
type Nearest = (module: string, name: string) => string | undefined;

/**
 * Of all that a checker says, what is surely an error of the code against the tools, wherever its values come from. `waiting`: aborted when nobody
 * waits for it.
 */
export async function findSureFaults(
  code: string,
  { diagnostics: all, toolAt, typeAt }: CheckedCode,
  { tools, waiting }: { tools: CheckedPackage['tools']; waiting: AbortSignal },
): Promise<CodeFault[]> {
  const diagnostics = all.slice(0, mostDiagnostics);
  const source = new SourceText(code);
  const nearest = nearestOf(tools);
  const faults: CodeFault[] = [];
  const dicts = diagnostics.filter(isOfDict).map(({ range }) => source.offsetOf(range.start));
  let looks = 0;
  for (const diagnostic of diagnostics) {
    if (faults.length >= mostFaults || looks >= mostLooks || waiting.aborted) break;
    const { line } = diagnostic.range.start;
    const suspicion = suspect(diagnostic, source, nearest);
    if (suspicion === undefined || source.mayBeCaught(line)) continue;
    if (suspicion.call !== undefined && dicts.some((at) => isIn(diagnostic.range, at, source))) continue;
    looks++;
    const tool = suspicion.call && (await toolAt(suspicion.call));
    if (suspicion.call !== undefined && (tool === undefined || tool.wireNames.has(suspicion.argument ?? ''))) continue;
    const { variable } = suspicion;
    if (variable !== undefined && (await typeAt(variable.at)) !== variable.type) continue;
    const signature = tool && toPlainLine(`${tool.server}.${tool.name}${tool.signature}`).slice(0, 1000);
    // What is missing, where a name is wrong, is the same mistake.
    if (faults.some((fault) => fault.line === line + 1 && fault.signature === signature && signature !== undefined)) continue;
    const text = toPlainLine(suspicion.text).slice(0, maxText);
    faults.push({ line: line + 1, text, source: source.lineAt(line).trim().slice(0, maxText), signature });
  }
  return faults;
}

/** True of what a checker says where code gives a tool's function, or a module of them, another value. */
export function isPatch({ code, message }: Diagnostic): boolean {
  return (
    code === 'reportAttributeAccessIssue' &&
    /^(Type ".*" is not assignable to attribute|Attribute ".*" .*cannot be assigned)/s.test(message)
  );
}

function suspect({ code, message, range }: Diagnostic, source: SourceText, nearest: Nearest): Suspicion | undefined {
  const [first = ''] = message.split('\n', 1);
  switch (code) {
    case 'reportCallIssue':
      return ofCall(first, range, source);
    case 'reportArgumentType':
      return ofArgument(first, range, source);
    case 'reportUnusedCoroutine':
      return { text: 'The call is not awaited, so nothing would be called. Write await before it.', call: lastPlaceIn(range, source) };
    case 'reportIndexIssue':
    case 'reportGeneralTypeIssues':
    case 'reportAttributeAccessIssue':
      return ofCoroutine(first, range, source) ?? ofItem(message, range, source) ?? ofName(first, range, source, nearest);
    case 'reportMissingImports':
      return ofModule(first, nearest);
    default:
      return undefined;
  }
}

function ofCall(text: string, range: Range, source: SourceText): Suspicion | undefined {
  if (/^Argument missing for parameter/.test(text)) return { text, call: lastPlaceIn(range, source) };
  const [, argument] = /^No parameter named "(.*)"/.exec(text) ?? [];
  if (argument !== undefined) return { text, call: range.start, argument };
  if (/^Multiple parameters (have|named)/.test(text)) return { text, call: range.start };
  // One dict may hold all arguments, and what is written out as something else is none.
  const isOther = /^Expected \d+ (more )?positional argument/.test(text) && /^(?:[rRbBuUfF]{0,2}['"]|-?\d|\[)/.test(source.textOf(range));
  return isOther ? { text: 'Arguments are given by name, or as one dict.', call: range.start } : undefined;
}

/** The other form of a call: `f(arguments={…})`, whose arguments nothing is known of. */
function isOfDict({ code, message }: Diagnostic): boolean {
  return code === 'reportCallIssue' && message.startsWith('No parameter named "arguments"');
}

function isIn({ start, end }: Range, offset: number, source: SourceText): boolean {
  return source.offsetOf(start) <= offset && offset < source.offsetOf(end);
}

function ofArgument(text: string, range: Range, source: SourceText): Suspicion | undefined {
  const found = /^Argument of type "(.*)" (?:cannot be assigned|is not assignable) to parameter "(.*)" of type "(.*)" in function "/s.exec(
    text,
  );
  const [, given = '', name = '', wanted = ''] = found ?? [];
  if (found === null || !isSurelyWrong(given, wanted)) return undefined;
  // What is unpacked is given to all parameters that are left, as far as a checker can tell.
  if (/\*\s*$/.test(source.before(range))) return undefined;
  return { text: `Argument of type "${given}" cannot be assigned to parameter "${name}" of type "${wanted}"`, call: range.start };
}

/** The value of a call that was not awaited is used as what it would give. */
function ofCoroutine(text: string, range: Range, source: SourceText): Suspicion | undefined {
  if (!/"Coroutine(?:Type)?\[.*" is not iterable|for class "Coroutine(?:Type)?\[|not defined on type "Coroutine(?:Type)?\[/s.test(text))
    return undefined;
  const before = source.text.slice(0, source.offsetOf(range.start)).trimEnd();
  const end = /^Cannot access attribute/.test(text) ? before.replace(/\.$/, '').trimEnd().length : source.offsetOf(range.end);
  // Only of a call itself it is sure that it gives nothing else.
  if (source.text[end - 1] !== ')') return undefined;
  return { text: 'The call is not awaited: what it gives is no result yet. Write (await …) around it.', call: source.positionOf(end - 1) };
}

/** The result of a tool is a dict: `result["content"]`. */
function ofItem(message: string, range: Range, source: SourceText): Suspicion | undefined {
  const [, name = '', type = ''] = /^Cannot access attribute "(\w+)" for class "(\w+)"\n[^]*\["\1"\][^\n]* TypedDict/.exec(message) ?? [];
  const base = source.text.slice(0, source.offsetOf(range.start)).trimEnd().replace(/\.$/, '').trimEnd();
  if (name === '') return undefined;
  const text = `The value is a dict: write ["${name}"] in place of .${name}`;
  // Of `(await f(…)).name` it is the tool that says what it is, of a variable what it was last given.
  if (base.endsWith('))')) return { text, call: source.positionOf(base.length - 2) };
  return /\w$/.test(base) ? { text, call: undefined, variable: { at: source.positionOf(base.length - 1), type } } : undefined;
}

/** A function that a module of tools does not have. */
function ofName(text: string, range: Range, source: SourceText, nearest: Nearest): Suspicion | undefined {
  const [, attribute, owner] = /^"(.*)" is not a known attribute of module "((?:[\w]*\.)*generated(?:\.\w+)*)"/.exec(text) ?? [];
  if (attribute !== undefined && owner !== undefined)
    return /\bhasattr\b|\bgetattr\b/.test(source.text) ? undefined : { text: missing(owner, attribute, nearest), call: undefined };
  const [, name] = /^"(.*)" is unknown import symbol/.exec(text) ?? [];
  if (name === undefined) return undefined;
  const module = importedFrom(source.before(range));
  return module === undefined ? undefined : { text: missing(module, name, nearest), call: undefined };
}

/** The module of tools from which a name at the end of this text is imported; undefined where that is not sure. */
function importedFrom(near: string): string | undefined {
  const last = [...near.matchAll(/(?:^|[\n;:])[ \t]*from[ \t]+([\w.]+)[ \t]+import\b/g)].at(-1);
  if (last === undefined || !/^generated(\.|$)/.test(last[1] ?? '')) return undefined;
  const names = near.slice(last.index + last[0].length);
  const isOneStatement = /^[ \t]*\(/.test(names) ? !names.includes(')') : !/[;)]|[^\\]\n/.test(names);
  return isOneStatement ? last[1] : undefined;
}

function ofModule(text: string, nearest: Nearest): Suspicion | undefined {
  const [, parent, name] = /^Import "(generated(?:\.\w+)*)\.(\w+)" could not be resolved/.exec(text) ?? [];
  return parent === undefined || name === undefined ? undefined : { text: missing(parent, name, nearest), call: undefined };
}

function nearestOf(tools: CheckedPackage['tools']): Nearest {
  const all = [...tools.values()];
  return (module, name) => {
    const server = module.split('.').at(-1);
    const isOfServers = /^generated\.(mcp|servers)$/.test(module);
    const names = isOfServers ? all.map((tool) => tool.server) : all.filter((tool) => tool.server === server).map((tool) => tool.name);
    return didYouMean(name, [...new Set(names)]);
  };
}

function missing(module: string, name: string, nearest: Nearest): string {
  const near = nearest(module, name);
  return `${module} has no "${name}". ${near === undefined ? 'search_tools finds what there is.' : `Did you mean "${near}"?`}`;
}

/** Before the last sign of a call, its parenthesis. */
function lastPlaceIn({ end }: Range, source: SourceText): Position {
  return source.positionOf(source.offsetOf(end) - 1);
}
