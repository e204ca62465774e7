import type { ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { tryJson } from '@notebridge/protocol/util/try-json';

/** A call of one of the five tools of a Colab page that change cells. */
export type ChangeCall =
  | { tool: 'add_code_cell' | 'add_text_cell'; cellIndex: number; source: string; language: string | undefined }
  | { tool: 'update_cell'; cellId: string; source: string }
  | { tool: 'move_cell'; cellId: string; cellIndex: number }
  | { tool: 'delete_cell'; cellId: string };

/** The tools that take back what a tool did. */
export const reverseTools: Record<ChangeCall['tool'], readonly string[]> = {
  add_code_cell: ['delete_cell'],
  add_text_cell: ['delete_cell'],
  update_cell: ['update_cell'],
  move_cell: ['move_cell'],
  delete_cell: ['add_code_cell', 'add_text_cell'],
};

const parsers: Record<string, (args: JsonObject) => ChangeCall | undefined> = {
  add_code_cell: (args) => toInsert('add_code_cell', args, args.code, args.language),
  add_text_cell: (args) => toInsert('add_text_cell', args, args.content, undefined),
  update_cell: ({ cellId, content, ...rest }) =>
    isText(cellId) && isText(content) && isEmpty(rest) ? { tool: 'update_cell', cellId, source: content } : undefined,
  move_cell({ cellId, cellIndex, ...rest }) {
    const index = toIndex(cellIndex);
    return isText(cellId) && index !== undefined && isEmpty(rest) ? { tool: 'move_cell', cellId, cellIndex: index } : undefined;
  },
  delete_cell: ({ cellId, ...rest }) => (isText(cellId) && isEmpty(rest) ? { tool: 'delete_cell', cellId } : undefined),
};

/**
 * Undefined for any other tool, and for arguments that Colab's do not take: what the page makes of those is not known, so it
 * could not be taken back.
 */
export function parseChangeCall({ name, arguments: args }: ToolCall): ChangeCall | undefined {
  // An agent may send anything for a name, an object without a text form too.
  if (typeof name !== 'string' || !Object.hasOwn(parsers, name) || !isJsonObject(args)) return undefined;
  return parsers[name]?.(args);
}

/** The value that a tool of Colab returns, as JSON in its one text; undefined for a tool that failed, or returns anything else. */
export function toAnswerValue({ content, isError }: ToolResult): JsonObject | undefined {
  const text = Array.isArray(content) ? content[0]?.text : undefined;
  if (isError === true || typeof text !== 'string') return undefined;
  const value = tryJson(text);
  return isJsonObject(value) ? value : undefined;
}

function toInsert(
  tool: 'add_code_cell' | 'add_text_cell',
  { cellIndex, code: _, content: __, language: ___, ...rest }: JsonObject,
  source: unknown,
  language: unknown,
): ChangeCall | undefined {
  const index = toIndex(cellIndex);
  if (index === undefined || !isText(source) || !isEmpty(rest)) return undefined;
  return { tool, cellIndex: index, source, language: isText(language) ? language : undefined };
}

/** Python agents print 1.0. */
function toIndex(value: unknown): number | undefined {
  const index = value instanceof ExactNumber ? Number(value) : value;
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}
