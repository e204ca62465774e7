import type { JsonObject } from '@notebridge/kit/json';
import type { LabWorkspace } from '@notebridge/notebook/lab';
import type { CallContext } from '../../core/call-context.js';
import type { ToolResult } from '../../core/mcp.js';
import { ToolsOnlyProvider } from '../../core/tools-only-provider.js';
import { callNotebookTool } from '../call-notebook-tool.js';

const instructions =
  'The user\'s own JupyterLab: live notebooks, which they see and edit too, with their kernels, files, packages and network. Use it to read, write and run notebook cells. First call: list_notebooks, then connect_notebook. get_notebook_info says which one is in use, and whether edits show at once in open tabs ("live").';

/** The notebooks of a Jupyter server as a provider. */
export class JupyterNotebook extends ToolsOnlyProvider {
  readonly name = 'notebook';
  readonly instructions = instructions;
  readonly #workspace: LabWorkspace;

  constructor(workspace: LabWorkspace) {
    super();
    this.#workspace = workspace;
  }

  protected listTools(): JsonObject {
    return { tools: this.#workspace.tools.map((tool) => ({ ...tool, inputSchema: { ...tool.inputSchema } })) };
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
