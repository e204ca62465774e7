import { setTimeout as pause } from 'node:timers/promises';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { type ToolResult, toFailedResult } from '@notebridge/protocol/core/mcp';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import { isInputRequired } from '@notebridge/protocol/core/questions';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import { withoutEnvelope } from '@notebridge/protocol/rpc/modern-envelope';
import type { Peer, PeerRequestOptions } from '@notebridge/protocol/rpc/peer';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { JoinRequest } from './host-link.js';
import { type LinkHandler, toOwnError } from './join-link.js';
import type { LentTools } from './lent-tools.js';
import { askMethod, LinkQuestions } from './link-questions.js';
import type { NotebookAddress } from './notebook-address.js';
import { agentParam, agentPrefix, sessionParam } from './shared-notebook.js';

export interface JoinedNotebookOptions {
  /** Finds the process that has the notebook open, or starts one, and joins it. `address`: what the notebook has turned out to be. */
  connect: (createHandler: (peer: Peer) => LinkHandler, address: NotebookAddress | undefined) => Promise<Peer>;
  open: JoinRequest;
  /** What agents are told until the notebook is there. */
  instructions: string;
  /** The tool that this process answers itself, where the notebook has windows of ours. */
  windowTool: string | undefined;
  /** Shows the person a window, and tells the agent where its address stands. */
  showWindow: (window: { url: string; path: string }) => Promise<ToolResult>;
  nameOfAgent: (context: CallContext) => string;
  /** What whoever is at this process does when the one that holds the notebook has ended. Default: nothing, the next call opens it. */
  howAgain?: string | undefined;
  /** What the notebook's code may call. */
  tools: LentTools | undefined;
  /** How long the agent may take to answer what the notebook asks in the middle of a call. Milliseconds. */
  answerTimeoutMs: number;
  logger: Logger;
}

interface OpenLink {
  peer: Peer;
  instructions: string | undefined;
  id: string;
}

/** Resources that are watched again when another process opens the notebook. */
const maxWatched = 1000;

/**
 * A notebook that another process holds, as a whole provider: tools, resources, prompts and events are there, and it goes on when this agent
 * ends. If that process ends, the call that runs fails, and the next one joins anew.
 */
export class JoinedNotebook implements Provider {
  readonly name = 'notebook';
  readonly #options: JoinedNotebookOptions;
  #link: Promise<OpenLink> | undefined;
  #joined: OpenLink | undefined;
  #agents: readonly { id: string; name: string }[] = [];
  /** Which opening of the notebook this agent was told of last. */
  #life: unknown;
  /** What it turned out to be: by that it is found again. */
  #again: Pick<JoinRequest, 'address'> = {};
  #lastId: string | undefined;
  /** What the agent has to know about what happened between two calls. */
  #news: string | undefined;
  #isDisconnected = false;
  #isClosed = false;

  readonly #questions: LinkQuestions;
  readonly #events = new Listeners<ProviderEvent>();
  readonly #watched = new Set<string>();

  constructor(options: JoinedNotebookOptions) {
    this.#options = options;
    this.#questions = new LinkQuestions(options.answerTimeoutMs);
  }

  /** What the process that has it calls it; undefined until it has been joined. */
  get id(): string | undefined {
    return this.#joined?.id ?? this.#lastId;
  }

  /** A person has disconnected this agent from it: only a person lets it come back. */
  get isDisconnected(): boolean {
    return this.#isDisconnected;
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

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (method === 'tools/call') return this.#callTool(params, context);
    const { uri } = params;
    if (method === 'resources/subscribe' && typeof uri === 'string' && this.#watched.size < maxWatched) this.#watched.add(uri);
    if (method === 'resources/unsubscribe' && typeof uri === 'string') this.#watched.delete(uri);
    return this.#ask(method, params, context);
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.#joined?.peer.notify('notebook/notify', { method, ...(params === undefined ? {} : { params: withoutEnvelope(params) }) });
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#events.add(listener);
  }

  /** The address of one more window, for the person at this process. `opens`: a browser is started with it at once. */
  async newWindow({ opens = false } = {}): Promise<{ url: string; path: string }> {
    const { peer } = await this.#open();
    const { url, path } = await peer.request('window/open', { opens }).catch((error: unknown) => Promise.reject(toOwnError(error)));
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

  async #callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    if (this.#isDisconnected) return toFailedResult('disconnected', disconnectedText);
    if (params.name === this.#options.windowTool && this.#options.windowTool !== undefined)
      return this.#options.showWindow(await this.newWindow({ opens: true }));
    return this.#withNews(await this.#ask('tools/call', params, context));
  }

  async #ask(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (!LinkQuestions.mayAsk(method, context)) return this.#send(method, params, { context, cancellation: context.cancellation });
    return this.#questions.request({
      method,
      params,
      context,
      send: ({ cancellation = context.cancellation, onProgress }, more) =>
        this.#send(method, { ...params, ...more }, { context, cancellation, onProgress }),
    });
  }

  async #send(
    method: string,
    params: JsonObject,
    {
      context,
      cancellation: asked,
      onProgress,
    }: { context: CallContext } & Pick<PeerRequestOptions, 'onProgress'> & {
        cancellation: Cancellation;
      },
  ): Promise<JsonObject> {
    const { peer } = await this.#open();
    const sent = {
      ...(context.caller.era === 'modern' ? withoutEnvelope(params) : params),
      [agentParam]: this.#options.nameOfAgent(context),
      [sessionParam]: context.caller.sessionId,
    };
    const forward = onProgress ?? ((progress: JsonObject): void => context.forwardProgress(progress));
    const pass = ({ progressToken: _, ...progress }: JsonObject): void => forward(progress);
    try {
      const cancellation = new Cancellation();
      // An agent that ends takes nothing back: what it has begun goes on, for the next one.
      asked.onCancel((reason) => {
        if (!asked.callerIsGone) cancellation.cancel(reason);
      });
      return await peer.request(agentPrefix + method, sent, { cancellation, ...(context.wantsProgress ? { onProgress: pass } : {}) });
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
    const peer = await connect((opened) => this.#handlerOf(opened), this.#again.address);
    try {
      const answer = await peer.request('notebook/open', { ...open, ...this.#again } as unknown as JsonObject);
      const { life, instructions, id, address, note, isolation } = toPlainValue(answer) as JsonObject;
      const link = { peer, instructions: typeof instructions === 'string' ? instructions : undefined, id: String(id) };
      const hadLink = this.#life !== undefined;
      if (this.#isClosed) throw new BridgeError('closed', 'This agent has left the notebook.');
      // Also where a person has opened it again, before this agent has noticed.
      if (life !== this.#life) {
        const opened = hadLink ? newsOf(address as unknown as NotebookAddress, isolation) : undefined;
        this.#news = [opened, note].filter((text) => typeof text === 'string').join(' ') || undefined;
      }
      if (hadLink) this.#returned(peer);
      this.#life = life;
      this.#joined = link;
      this.#lastId = link.id;
      this.#again = { address: address as unknown as NotebookAddress };
      if (this.#agents.length > 0) this.showAgents(this.#agents);
      return link;
    } catch (error) {
      peer.close();
      throw toOwnError(error);
    }
  }

  /** Another process, or another life of the notebook: what this agent has read of it may be different. */
  #returned(peer: Peer): void {
    for (const uri of this.#watched)
      peer.request(`${agentPrefix}resources/subscribe`, { uri }, { timeoutMs: watchTimeoutMs }).catch(() => {});
    this.#events.emit({ method: 'notifications/tools/list_changed' });
  }

  #handlerOf(peer: Peer): LinkHandler {
    const { tools, logger } = this.#options;
    return {
      request: (method, params, call) =>
        (method === askMethod ? this.#questions.take(params, call) : undefined) ??
        tools?.request(method, params, { peer, call }) ??
        Promise.reject(new BridgeError('unknown_method', `This process does not answer "${method}".`)),
      notify: (method, params) => {
        if (method === 'notebook/event') return this.#events.emit(params as unknown as ProviderEvent);
        if (method === 'notifications/message') return this.#events.emit({ method, params });
        if (method !== 'notebook/disconnected') return;
        this.#isDisconnected = true;
        logger.info('A person disconnected the agent from the notebook.');
      },
      closed: () => {
        tools?.forget();
        if (this.#joined?.peer !== peer) return;
        this.#joined = undefined;
        this.#link = undefined;
        if (this.#isClosed || this.#isDisconnected) return;
        logger.warn(`The process that held the notebook has ended. ${this.#options.howAgain ?? 'The next call opens it again.'}`);
      },
    };
  }

  #withNews(result: JsonObject): ToolResult {
    const text = this.#news;
    if (text === undefined || isInputRequired(result)) return result;
    this.#news = undefined;
    const content = Array.isArray(result.content) ? (result.content as ToolResult['content']) : [];
    return { ...result, content: [...(content ?? []), { type: 'text', text }] };
  }
}

function newsOf(address: NotebookAddress, isolation: unknown): string {
  if (address.kind !== 'built-in') return againText;
  const text = address.file === undefined ? emptyText : reopenedText;
  // Who opened it again may have given its code more, or less.
  return typeof isolation === 'string' ? `${text} What its code can do now: ${isolation}` : text;
}

const watchTimeoutMs = 5000;
/** A signal leaves us two seconds. */
const saveTimeoutMs = 1500;
const holderTimeoutMs = 3000;
const holderPollMs = 50;

const disconnectedText =
  'A person disconnected this agent from the notebook, in its window. The notebook is open as before; nothing was run or changed. To come back, the person reconnects this MCP server in the agent’s host (in most hosts: restart it, in Claude Code: /mcp).';
const goneText =
  'The process that held the notebook ended while the call ran, or said nothing for half a minute. Its outcome is unknown; it was not repeated. The next call joins it again; if it has ended, the notebook is opened again, with a new kernel.';
const reopenedText =
  'Note: the process that held the notebook had ended, and it was opened again from its file, with a new kernel. Variables are gone; cells are as they were last saved.';
const againText =
  'Note: the process that held the connection to the notebook had ended, and another one connected to it again. Look at the cells before you repeat anything.';
const emptyText =
  'Note: the process that held the notebook had ended. It was in memory only, so this is a new, empty one, with a new kernel.';
