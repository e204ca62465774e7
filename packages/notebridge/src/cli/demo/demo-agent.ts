import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { BridgeError, codeOf } from '../../core/errors.js';
import type { ContentBlock, InitializeResult } from '../../core/mcp.js';
import { latestLegacyVersion } from '../../core/protocol-versions.js';
import { toPlainValue } from '../../core/wire.js';
import { ChildProgram, type ChildProgramOptions } from '../../processes/child-program.js';
import { createLineChannel } from '../../rpc/line-channel.js';
import { McpClient } from '../../rpc/mcp-client.js';
import { Peer } from '../../rpc/peer.js';
import { mismatch } from './expect.js';

/** A tool's answer as an agent reads it. */
export interface ToolAnswer {
  /** The first text; parsed if it is a JSON object. */
  value: JsonObject;
  text: string;
  images: ContentBlock[];
  failed: boolean;
}

export interface DemoAgentOptions extends ChildProgramOptions {
  /** Hears of each call before it is made, but of those that are made quietly: to check, not to work. */
  onUse?: (tool: string, args: JsonObject) => void;
}

const maxMessageLength = 64 * 1024 * 1024;

/** An agent with its host: starts a Notebridge as a child process, and speaks MCP with it over stdin and stdout. */
export class DemoAgent extends McpClient {
  /** What came on the child's stdout that is no message: there must be nothing. */
  readonly noise: string[] = [];
  readonly #child: ChildProgram;
  readonly #peer: Peer;
  readonly #onUse: DemoAgentOptions['onUse'];

  constructor(command: string, args: readonly string[], options: DemoAgentOptions) {
    super();
    this.#onUse = options.onUse;
    this.#child = new ChildProgram(command, args, options);
    const note = (error: BridgeError): void => void this.noise.push(error.message);
    this.#peer = new Peer({
      channel: createLineChannel({ input: this.#child.output, output: this.#child.input, maxMessageLength, onUnreadable: note }),
      onRequest: async ({ method }) => {
        if (method === 'ping') return {};
        throw new BridgeError('unknown_method', `The demo's agent does not answer "${method}".`);
      },
      onNotification: () => {},
      onFault: note,
    });
  }

  /** Resolves when the child has ended. */
  get ended(): Promise<string> {
    return this.#child.ended;
  }

  async initialize(): Promise<InitializeResult> {
    const clientInfo = { name: 'demo-agent', title: 'Demo agent', version: '1' };
    const result = await this.request('initialize', { protocolVersion: latestLegacyVersion, capabilities: {}, clientInfo });
    this.notify('notifications/initialized');
    return result as InitializeResult;
  }

  /** Calls a tool. A tool that failed is an answer too: `failed`. */
  async use(name: string, args: JsonObject = {}, { quietly = false } = {}): Promise<ToolAnswer> {
    if (!quietly) this.#onUse?.(name, args);
    const { content = [], isError } = await this.callTool(name, args);
    const text = String(content.find(({ type }) => type === 'text')?.text ?? '');
    return { value: parseObject(text), text, images: content.filter(({ type }) => type === 'image'), failed: isError === true };
  }

  /** As `use`, for a tool that has to work. */
  async succeed(name: string, args: JsonObject = {}, options: { quietly?: boolean } = {}): Promise<ToolAnswer> {
    const answer = await this.use(name, args, options);
    if (answer.failed) throw mismatch(`"${name}" to work`, answer.text);
    return answer;
  }

  async request(method: string, params?: JsonObject): Promise<JsonObject> {
    try {
      return toPlainValue(await this.#peer.request(method, params)) as JsonObject;
    } catch (error) {
      if (codeOf(error) !== 'closed') throw error;
      const ending = await this.#child.ended;
      const { lastWords } = this.#child;
      throw mismatch(`an answer to "${method}"`, `Notebridge has ended (${ending})${lastWords === '' ? '' : `: ${lastWords}`}`);
    }
  }

  notify(method: string, params?: JsonObject): void {
    this.#peer.notify(method, params);
  }

  /** Hangs up, as an agent host does, and waits for the child's end; after `patienceMs` it is killed. Closing twice is harmless. */
  async close(patienceMs?: number): Promise<string> {
    this.#peer.close();
    return this.#child.close(patienceMs);
  }
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
