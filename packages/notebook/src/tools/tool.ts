import { printJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { CodeAsker } from '../kernel/kernel-tools.js';
import type { Actor } from '../model/cell.js';
import { NotebookError } from '../model/errors.js';
import type { Output } from '../model/output.js';
import type { ScaleImage } from '../outputs/image-scaling.js';
import type { NotebookSession } from '../session/session.js';
import { type ArgumentSchema, checkArguments, type InputSchema } from './arguments.js';

export type ContentBlock = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };

/** A result as MCP has it. */
export interface ToolResult {
  content: ContentBlock[];
  isError?: true;
}

/** What comes with a call. */
export interface ToolContext {
  /** Cancels the call: code that it runs is interrupted. */
  signal?: AbortSignal | undefined;
  /** Beside `signal`: the right to the call has ended, and what it runs ends with it, whatever the code does. */
  withdrawn?: AbortSignal | undefined;
  /** Told of a run that goes on when the call is answered; `signal` and `withdrawn` end it still. */
  outlivedBy?: ((run: Promise<unknown>) => void) | undefined;
  /** The caller does not listen any more, and has not cancelled: what it runs goes on. */
  gone?: AbortSignal | undefined;
  /** Receives progress, in one line. */
  progress?: ((message: string) => void) | undefined;
  /** The agent's name, as the person shall read it. Default `agent`. */
  agent?: string | undefined;
  /** The agent, as servers may ask it in calls of the code that this call runs. Default: it cannot be asked. */
  asker?: CodeAsker | undefined;
  /** The caller wants outputs as they are, whatever they take. */
  wholeOutputs?: boolean | undefined;
}

/** MCP's hints to the agent's host. */
export interface ToolAnnotations {
  title: string;
  readOnlyHint: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint: boolean;
}

/** A tool as a page or server lists it. */
export interface ToolDescription {
  name: string;
  description: string;
  inputSchema: InputSchema;
  annotations: ToolAnnotations;
}

/** A tool as a page or server offers it. `run` never rejects: what fails is a result with `isError`. */
export interface NotebookTool extends ToolDescription {
  run(args: unknown, context?: ToolContext): Promise<ToolResult>;
}

export interface ToolOptions {
  /** The least time between two progress messages of a call. Default 250. */
  progressIntervalMs?: number;
  /** Images that one result carries as image blocks; more are named only. Default 20. */
  maxImages?: number;
  /** Bytes of one image block: a larger image is scaled, or else only named. All of a result have four times as many. Default 262,144. */
  maxImageBytes?: number;
  /** Scales PNG and JPEG images. Default: what is too large is named only. */
  scaleImage?: ScaleImage;
  /** Draws a chart that an output holds as a page or data: a PNG, as base64. Default: charts are described only. */
  drawChart?: (output: Output) => Promise<string | undefined>;
  /** What has the whole of what was left out, in a note. Default `get_output shows it`. */
  elsewhere?: string;
  /** Outputs are answered as they are: nothing is shortened, scaled or taken out. Default false. */
  whole?: boolean;
  /** How long a run is waited for before it is answered as one that goes on. Seconds, default 45. */
  waitSeconds?: number;
  /** Of a kernel that outlives this process: whether it runs code, whoever's. Undefined: that cannot be known now. Default: it does not. */
  isKernelBusy?: () => Promise<boolean | undefined>;
  /** Why the notebook's file does not have what is changed; undefined where it does, or will in a moment. Default: it does. */
  whyUnsaved?: () => string | undefined;
  /** What is to be known of the notebook's file; undefined where nothing is. Default: nothing. */
  fileNote?: () => string | undefined;
  /** Receives faults that the caller sees only as "Internal error". */
  onFault?: (error: unknown) => void;
}

/** A call that has come through all checks. */
export interface NotebookToolCall<Args> {
  session: NotebookSession;
  args: Args;
  by: Actor;
  context: ToolContext;
  options: ToolOptions;
}

/** What a tool answers: the value of the text block, and images beside it. */
export interface ToolAnswer {
  value: unknown;
  images?: readonly ContentBlock[];
}

export interface ToolDefinition {
  name: string;
  description: string;
  /** Default: it takes no arguments. */
  properties?: { readonly [name: string]: ArgumentSchema };
  /** Default: all of them. */
  required?: readonly string[];
  /** What is no `readOnlyHint` is refused while the notebook is read-only. */
  annotations: ToolAnnotations;
  // The arguments have passed the schema, and only the definition knows their type.
  answer(call: NotebookToolCall<never>): ToolAnswer | Promise<ToolAnswer>;
}

/** Declares a tool. `Args` is what the schema says: keep the two together. */
export function defineNotebookTool<Args>(
  definition: Omit<ToolDefinition, 'answer'> & { answer(call: NotebookToolCall<Args>): ToolAnswer | Promise<ToolAnswer> },
): ToolDefinition {
  return definition;
}

export function describeTool(definition: ToolDefinition): ToolDescription {
  const { name, description, properties = {}, required = Object.keys(properties), annotations } = definition;
  return { name, description, inputSchema: { type: 'object', properties, required, additionalProperties: false }, annotations };
}

/** The tool, for one session. */
export function bindTool(definition: ToolDefinition, session: NotebookSession, options: ToolOptions): NotebookTool {
  const { name, description, inputSchema, annotations } = describeTool(definition);
  const run = async (given: unknown, context: ToolContext = {}): Promise<ToolResult> => {
    try {
      if (!annotations.readOnlyHint && session.readOnly) throw readOnlyError(name);
      const args = checkArguments(name, inputSchema, given) as never;
      const by: Actor = { kind: 'agent', name: context.agent ?? 'agent' };
      const answer = await definition.answer({
        ...{ session, args, by, context },
        options: context.wholeOutputs ? { ...options, whole: true } : options,
      });
      return withUnsaved(toResult(answer), annotations.readOnlyHint ? undefined : options.whyUnsaved?.());
    } catch (error) {
      return toFailedAnswer(error, options.onFault);
    }
  };
  return { name, description, inputSchema, annotations, run };
}

/** As MCP has it. */
export function toResult({ value, images = [] }: ToolAnswer): ToolResult {
  return { content: [textBlock(value), ...images] };
}

/** What was changed is there, but only as long as this process is. */
function withUnsaved(result: ToolResult, why: string | undefined): ToolResult {
  if (why === undefined) return result;
  return { content: [...result.content, { type: 'text', text: `The notebook is not saved: ${why}` }] };
}

/** An error is JSON too, so that a program can read the code, and an agent what the error is about. */
export function toFailedAnswer(error: unknown, onFault?: (error: unknown) => void): ToolResult {
  const isKnown = error instanceof NotebookError && error.code !== 'internal';
  if (!isKnown) onFault?.(error);
  const told: JsonObject = isKnown
    ? { code: error.code, message: messageOf(error), ...error.data }
    : { code: 'internal', message: 'Internal error' };
  return { content: [textBlock({ error: told })], isError: true };
}

function textBlock(value: unknown): ContentBlock {
  return { type: 'text', text: printJson(value) };
}

function readOnlyError(tool: string): NotebookError {
  return new NotebookError(
    'read_only',
    `${tool} is refused: the notebook is read-only for agents. Ask the person at the notebook to allow changes.`,
    { data: { tool } },
  );
}

/** A tool that only looks. */
export const looks = (title: string): ToolAnnotations => ({ title, readOnlyHint: true, openWorldHint: false });

/** A tool that adds, and takes nothing away. */
export const adds = (title: string): ToolAnnotations => ({ title, readOnlyHint: false, destructiveHint: false, openWorldHint: false });

/** A tool that replaces or removes something. */
export const replaces = (title: string): ToolAnnotations => ({ title, readOnlyHint: false, destructiveHint: true, openWorldHint: false });

/** A tool that runs code, which may do anything that the kernel can. */
export const runs = (title: string): ToolAnnotations => ({ title, readOnlyHint: false, destructiveHint: true, openWorldHint: true });
