import type { JsonObject } from '@notebridge/protocol/json';
import { type JsonSchema, type Schema, type StandardSchema, toJsonSchema } from './schema.js';

/** The agent that works in the page, as it names itself: a name to show, not verified. */
export interface Agent {
  readonly name: string;
  readonly version?: string;
}

/** What a tool gets besides its arguments. */
export interface ToolCall {
  /** Aborts when the agent cancels, the person stops the call, or the connection ends. */
  readonly signal: AbortSignal;
  /** Reports progress to the agent. `progress` must grow; ignored by agents that did not ask. */
  progress(progress: number, total?: number, message?: string): void;
  readonly agent: Agent;
}

export interface PageTool {
  /** Unique in the page; letters, digits, `_`, `-` and `.` are understood everywhere. */
  name: string;
  title?: string;
  /** What the agent reads to decide when to call it. */
  description?: string;
  /** Checked before `run`. Default: any object. */
  inputSchema?: Schema;
  /** JSON Schema to send to agents, for a Standard Schema that cannot convert itself. */
  jsonSchema?: JsonSchema;
  /** Sent to agents; what `run` returns is not checked against it. */
  outputSchema?: Schema;
  /** MCP's hints: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`. */
  annotations?: JsonObject;
  /**
   * Does the work. A string becomes text; an object becomes JSON text and structured content; an object whose `content` is a
   * list of MCP blocks is passed on as it is; nothing becomes nothing. What it throws reaches the agent as a failed result.
   */
  run(args: JsonObject, call: ToolCall): unknown;
}

export interface PageResource {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** A string, bytes, any other value as JSON, or a full MCP result (`{ contents }`). */
  read(): unknown;
}

/** Resources of one kind, which no list can name one by one. */
export interface PageResourceTemplate {
  /** As `note://{book}/{id}`: each `{name}` stands for one character or more, but no "/". */
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** By the name in the template. */
  complete?: Record<string, Complete>;
  /** As that of a resource; `values` are those of the names in the template. Not called for a URI that `resources` lists. */
  read(uri: string, values: Record<string, string>): unknown;
}

export interface PagePrompt {
  name: string;
  title?: string;
  description?: string;
  arguments?: readonly { name: string; description?: string; required?: boolean }[];
  /** By the name of an argument. */
  complete?: Record<string, Complete>;
  /** A string becomes one message of the user; or a full MCP result (`{ messages }`). */
  get(args: Record<string, string>): unknown;
}

/** Suggests values that go on from `value`, the best first; `others` are the arguments given so far. Of more than 100 the first are sent. */
export type Complete = (value: string, others: Record<string, string>) => readonly string[] | Promise<readonly string[]>;

/** A list, or a function that returns it whenever an agent asks. */
export type Listed<Item> = readonly Item[] | (() => readonly Item[]);

type TypedTool<Args> = Omit<PageTool, 'inputSchema' | 'run'> & {
  inputSchema: StandardSchema<Args>;
  run(args: Args, call: ToolCall): unknown;
};

/** Gives `run` the types of its Standard Schema; does nothing else. */
export function defineTool<Args>(tool: TypedTool<Args>): PageTool {
  return tool as PageTool;
}

export function listOf<Item>(listed: Listed<Item> | undefined): readonly Item[] {
  return typeof listed === 'function' ? listed() : (listed ?? []);
}

/** The description of a tool that agents get: all but what runs here. */
export function toListedTool({ run: _, inputSchema, jsonSchema, outputSchema, ...rest }: PageTool): JsonObject {
  return {
    ...rest,
    inputSchema: toJsonSchema(jsonSchema ?? inputSchema, 'input'),
    ...(outputSchema === undefined ? {} : { outputSchema: toJsonSchema(outputSchema, 'output') }),
  };
}

/** Finds faults of the page's author when the page loads, not when an agent comes. Throws a `TypeError`. */
export function checkTools(tools: readonly PageTool[]): void {
  const names = new Set<string>();
  for (const tool of tools) {
    if (typeof tool.name !== 'string' || tool.name === '') throw new TypeError('A tool has no name.');
    if (names.has(tool.name)) throw new TypeError(`Two tools are named "${tool.name}".`);
    if (typeof tool.run !== 'function') throw new TypeError(`The tool "${tool.name}" has no function "run".`);
    names.add(tool.name);
    try {
      toListedTool(tool);
    } catch (error) {
      throw new TypeError(`The tool "${tool.name}": ${(error as Error).message}.`, { cause: error });
    }
  }
}
