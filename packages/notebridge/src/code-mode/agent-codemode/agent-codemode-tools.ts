import type { JsonObject } from '@notebridge/kit/json';
import type { CodeModeLimits } from '../../core/code-mode-limits.js';
import type { Tool } from '../../core/mcp.js';

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const readOnly = { readOnlyHint: true, openWorldHint: false };
const acting = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };

function tool(name: string, description: string, properties: JsonObject, more: { required?: string[]; annotations: JsonObject }): Tool {
  const { required = [], annotations } = more;
  return { name, description, inputSchema: { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }, annotations };
}

/** The tools of PyPI's `agent-codemode` 1.1.1, by its names and arguments. What decides which servers are started is the config: `add_mcp_server` is left out. */
export function agentCodemodeTools({
  seconds,
  allowDirectCalls,
}: Pick<CodeModeLimits, 'seconds'> & { allowDirectCalls: boolean }): readonly Tool[] {
  const all = [
    tool(
      'search_tools',
      'Finds tools by what they do, with their schemas.',
      {
        query: text,
        server: text,
        limit: { type: 'integer', default: 10 },
        include_deferred: { type: 'boolean', default: true },
      },
      { required: ['query'], annotations: readOnly },
    ),
    tool(
      'list_tool_names',
      'Names of tools, without schemas.',
      {
        server: text,
        keywords: { ...texts, description: 'Tools with one of these words' },
        limit: { type: 'integer', default: 100 },
        include_deferred: { type: 'boolean', default: false },
      },
      { annotations: readOnly },
    ),
    tool('list_servers', 'The servers whose tools can be called.', {}, { annotations: readOnly }),
    tool(
      'get_tool_details',
      'Schemas and documentation of one tool.',
      { tool_name: { ...text, description: 'server__tool' } },
      { required: ['tool_name'], annotations: readOnly },
    ),
    tool(
      'execute_code',
      'Runs Python that calls tools: `from generated.mcp.SERVER import TOOL`, then `await TOOL({"argument": value})` or `await TOOL(argument=value)`. ' +
        'Print what you want to see. Skills: `from generated.skills import list_skills, load_skill, run_skill`.',
      { code: text, timeout: { type: 'number', default: 30, description: `Seconds, at most ${seconds}` } },
      { required: ['code'], annotations: acting },
    ),
    tool(
      'call_tool',
      'Calls one tool, without code.',
      { tool_name: { ...text, description: 'server__tool' }, arguments: { type: 'object' } },
      { required: ['tool_name', 'arguments'], annotations: acting },
    ),
    tool(
      'save_skill',
      'Keeps Python code that worked under a name, for you alone.',
      {
        name: text,
        code: text,
        description: text,
        tags: texts,
        parameters: { type: 'object' },
        tests: { ...text, description: 'Python that calls `await skill(**arguments)` and fails by an error' },
        overwrite: { type: 'boolean', default: false },
      },
      { required: ['name', 'code', 'description'], annotations: { ...acting, destructiveHint: false } },
    ),
    tool(
      'run_skill',
      'Runs a saved skill; the arguments are variables of its code.',
      { name: text, arguments: { type: 'object' } },
      { required: ['name'], annotations: acting },
    ),
    tool('list_skills', 'The saved skills that you may run.', { tags: texts }, { annotations: readOnly }),
    tool('delete_skill', 'Deletes a skill that you have saved.', { name: text }, { required: ['name'], annotations: acting }),
    tool(
      'get_execution_history',
      'The last tool calls that your code has made.',
      { limit: { type: 'integer', default: 10 } },
      { annotations: readOnly },
    ),
  ];
  return allowDirectCalls ? all : all.filter(({ name }) => name !== 'call_tool');
}

/** Every agent pays for these words before its first one. */
export const agentCodemodeInstructions =
  'Most tools here are called from Python that you write: search_tools or get_tool_details, then execute_code. Only what code prints is answered.';
