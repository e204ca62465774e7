import type { LabNotebook, LabWorkspace } from '@notebridge/notebook/lab';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { type Tool, type ToolResult, toTextResult } from '@notebridge/protocol/core/mcp';
import { ToolsOnlyProvider } from '@notebridge/protocol/core/tools-only-provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { quote } from '@notebridge/protocol/util/quote';
import { callNotebookTool, toAgentTool } from '../call-notebook-tool.js';

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
    const own = tools.map(toAgentTool);
    return { tools: place.live ? own : [...own, allowEdits] };
  }

  protected async callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    if (params.name !== allowEdits.name) return callNotebookTool(this.#notebook, params, context);
    this.#notebook.allowEdits = true;
    return toTextResult('{}');
  }
}

/** Stands for the notebook of a Jupyter server until there is one: its tools are listed, and each call is answered with what keeps it away. */
export class NoJupyterNotebook extends ToolsOnlyProvider {
  readonly name = 'notebook';
  readonly instructions = oneJupyterInstructions;
  readonly #workspace: LabWorkspace;

  constructor(workspace: LabWorkspace) {
    super();
    this.#workspace = workspace;
  }

  protected listTools(): JsonObject {
    return { tools: this.#workspace.notebookTools.map(toAgentTool) };
  }

  protected async callTool({ name }: JsonObject): Promise<ToolResult> {
    if (!this.#workspace.notebookTools.some((tool) => tool.name === name))
      throw new BridgeError('unknown_tool', `The notebook has no tool ${quote(name)}.`);
    return { ...(await this.#workspace.whyNone()) };
  }
}

const workspaceInstructions =
  'The user\'s own JupyterLab: live notebooks, which they see and edit too, with their kernels, files, packages and network. Use it to read, write and run notebook cells. First call: list_notebooks, then connect_notebook. get_notebook_info says which one is in use, and whether edits show at once in open tabs ("live").';

/** The notebooks of a Jupyter server as a provider. */
export class JupyterNotebook extends ToolsOnlyProvider {
  readonly name = 'notebook';
  readonly instructions = workspaceInstructions;
  readonly #workspace: LabWorkspace;

  constructor(workspace: LabWorkspace) {
    super();
    this.#workspace = workspace;
  }

  protected listTools(): JsonObject {
    return { tools: this.#workspace.tools.map(toAgentTool) };
  }

  protected callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    const { tools } = this.#workspace;
    const { sessionId } = context.caller;
    return callNotebookTool(
      { tools, callTool: (name, args, call) => this.#workspace.callTool(name, args, { ...call, sessionId }) },
      params,
      context,
    );
  }
}
