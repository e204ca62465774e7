import type { Tool } from '@notebridge/protocol/core/mcp';
import type { JsonObject } from '@notebridge/protocol/json';
import type { NotebookContents } from './notebook-directory.js';

/** Said once here and not at each of the tools: lists of tools have to be short. */
export const notebookArgument = 'notebook';

export const listNotebooksTool: Tool = {
  name: 'list_notebooks',
  description: 'Lists the open notebooks: id, title, location, kind, kernel, state, holder.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  annotations: { title: 'List the notebooks', readOnlyHint: true, openWorldHint: false },
};

export const connectNotebookTool: Tool = {
  name: 'connect_notebook',
  description:
    'Opens or finds a notebook and selects it for this agent: calls without "notebook" (an id) go to it. After 20 s says what is missing.',
  inputSchema: {
    type: 'object',
    properties: {
      notebook: {
        type: 'string',
        description: 'An id, an .ipynb in your folder, a Jupyter address, a Colab, Drive, GitHub or Gist link, or "local".',
      },
      create: { type: 'boolean' },
    },
    required: ['notebook'],
    additionalProperties: false,
  },
  annotations: { title: 'Connect a notebook', destructiveHint: false },
};

export const disconnectNotebookTool: Tool = {
  name: 'disconnect_notebook',
  description: 'Leaves a notebook, which goes on.',
  inputSchema: { type: 'object', properties: { notebook: { type: 'string' } }, additionalProperties: false },
  annotations: { title: 'Leave a notebook', destructiveHint: false },
};

export const selectionTools: readonly Tool[] = [listNotebooksTool, connectNotebookTool, disconnectNotebookTool];

/** `contents`: what `list_notebooks` may be asked for besides. */
export function describeSelectionTools(contents: NotebookContents | undefined): readonly Tool[] {
  if (contents === undefined) return selectionTools;
  const description = `${listNotebooksTool.description} "jupyter" has what is in a folder of the Jupyter server, which connect_notebook takes by path.`;
  const inputSchema = { ...listNotebooksTool.inputSchema, properties: contents.arguments };
  return selectionTools.map((tool) => (tool === listNotebooksTool ? { ...tool, description, inputSchema } : tool));
}

export const selectionInstructions =
  ' Several notebooks can be used at once: list_notebooks shows what is open, connect_notebook opens and selects one for this agent alone, and each notebook tool takes "notebook", the id of the one that is meant.';

/** Where an agent begins, besides one of `openers`: the first that is listed. */
const entryTools: ReadonlySet<string> = new Set([
  'get_notebook_info',
  'get_cells',
  'add_code_cell',
  'update_cell',
  'run_code_cell',
  'run_code',
  'get_output',
]);
const openers: readonly string[] = ['open_colab_browser_connection', connectNotebookTool.name];

/** Words of people that no name or description has. */
const searchHints: Readonly<Record<string, string>> = {
  interrupt_run: 'stop or cancel a cell that runs',
  get_run: 'is the cell still running, wait for it',
};

/**
 * The list as Claude Code takes it: its model has a tool with the first mark from the first turn on, and any other once it has searched
 * for it, also by the words of the second.
 */
export function withHostMarks(tools: readonly Tool[]): Tool[] {
  const opener = openers.find((name) => tools.some((tool) => tool.name === name));
  return tools.map((tool) => {
    const { name, _meta } = tool;
    const hint = Object.hasOwn(searchHints, name) ? searchHints[name] : undefined;
    const isEntry = entryTools.has(name) || name === opener;
    if (!isEntry && hint === undefined) return tool;
    const marks = isEntry ? { 'anthropic/alwaysLoad': true } : { 'anthropic/searchHint': hint };
    return { ...tool, _meta: { ...(_meta as JsonObject | undefined), ...marks } };
  });
}

/** The tool as it is listed where several notebooks can be used. One that has an argument of that name keeps its own. */
export function withNotebookArgument(tool: Tool): Tool {
  // The notebook itself refuses an argument that it does not know, and names it.
  const { properties = {}, required, additionalProperties: _, ...schema } = tool.inputSchema;
  const own = properties as JsonObject;
  const inputSchema: JsonObject = {
    ...schema,
    properties: Object.hasOwn(own, notebookArgument) ? own : { ...own, [notebookArgument]: { type: 'string' } },
    ...(Array.isArray(required) && required.length === 0 ? {} : { required }),
  };
  return { ...tool, inputSchema, ...(tool.annotations === undefined ? {} : { annotations: withoutDefaults(tool.annotations) }) };
}

/** What the protocol takes for granted, and what means nothing of a tool that only looks: agents pay for each word of a list. */
function withoutDefaults({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    ...(readOnlyHint === true ? { readOnlyHint } : {}),
    ...(readOnlyHint !== true && destructiveHint === false ? { destructiveHint } : {}),
    ...(readOnlyHint !== true && idempotentHint === true ? { idempotentHint } : {}),
    ...(openWorldHint === false ? { openWorldHint } : {}),
  };
}
