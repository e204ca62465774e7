import type { ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { maxWaitSeconds } from '@notebridge/protocol/runs/run-words';
import { tryJson } from '@notebridge/protocol/util/try-json';

/** Calls a tool that runs a cell, and waits for the run however long it takes: beyond what one call may wait, by `get_run`. */
export async function followToEnd(call: ToolCall, callTool: (call: ToolCall) => Promise<ToolResult>): Promise<ToolResult> {
  const { notebook } = call.arguments ?? {};
  let result = await callTool(call);
  let began: JsonObject | undefined;
  for (let run = toRunning(result); run !== undefined; run = toRunning(result)) {
    began ??= run;
    const args = { run_id: run.run_id, wait_seconds: maxWaitSeconds, ...(notebook === undefined ? {} : { notebook }) };
    result = await callTool({ name: 'get_run', arguments: args });
  }
  return began === undefined ? result : asAnswered(result, began);
}

/** What the answer says of the run, if that still goes on. */
function toRunning(result: ToolResult): JsonObject | undefined {
  const value = answerOf(result);
  const isRunning = value?.status === 'running' || value?.status === 'queued';
  return isRunning && typeof value.run_id === 'string' ? value : undefined;
}

/** The end of a run in the form of the call that began it. */
function asAnswered(result: ToolResult, { newCellId }: JsonObject): ToolResult {
  const value = answerOf(result);
  if (value === undefined || !Array.isArray(value.outputs) || result.content === undefined) return result;
  const { outputs, status, execution_count } = value;
  const shown = newCellId === undefined ? { outputs } : { newCellId, status, execution_count, outputs };
  const [, ...images] = result.content;
  return { ...result, content: [{ type: 'text', text: JSON.stringify(shown) }, ...images] };
}

function answerOf({ content, isError }: ToolResult): JsonObject | undefined {
  const text = content?.[0]?.text;
  // The answer that a run goes on is short; the outputs of one that has ended need not be read for it.
  if (isError === true || typeof text !== 'string' || !text.includes('"run_id"')) return undefined;
  const value = tryJson(text);
  return isJsonObject(value) ? value : undefined;
}
