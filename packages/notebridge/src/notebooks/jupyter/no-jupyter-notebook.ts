import type { JsonObject } from '@notebridge/kit/json';
import type { LabWorkspace } from '@notebridge/notebook/lab';
import { BridgeError } from '../../core/errors.js';
import type { ToolResult } from '../../core/mcp.js';
import { ToolsOnlyProvider } from '../../core/tools-only-provider.js';
import { quote } from '../../util/quote.js';
import { oneJupyterInstructions } from './one-jupyter-notebook.js';

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
    return { tools: this.#workspace.notebookTools.map((tool) => ({ ...tool, inputSchema: { ...tool.inputSchema } })) };
  }

  protected async callTool({ name }: JsonObject): Promise<ToolResult> {
    if (!this.#workspace.notebookTools.some((tool) => tool.name === name))
      throw new BridgeError('unknown_tool', `The notebook has no tool ${quote(name)}.`);
    return { ...(await this.#workspace.whyNone()) };
  }
}
