import type { JsonObject } from '@notebridge/kit/json';
import type { LabNotebook } from '@notebridge/notebook/lab';
import type { CallContext } from '../../core/call-context.js';
import { type Tool, type ToolResult, toTextResult } from '../../core/mcp.js';
import { ToolsOnlyProvider } from '../../core/tools-only-provider.js';
import { callNotebookTool } from '../call-notebook-tool.js';

/** What agents are told of it. */
export const oneJupyterInstructions =
  'A notebook of the user\'s own JupyterLab, live: they see and edit it too, and its kernel has their files, packages and network. Use it to read, write and run notebook cells. First call: get_notebook_info, which says whether edits show at once in open tabs ("live").';

/** Where edits are not shown at once in open tabs, a person has to agree to them. */
const allowEdits: Tool = {
  name: 'allow_edits',
  description:
    'Only after a person has agreed: change this notebook although it may be open in a tab of Jupyter that does not follow. For all agents that work in it.',
  inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
  annotations: { title: 'Allow edits', readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};
export const howToAllowEdits = `Ask the person; if they agree, call ${allowEdits.name}, then call again.`;

/** One notebook of a Jupyter server as a provider, for all agents that work in it. */
export class OneJupyterNotebook extends ToolsOnlyProvider {
  readonly name = 'notebook';
  readonly instructions = oneJupyterInstructions;
  readonly #notebook: LabNotebook;

  constructor(notebook: LabNotebook) {
    super();
    this.#notebook = notebook;
  }

  protected listTools(): JsonObject {
    const { tools, place } = this.#notebook;
    const own = tools.map(({ name, description, inputSchema, annotations }) => ({
      name,
      description,
      inputSchema: { ...inputSchema },
      annotations: { ...annotations },
    }));
    return { tools: place.live ? own : [...own, allowEdits] };
  }

  protected async callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    if (params.name !== allowEdits.name) return callNotebookTool(this.#notebook, params, context);
    this.#notebook.allowEdits = true;
    return toTextResult('{}');
  }
}
