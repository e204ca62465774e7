import type { CallContext } from '../core/call-context.js';
import { messageOf } from '../core/errors.js';
import { type ToolResult, toTextResult } from '../core/mcp.js';
import type { ToolServer } from '../core/tool-server.js';
import { printJson } from '../util/exact-json.js';
import type { JsonObject } from '../util/json.js';
import { BuiltInServer } from './built-in-server.js';

/** Answers the tools of the server `skills` in our stead. What it returns is the result as code in a kernel sees it; it may be a promise. */
export type SkillsProxyCaller = (toolName: string, args: JsonObject) => unknown;

let registered: { caller: SkillsProxyCaller; server: ToolServer } | undefined;

/** Has calls of the server `skills` go to this function from now on, whatever the config says; null ends that. One for the process. */
export function setSkillsProxyCaller(caller: SkillsProxyCaller | null): void {
  registered = caller === null ? undefined : { caller, server: skillsServerFrom(caller) };
}

/** The function that was set, or null. */
export function getSkillsProxyCaller(): SkillsProxyCaller | null {
  return registered?.caller ?? null;
}

/** The server `skills` as it is at this moment: that of the caller that was set, else our own, else none. */
export function currentSkillsServer(own: ToolServer | undefined): ToolServer | undefined {
  return registered?.server ?? own;
}

/** A server whose tools are answered by a function. An error that it throws is a failed call, with its message. */
export function skillsServerFrom(caller: SkillsProxyCaller): ToolServer {
  return new BuiltInServer((tool, args, context) => callThrough(caller, { tool, args, context }));
}

async function callThrough(
  caller: SkillsProxyCaller,
  { tool, args, context }: { tool: string; args: JsonObject; context: CallContext },
): Promise<ToolResult> {
  try {
    const value = (await caller(tool, args)) ?? null;
    const text = typeof value === 'string' ? value : (printJson(value) ?? String(value));
    return { content: [{ type: 'text', text }], structuredContent: { result: value } };
  } catch (error) {
    context.log('warning', messageOf(error), 'skills');
    return { ...toTextResult(messageOf(error)), isError: true };
  }
}
