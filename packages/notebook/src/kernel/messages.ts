/** The messages between the kernel and its worker. */

import type { Output } from '../model/output.js';
import { parseBounded } from './bounded-json.js';
import type { Execution } from './kernel.js';
import type { ToolPackage } from './kernel-tools.js';
import type { WrittenBounds } from './written-files.js';

/** The first message to a worker. */
export interface StartCommand {
  type: 'start';
  /** The folder of Pyodide's files, with a slash at the end. */
  indexUrl: string;
  /** The folder of our Python files, with a slash at the end. */
  pythonUrl: string;
  /** Python's standard library with compiled code; see pyodide-files.ts. Without it Pyodide's own, and a slow start. */
  stdlibUrl?: string | undefined;
  /** The memory that Python begins with, for a worker of Node; see snapshot-file.ts. Without it, or where it does not fit, the start is slow. */
  snapshotUrl?: string | undefined;
  /** The origins that Python may fetch from; all others are refused. */
  fetchOrigins: readonly string[];
  /** See shared-signals.ts. Without it only code that waits can be interrupted. */
  signals?: SharedArrayBuffer | undefined;
  /** What code gets of the notebook's folder, through `hostCall`. Default: nothing. */
  files?: 'ro' | undefined;
  /** Fetching goes to the host as well, through `hostCall`, and `fetchOrigins` counts for nothing. Default: it does not. */
  network?: true | undefined;
  /** Code has a folder for files, which `takeWritten` takes. Default: it has none, and `takeWritten` is not sent. */
  out?: true | undefined;
  /** The module `ses`, for a worker of Node. */
  sesUrl?: string | undefined;
  /** @internal For tests of the other layers: the JavaScript around Python stays as the runtime made it. */
  hardening?: false | undefined;
}

/** What was frozen before the first code of the user ran. */
export interface Hardened {
  /** Names that are left in the global scope. */
  globals: number;
  /** Objects and functions that were frozen, and looked at once more. */
  objects: number;
}

export type Command =
  | { type: 'execute'; count: number; source: string }
  /** Comes beside the flag in `signals`: it reaches code that waits, the flag reaches code that computes. */
  | { type: 'interrupt'; count: number }
  | (WorkerRequest & { id: number })
  | HostCommand
  | ToolCommand;

/** A request that one `WorkerAnswer` of its id answers. */
export type WorkerRequest =
  | { type: 'complete'; before: string }
  | { type: 'evaluate'; expression: string }
  | { type: 'takeWritten'; bounds: WrittenBounds };

/** The answer to the `hostCall` of this id: JSON, and bytes where there are some. */
export type HostCommand = { type: 'hostAnswer'; id: number; text: string; data?: Uint8Array<ArrayBuffer> | undefined };

/** About tools that code may call; only where the kernel has some. The first one opens the way to them. */
export type ToolCommand =
  | { type: 'toolPackage'; package: ToolPackage<readonly (readonly [path: string, text: string])[]> }
  /** A line of progress or log of the call with this id, then its answer: both JSON, as the host was given it. */
  | { type: 'toolEvent' | 'toolAnswer'; id: number; text: string };

/** `count` is the execution count of the cell, which also distinguishes executions of one worker. Output may come behind the `done` of its cell. */
export type Report =
  /** `hardened` is missing where that layer is not active. `slowStart`: why Python did not begin with the memory of its snapshot. */
  | { type: 'ready'; version: string; hardened?: Hardened | undefined; slowStart?: string | undefined }
  /** `characters` is what the kernel acknowledges once it has taken the output. */
  | { type: 'output'; count: number; output: Output; characters: number; displayId?: string; update?: boolean }
  | { type: 'clear'; count: number; wait: boolean }
  | { type: 'done'; count: number; status: Execution['status']; result?: undefined }
  /** The same, with the value of the cell's last expression, which comes after all other outputs. */
  | { type: 'done'; count: number; status: Execution['status']; result: Output; characters: number }
  | WorkerAnswer
  | HostReport
  | ToolReport
  | { type: 'dead'; reason: string };

/** To the `WorkerRequest` of this id. */
export type WorkerAnswer =
  | { type: 'completions'; id: number; matches: string[]; word: string }
  /** Without a value where the expression gave no text. */
  | { type: 'evaluated'; id: number; value?: string | undefined }
  /** See written-files.ts. */
  | { type: 'written'; id: number; text: string; data: Uint8Array<ArrayBuffer> };

/** What code wants of the host besides tools; see host-services.ts. Ids are the worker's own. `text` is JSON. */
export type HostReport =
  | { type: 'hostCall'; id: number; service: ServiceName; text: string; data?: Uint8Array<ArrayBuffer> | undefined }
  /** Nobody waits for the answer any more. */
  | { type: 'hostCancel'; id: number };

/** `input`: what code asks its user. */
export type ServiceName = 'files' | 'network' | 'input';

/** What code wants of tools. Ids are the worker's own. */
export type ToolReport =
  /** `body` is `{"arguments":{…}}`. `cell`: the execution that calls; missing where that cannot be told. */
  | { type: 'toolCall'; id: number; server: string; tool: string; body: string; hears: boolean; cell?: string }
  /** Nobody waits for the answer any more. */
  | { type: 'toolCancel'; id: number }
  /** One event was taken. */
  | { type: 'toolHeard'; id: number };

/** As the worker sends it: what code shows is JSON still, so that numbers keep their digits until the host reads them. */
export type SentReport = Sent<Report>;
type Sent<R> = R extends { output: Output } ? WithText<R, 'output'> : R extends { result: Output } ? WithText<R, 'result'> : R;
type WithText<R, Key extends keyof R> = { [K in keyof R]: K extends Key ? R[K] | string : R[K] };

/** A report with what code shows as a value; `parse`: of its JSON. */
export function withShown(sent: unknown, parse?: (text: string) => unknown): unknown {
  if (!isRecord(sent)) return sent;
  const { output, result } = sent;
  if (typeof output === 'string') return { ...sent, output: parseShown(output, parse) };
  return typeof result === 'string' ? { ...sent, result: parseShown(result, parse) } : sent;
}

/** Code in the worker may have forged a report: what does not look right is `undefined`. */
export function parseReport(value: unknown): Report | undefined {
  if (!isRecord(value)) return undefined;
  const { type } = value;
  if (typeof type !== 'string' || !Object.hasOwn(shapes, type) || isTooDeep(value)) return undefined;
  const isRight = hasShape(value, shapes[type as Report['type']]) && (value.result === undefined || hasShape(value, shapeOfResult));
  return isRight ? (value as Report) : undefined;
}

function parseShown(text: string, parse: ((text: string) => unknown) | undefined): unknown {
  try {
    return parseBounded(text, parse);
  } catch (error) {
    // Its cell has to end all the same.
    const why = error instanceof Error ? error.message : String(error);
    return { output_type: 'stream', name: 'stderr', text: `[An output could not be read: ${why}]\n` };
  }
}

type Fields = { [key: string]: unknown };
type Check = (value: unknown) => boolean;

const shapes: { [type in Report['type']]: { [field: string]: Check } } = {
  ready: { version: isText, slowStart: maybe(isText), hardened: maybe(isHardened) },
  output: { count: isCount, output: isOutputOf, characters: isCount, displayId: maybe(isText) },
  clear: { count: isCount, wait: isBoolean },
  done: { count: isCount, status: isStatus },
  completions: { id: isCount, matches: isTexts, word: isText },
  evaluated: { id: isCount, value: maybe(isText) },
  written: { id: isCount, text: isText, data: isBytes },
  hostCall: { id: isCount, service: isService, text: isText, data: maybe(isBytes) },
  hostCancel: { id: isCount },
  toolCall: { id: isCount, server: isText, tool: isText, body: isText, hears: isBoolean, cell: maybe(isText) },
  toolCancel: { id: isCount },
  toolHeard: { id: isCount },
  dead: { reason: isText },
};
/** Of a `done` with the value of the cell's last expression. */
const shapeOfResult = { result: isOutputOf, characters: isCount };

function hasShape(fields: Fields, shape: { [field: string]: Check }): boolean {
  return Object.entries(shape).every(([field, check]) => check(fields[field]));
}

function maybe(check: Check): Check {
  return (value) => value === undefined || check(value);
}

/** Whether it is an output of nbformat, and no deeper than code can walk. */
export function isOutput(output: unknown): output is Output {
  return isOutputOf(output) && !isTooDeep(output);
}

function isOutputOf(output: unknown): boolean {
  if (!isRecord(output)) return false;
  switch (output.output_type) {
    case 'stream':
      return (output.name === 'stdout' || output.name === 'stderr') && typeof output.text === 'string';
    case 'display_data':
      return isRecord(output.data) && isRecord(output.metadata);
    case 'execute_result':
      return isRecord(output.data) && isRecord(output.metadata) && isCount(output.execution_count);
    case 'error':
      return typeof output.ename === 'string' && typeof output.evalue === 'string' && isTexts(output.traceback);
    default:
      return false;
  }
}

const maxDepth = 200;

/** Deeper than any picture or table: code that walks over it recursively must not run out of stack. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= maxDepth; depth++) {
    level = level.flatMap((one) => (typeof one === 'object' && one !== null && !ArrayBuffer.isView(one) ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isHardened(value: unknown): boolean {
  return isRecord(value) && isCount(value.globals) && isCount(value.objects);
}

function isStatus(value: unknown): boolean {
  return value === 'ok' || value === 'error' || value === 'interrupted';
}

function isService(value: unknown): boolean {
  return value === 'files' || value === 'network' || value === 'input';
}

/** A number of things, or the id of one. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isBytes(value: unknown): boolean {
  return value instanceof Uint8Array;
}
