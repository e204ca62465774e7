import type { Tool, ToolResult } from '@notebridge/protocol/core/mcp';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { type OutputCursor, outputsSince, toCursor } from '@notebridge/protocol/runs/output-cursor';
import {
  defaultPollSeconds,
  defaultWaitSeconds,
  describeRun,
  forgottenText,
  maxWaitSeconds,
  outlivesText,
  runTools,
  waitSeconds,
} from '@notebridge/protocol/runs/run-words';
import type { CellOutput, PageRun } from './page-run.js';

export const runToolName = 'run_code_cell';

/** The tools about runs, as the built-in notebook has them. */
export const pageRunTools: readonly Tool[] = Object.values(runTools).map(({ name, description, properties, required, annotations }) => ({
  name,
  description,
  inputSchema: { type: 'object', properties, required, additionalProperties: false },
  annotations,
}));

/** True for a page that runs cells, and leaves the following to us. */
export function lacksRunTools(tools: readonly unknown[]): boolean {
  const names = tools.map((tool) => (isJsonObject(tool) ? tool.name : undefined));
  return names.includes(runToolName) && !pageRunTools.some(({ name }) => names.includes(name));
}

/** The tool of the page, which now takes `wait_seconds`. */
export function withWaitSeconds(tool: Tool): Tool {
  const properties = isJsonObject(tool.inputSchema.properties) ? tool.inputSchema.properties : {};
  return {
    ...tool,
    description: [tool.description, outlivesText].filter((text) => text !== undefined).join(' '),
    inputSchema: { ...tool.inputSchema, properties: { ...properties, wait_seconds: waitSeconds(defaultWaitSeconds) } },
  };
}

/** An error of a tool as agents of every kind of notebook read it. */
export class RunToolError extends Error {
  readonly code: 'bad_arguments' | 'unknown_run';

  constructor(code: RunToolError['code'], message: string) {
    super(message);
    this.name = 'RunToolError';
    this.code = code;
  }
}

/** What has failed is a result too, for the agent to read. */
export async function withRunErrors(answer: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof RunToolError)) throw error;
    const { code, message } = error;
    return { ...toRunResult({ error: { code, message } }), isError: true };
  }
}

/** Throws `RunToolError`. */
export function parseGetRun(args: unknown) {
  const given = parseObject('get_run', args, ['run_id', 'cursor', 'wait_seconds', 'wait_for']);
  const { cursor, wait_for: waitFor = 'end' } = given;
  if (cursor !== undefined && typeof cursor !== 'string') throw badArguments('get_run', 'cursor has to be a text');
  if (waitFor !== 'end' && waitFor !== 'output') throw badArguments('get_run', 'wait_for has to be "end" or "output"');
  return {
    runId: toRunId('get_run', given),
    cursor,
    waitMs: 1000 * parseRunWait('get_run', given.wait_seconds, defaultPollSeconds),
    isForOutput: waitFor === 'output',
  };
}

/** Throws `RunToolError`. */
export function parseRunId(tool: string, args: unknown): string {
  return toRunId(tool, parseObject(tool, args, ['run_id']));
}

/** Throws `RunToolError`. */
export function assertEmptyArguments(tool: string, args: unknown): void {
  parseObject(tool, args, []);
}

/** Throws `RunToolError`. */
export function parseRunWait(tool: string, value: unknown, standard: number): number {
  const seconds = value === undefined ? standard : toPlainValue(value);
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0 && seconds <= maxWaitSeconds) return seconds;
  throw badArguments(tool, `wait_seconds has to be a whole number from 0 to ${maxWaitSeconds}`);
}

export function badArguments(tool: string, what: string): RunToolError {
  return new RunToolError('bad_arguments', `Invalid arguments for ${tool}: ${what}.`);
}

function toRunId(tool: string, { run_id: id }: JsonObject): string {
  if (typeof id === 'string') return id;
  throw badArguments(tool, 'run_id has to be a text; list_runs has those of the runs');
}

function parseObject(tool: string, args: unknown, known: readonly string[]): JsonObject {
  const given = args ?? {};
  if (!isJsonObject(given)) throw badArguments(tool, 'they have to be an object');
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown !== undefined) throw badArguments(tool, `it takes no "${unknown.slice(0, 60)}"`);
  return given;
}

/** A run and what is known of it beside itself. */
export interface ShownRun {
  run: PageRun;
  /** As agents call it. */
  runId: string;
  /** A run that was asked for earlier has not ended. */
  isQueued: boolean;
}

/** Without its outputs. */
export function toPageRunView({ run, runId, isQueued }: ShownRun): JsonObject {
  const { cellId, startedAt, durationMs, end } = run;
  const status = end?.status ?? (isQueued ? 'queued' : 'running');
  return {
    ...describeRun({ runId, cellId, status, by: { kind: 'agent', name: run.by }, startedAt, durationMs }),
    ...(end?.why === undefined ? {} : { message: end.why }),
    ...(end?.status === 'unknown' ? { next: lookText(cellId) } : {}),
  };
}

/** With what it has given behind the cursor. */
export function toRunAnswer(shown: ShownRun, cursor?: OutputCursor): JsonObject {
  const { run } = shown;
  // What a cell shows that waits for its turn is of an earlier run.
  const outputs = shown.isQueued ? [] : run.outputs;
  if (outputs === undefined) return { ...toPageRunView(shown), outputs: [], outputs_left_out: run.hasEnded ? forgottenText : unseenText };
  const since = outputsSince(outputs, run.clears, cursor);
  return { ...toPageRunView(shown), outputs: since.map(withLines), cursor: toCursor(outputs, run.clears) };
}

export function toRunResult(value: JsonObject): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}

export function lookText(cellId: string): string {
  return `Its outcome is unknown. Look at cell ${cellId} with get_cells (includeOutputs) before you run it again.`;
}

const unseenText = 'the page does not show its cells just now: ask again, or read the cell with get_cells';

/** As on disk. */
export function withLines(output: CellOutput): JsonObject {
  return typeof output.text === 'string' ? { ...output, text: output.text.match(/[^\n]*\n|[^\n]+$/g) ?? [] } : output;
}
