import { BridgeError } from '@notebridge/protocol/core/errors';
import { type Tool, type ToolResult, toFailedResult } from '@notebridge/protocol/core/mcp';
import { isJsonObject } from '@notebridge/protocol/json';
import { quote } from '@notebridge/protocol/util/quote';

/** The tool of the built-in notebook, for a page that has none: the same name, arguments and answers. */
export const undoTool: Tool = {
  name: 'undo_last_change',
  description:
    'Takes back your last change of the notebook (add, update, move or delete of a cell): the cell is as it was, with source and place. A deleted cell comes back under a new id and without its outputs. Refused if a person has changed the cell since. What code did when it ran cannot be taken back. Answers {"undone": {change, cellId, newCellId?}}.',
  inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
  annotations: { title: 'Undo the last change', readOnlyHint: false, destructiveHint: true, openWorldHint: false },
};

/** Throws `bad_params`: an argument that is ignored would be a promise that is not kept. */
export function assertNoArguments(args: unknown = {}): void {
  if (isJsonObject(args) && Object.keys(args).length === 0) return;
  throw new BridgeError('bad_params', `"${undoTool.name}" takes no arguments; found ${quote(args)}. Each call takes back one change.`);
}

/** An error as the built-in notebook answers it: JSON, so that a program can read the code. */
export function toErrorResult({ code, message, data }: BridgeError): ToolResult {
  return toFailedResult(code, JSON.stringify({ error: { code, message, ...data } }));
}
