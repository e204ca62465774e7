import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@notebridge/kit/json';
import type { Logger } from '@notebridge/kit/logger';
import type { CallContext } from '../core/call-context.js';
import { BridgeError, codeOf } from '../core/errors.js';
import { type ToolResult, toFailedResult } from '../core/mcp.js';
import { ToolsOnlyProvider } from '../core/tools-only-provider.js';
import type { Peer } from '../rpc/peer.js';
import type { JoinRequest } from './host-link.js';
import { type LinkHandler, toOwnError } from './join-link.js';
import type { LentTools } from './lent-tools.js';

export interface JoinedNotebookOptions {
  /** Finds the process that has the notebook open, or starts one, and joins it. */
  connect: (createHandler: (peer: Peer) => LinkHandler) => Promise<Peer>;
  open: JoinRequest;
  /** What agents are told until the notebook is there. */
  instructions: string;
  windowTool: string;
  /** Shows the person a window, and tells the agent where its address stands. */
  showWindow: (window: { url: string; path: string }) => Promise<ToolResult>;
  nameOfAgent: (context: CallContext) => string;
  /** What the notebook's code may call. */
  tools: LentTools | undefined;
  logger: Logger;
}

interface OpenLink {
  peer: Peer;
  /** This process has had it opened: nobody had it open. */
  isNew: boolean;
  instructions: string | undefined;
}

/**
 * A notebook that another process holds, as a provider: its tools run there, and it goes on when this agent ends. If that process ends,
 * the call that runs fails, and the next one joins anew.
 */
export class JoinedNotebook extends ToolsOnlyProvider {
  readonly name = 'notebook';
  readonly #options: JoinedNotebookOptions;
  #link: Promise<OpenLink> | undefined;
  #joined: OpenLink | undefined;
  #agents: readonly { id: string; name: string }[] = [];
  #hadLink = false;
  /** What the agent has to know about what happened between two calls. */
  #news: string | undefined;
  #isDisconnected = false;
  #isClosed = false;

  constructor(options: JoinedNotebookOptions) {
    super();
    this.#options = options;
  }

  get instructions(): string {
    return this.#joined?.instructions ?? this.#options.instructions;
  }

  /** Joins now. Rejects with why it cannot be; a later call tries again. */
  async join(): Promise<void> {
    await this.#open();
  }

  /** Who is connected to this process, as windows show it. */
  showAgents(agents: readonly { id: string; name: string }[]): void {
    this.#agents = agents;
    this.#joined?.peer.notify('agents/set', { agents: agents.map((agent) => ({ ...agent })) });
  }

  protected listTools(params: JsonObject, context: CallContext): Promise<JsonObject> {
    return this.#ask('tools/list', params, context);
  }

  /** The address of one more window, for the person at this process. */
  async newWindow(): Promise<{ url: string; path: string }> {
    const { peer } = await this.#open();
    const { url, path } = await peer.request('window/open', {}).catch((error: unknown) => Promise.reject(toOwnError(error)));
    return { url: String(url), path: String(path) };
  }

  /** Leaves the notebook, which is saved and goes on. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // Who reads the file when the agent has ended finds what it did. One that cannot be saved is for its window to say.
    await this.#joined?.peer.request('notebook/save', {}, { timeoutMs: saveTimeoutMs }).catch(() => {});
    const link = await this.#link?.catch(() => undefined);
    link?.peer.close();
  }

  protected async callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    if (this.#isDisconnected) return toFailedResult('disconnected', disconnectedText);
    if (params.name === this.#options.windowTool) return this.#options.showWindow(await this.newWindow());
    const agent = this.#options.nameOfAgent(context);
    const result = await this.#ask('tools/call', { ...params, agent }, context);
    return this.#withNews(result);
  }

  async #ask(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { peer } = await this.#open();
    const { _meta, ...rest } = params;
    const onProgress = ({ progressToken: _, ...progress }: JsonObject): void => context.forwardProgress(progress);
    try {
      const { cancellation } = context;
      return await peer.request(method, rest, { cancellation, ...(context.wantsProgress ? { onProgress } : {}) });
    } catch (error) {
      if (codeOf(error) !== 'closed') throw toOwnError(error);
      if (this.#isDisconnected) throw new BridgeError('disconnected', disconnectedText);
      throw new BridgeError('page_gone', goneText, { cause: error });
    }
  }

  #open(): Promise<OpenLink> {
    if (this.#isClosed) return Promise.reject(new BridgeError('closed', 'This agent has left the notebook.'));
    if (this.#isDisconnected) return Promise.reject(new BridgeError('disconnected', disconnectedText));
    this.#link ??= this.#connectOrWait().catch((error: unknown) => {
      this.#link = undefined;
      throw error;
    });
    return this.#link;
  }

  /** A process that is just ending still has the file, and one that has just opened it is not to be found yet. */
  async #connectOrWait(): Promise<OpenLink> {
    const deadline = performance.now() + holderTimeoutMs;
    for (;;) {
      try {
        return await this.#connect();
      } catch (error) {
        const mayPass = error instanceof BridgeError && (error.data.holder !== undefined || error.code === 'closed');
        if (!mayPass || this.#isClosed || performance.now() > deadline) throw error;
        await pause(holderPollMs);
      }
    }
  }

  async #connect(): Promise<OpenLink> {
    const { connect, open } = this.#options;
    const peer = await connect((opened) => this.#handlerOf(opened));
    try {
      const { isNew, instructions } = await peer.request('notebook/open', open as unknown as JsonObject);
      const link = { peer, isNew: isNew === true, instructions: typeof instructions === 'string' ? instructions : undefined };
      if (this.#isClosed) throw new BridgeError('closed', 'This agent has left the notebook.');
      if (this.#hadLink && link.isNew) this.#news = open.file === undefined ? emptyText : reopenedText;
      this.#hadLink = true;
      this.#joined = link;
      if (this.#agents.length > 0) this.showAgents(this.#agents);
      return link;
    } catch (error) {
      peer.close();
      throw toOwnError(error);
    }
  }

  #handlerOf(peer: Peer): LinkHandler {
    const { tools, logger } = this.#options;
    return {
      request: (method, params, call) =>
        tools?.request(method, params, { peer, call }) ??
        Promise.reject(new BridgeError('unknown_method', `This process does not answer "${method}".`)),
      notify: (method) => {
        if (method !== 'notebook/disconnected') return;
        this.#isDisconnected = true;
        logger.info('A person disconnected the agent from the notebook.');
      },
      closed: () => {
        tools?.forget();
        if (this.#joined?.peer !== peer) return;
        this.#joined = undefined;
        this.#link = undefined;
        if (!this.#isClosed && !this.#isDisconnected) logger.warn('The process that holds the notebook has ended.');
      },
    };
  }

  #withNews(result: JsonObject): ToolResult {
    const text = this.#news;
    if (text === undefined) return result;
    this.#news = undefined;
    const content = Array.isArray(result.content) ? (result.content as ToolResult['content']) : [];
    return { ...result, content: [...(content ?? []), { type: 'text', text }] };
  }
}

/** A signal leaves us two seconds. */
const saveTimeoutMs = 1500;
const holderTimeoutMs = 3000;
const holderPollMs = 50;

const disconnectedText =
  'A person disconnected this agent from the notebook, in its window. The notebook is open as before; nothing was run or changed. To come back, the person reconnects this MCP server in the agent’s host (in most hosts: restart it, in Claude Code: /mcp).';
const goneText =
  'The process that held the notebook ended while the call ran. Its outcome is unknown; it was not repeated. The next call opens the notebook again, with a new kernel.';
const reopenedText =
  'Note: the process that held the notebook had ended, so it was opened again from its file, with a new kernel. Variables are gone; cells are as they were last saved.';
const emptyText =
  'Note: the process that held the notebook had ended. It was in memory only, so this is a new, empty one, with a new kernel.';
