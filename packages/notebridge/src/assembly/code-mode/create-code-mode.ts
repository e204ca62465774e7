import { randomUUID } from 'node:crypto';
import type { SandboxMode } from '@notebridge/notebook/host';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Tool, ToolResult } from '@notebridge/protocol/core/mcp';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import type { JsonObject } from '@notebridge/protocol/json';
import { quote } from '@notebridge/protocol/util/quote';
import type { Hub } from '../../hub.js';
import type { NotebridgeOptions } from '../options.js';
import type { SettingsOptions } from '../settings.js';

export interface CreateCodeModeOptions extends SettingsOptions, Pick<NotebridgeOptions, 'notebook' | 'servers'> {
  /** Whether code runs only in a sandbox: `on`, `off` or `auto`, as far as the system allows it. Default `auto`. */
  sandbox?: SandboxMode | undefined;
}

export interface CodeModeCallOptions {
  /** Its abort stops the code and the tool calls that it waits for; the call rejects with `cancelled`. */
  signal?: AbortSignal | undefined;
  /** Receives the params of MCP's progress notifications: `progress`, `message` … */
  onProgress?: ((progress: JsonObject) => void) | undefined;
}

/** Three tools in place of all those of some servers, for one agent of your own. */
export interface CodeMode {
  /** `search_tools`, `describe_tools` and `execute_code`, as MCP lists them. */
  readonly tools: readonly Tool[];
  /** For the system prompt: how the three are used. */
  readonly instructions: string;
  /**
   * Calls one of the three. A call that fails in a way that the agent should read resolves, with `isError`. Rejects with `unknown_tool`,
   * `cancelled`, `closed`.
   */
  call(name: string, args?: JsonObject, options?: CodeModeCallOptions): Promise<ToolResult>;
  /** Ends every Python, and the servers of the config. Closing twice is harmless. */
  close(): Promise<void>;
}

/** Code mode without a door: for programs that are agents themselves. Rejects with `bad_config`, `bad_middleware` or as the notebook does. */
export async function createCodeMode({ sandbox, ...options }: CreateCodeModeOptions = {}): Promise<CodeMode> {
  const [{ createNotebridge }, { readConfig }, { codeModeInstructions, codeModeTools }] = await Promise.all([
    import('../create-notebridge.js'),
    import('../settings.js'),
    import('@notebridge/code-mode/code-mode-tools'),
  ]);
  const config = await readConfig(options);
  const bridge = await createNotebridge({ ...options, config, codeMode: true, pages: { sandbox } });
  const agent = createOwnAgent(bridge.hub);
  const tools = codeModeTools(config.codeMode);
  try {
    await bridge.start();
  } catch (error) {
    await bridge.close();
    throw error;
  }
  // As for an agent that has listed them: a Python starts before it is needed.
  agent.request('tools/list', {}).catch(() => {});
  return {
    tools,
    instructions: codeModeInstructions,
    async call(name, args = {}, callOptions = {}) {
      if (!tools.some((tool) => tool.name === name)) throw new BridgeError('unknown_tool', `Code mode has no tool ${quote(name)}.`);
      return agent.request('tools/call', { name, arguments: args }, callOptions);
    },
    close: () => {
      agent.close();
      return bridge.close();
    },
  };
}

/** The program itself as a caller, with a session in which variables live. */
function createOwnAgent(hub: Pick<Hub, 'request'>) {
  const sessionId: string = randomUUID();
  let isClosed = false;
  let lastCall = 0;
  return {
    close: () => {
      isClosed = true;
    },
    request: async (method: string, params: JsonObject, { signal, onProgress }: CodeModeCallOptions = {}): Promise<JsonObject> => {
      if (isClosed) throw new BridgeError('closed', 'This code mode was closed.');
      if (signal?.aborted === true) throw new BridgeError('cancelled', 'The call was aborted before it was made.');
      const cancellation = new Cancellation();
      const cancel = (): void => cancellation.cancel('the program aborted the call');
      signal?.addEventListener('abort', cancel, { once: true });
      const callId = `${sessionId}-${++lastCall}`;
      const context = new RequestContext({
        ...{ method, type: 'request', callId, cancellation },
        message: onProgress === undefined ? params : { ...params, _meta: { progressToken: callId } },
        caller: { sessionId, door: 'library', era: 'modern', clientInfo: undefined },
        notify: (told, { progressToken: _, ...progress } = {}) => {
          if (told === 'notifications/progress') onProgress?.(progress);
        },
      });
      try {
        return await hub.request(context);
      } finally {
        signal?.removeEventListener('abort', cancel);
      }
    },
  };
}
