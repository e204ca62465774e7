import type { JsonObject } from '@notebridge/kit/json';
import type { LabWorkspace } from '@notebridge/notebook/lab';
import type { CallContext } from '../../core/call-context.js';
import { BridgeError } from '../../core/errors.js';
import type { ToolResult } from '../../core/mcp.js';
import type { Provider, ProviderEvent } from '../../core/provider.js';
import { toPlainValue } from '../../core/wire.js';
import { quote } from '../../util/quote.js';

const instructions =
  'Works in a notebook of the person\'s own JupyterLab, with its own kernel: code has the person\'s files, packages and network. A person may edit and run the same notebook at the same time. list_notebooks and use_notebook choose the notebook; get_notebook_info says which one is in use, and whether edits show at once in open tabs ("live").';

/** The notebooks of a Jupyter server as a provider. */
export class JupyterNotebook implements Provider {
  readonly name = 'notebook';
  readonly instructions = instructions;
  readonly #workspace: LabWorkspace;

  constructor(workspace: LabWorkspace) {
    this.#workspace = workspace;
  }

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    switch (method) {
      case 'tools/list':
        return { tools: this.#workspace.tools.map((tool) => ({ ...tool, inputSchema: { ...tool.inputSchema } })) };
      case 'tools/call':
        return this.#callTool(params, context);
      case 'resources/list':
        return { resources: [] };
      case 'resources/templates/list':
        return { resourceTemplates: [] };
      case 'prompts/list':
        return { prompts: [] };
      default:
        throw new BridgeError('unknown_method', `The notebook does not answer "${method}".`);
    }
  }

  notify(): void {}

  /** Its tools never change. */
  subscribe(_listener: (event: ProviderEvent) => void): () => void {
    return () => {};
  }

  async #callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    const name = typeof params.name === 'string' ? params.name : '';
    if (!this.#workspace.tools.some((tool) => tool.name === name))
      throw new BridgeError('unknown_tool', `The notebook has no tool ${quote(params.name)}.`);
    let said = 0;
    const result = await this.#workspace.callTool(name, toPlainValue(params.arguments ?? {}), {
      sessionId: context.caller.sessionId,
      signal: context.signal,
      agent: nameOfAgent(context),
      ...(context.wantsProgress ? { progress: (message) => context.forwardProgress({ progress: ++said, message }) } : {}),
    });
    // A cancelled call gets no answer; the notebook's own result says what was stopped.
    if (context.cancellation.reason !== undefined)
      throw new BridgeError('cancelled', `"${name}" was cancelled: ${context.cancellation.reason}`);
    return { ...result };
  }
}

function nameOfAgent({ caller: { clientInfo } }: CallContext): string {
  const name = clientInfo?.title ?? clientInfo?.name;
  return typeof name === 'string' && name.length > 0 ? name.slice(0, 80) : 'An agent';
}
