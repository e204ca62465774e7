import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { InitializeResult } from '@notebridge/protocol/core/mcp';
import { isLegacyVersion, pageVersionOffered } from '@notebridge/protocol/core/protocol-versions';
import { everyAskable, isQuestion } from '@notebridge/protocol/core/questions';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { SerialCalls } from '@notebridge/protocol/questions/serial-calls';
import { McpClient } from '@notebridge/protocol/rpc/mcp-client';
import type { Channel } from '@notebridge/protocol/rpc/message-stream';
import type { RpcNotification, RpcRequest } from '@notebridge/protocol/rpc/messages';
import { Peer, type PeerRequestOptions } from '@notebridge/protocol/rpc/peer';
import type { RecordChannel } from '@notebridge/protocol/rpc/tapped-channel';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { FaultLog } from '@notebridge/system/net/fault-log';

export const defaultHandshakeMs = 5000;

/** A token that the page may have in place of the one that it came by. */
export interface ResumeOffer {
  readonly token: string;
  /** Called when the page says that it has kept it. */
  accept(): void;
  /** Resolves to true when the token is on disk: only then may the page have it. Left out: at once. */
  readonly isKept?: Promise<boolean>;
}

/** The key under which the page is given a resume token, and says that it has kept it. */
const resumeTokenKey = 'notebridge/resume_token';

export interface PageSessionOptions {
  /** The name and version sent to the page. Default: Notebridge's. */
  clientInfo?: JsonObject | undefined;
  /** The capabilities sent to the page. Default: those that its questions need; else none, since a page may only answer and notify. */
  capabilities?: JsonObject;
  /** The protocol version offered. Default 2025-06-18. */
  protocolVersion?: string;
  /** How long `initialize` may take, in milliseconds. Default 5000. */
  handshakeMs?: number | undefined;
  /** How long a request may take without progress, in milliseconds. Default: no bound but the connection's. */
  callTimeoutMs?: number | undefined;
  /** Sent to the page in `initialize`. Default: none, for pages that know no token but the one of their URL. */
  resume?: ResumeOffer | undefined;
  /** The calls in which the page may ask. Default: it may not. */
  questions?: SerialCalls | undefined;
  /** Notifications of the page, from before `initialize` on. */
  onNotification?: (notification: RpcNotification) => void;
  /** Records what is said. Default: nobody does. */
  record?: RecordChannel | undefined;
  logger?: Logger;
}

/** An MCP client session with one page over one connection. It ends with the connection; a reloaded page needs another. */
export class PageSession extends McpClient {
  readonly #options: PageSessionOptions;
  readonly #peer: Peer;
  #initialized: InitializeResult | undefined;

  constructor(channel: Channel, options: PageSessionOptions = {}) {
    super();
    this.#options = options;
    const faults = new FaultLog(options.logger ?? silentLogger);
    this.#peer = new Peer({
      channel: options.record?.(channel, { name: 'page', we: 'client' }) ?? channel,
      onRequest: (request, asking) => answerPageRequest(request, asking, options.questions),
      onNotification: (notification) => options.onNotification?.(notification),
      onFault: (error, id) => {
        if (error.code === 'unexpected_answer' && id !== null) options.questions?.settle(id);
        faults.report('Skipped a message of the page.', { code: error.code, error: error.message });
      },
      onClose: () => options.questions?.settle(),
      onUnsent: (error) => faults.report('A message to the page was dropped.', { error: messageOf(error) }),
    });
  }

  /** What the page answered to `initialize`; undefined before. */
  get initializeResult(): InitializeResult | undefined {
    return this.#initialized;
  }

  /**
   * Opens the session. The page is of the legacy era, so it is asked at once, never probed. Rejects with `handshake_failed` if
   * it does not answer in time, answers an error, or a version that we do not know.
   */
  async initialize(): Promise<InitializeResult> {
    const { clientInfo, capabilities, protocolVersion, handshakeMs, resume, questions } = this.#options;
    const params = {
      protocolVersion: protocolVersion ?? pageVersionOffered,
      capabilities: capabilities ?? (questions === undefined ? {} : everyAskable),
      clientInfo: clientInfo ?? { name: 'notebridge', version: '0' },
      ...(resume && { _meta: { [resumeTokenKey]: resume.token } }),
    };
    const result = await this.#peer
      .request('initialize', params, { timeoutMs: handshakeMs ?? defaultHandshakeMs })
      .catch((error: unknown) => {
        throw new BridgeError('handshake_failed', `The page did not answer "initialize": ${messageOf(error)}`, { cause: error });
      });
    // Whatever becomes of this session: the page has it now.
    if (isJsonObject(result._meta) && result._meta[resumeTokenKey] === true) resume?.accept();
    if (!isLegacyVersion(result.protocolVersion)) {
      throw new BridgeError(
        'handshake_failed',
        `The page answered "initialize" with protocol version ${JSON.stringify(result.protocolVersion)}, which we do not know.`,
      );
    }
    this.#initialized = result as InitializeResult;
    this.#peer.notify('notifications/initialized');
    return this.#initialized;
  }

  override can(capability: string): boolean {
    const { capabilities } = this.#initialized ?? {};
    return isJsonObject(capabilities) && capabilities[capability] !== undefined;
  }

  request(method: string, params?: JsonObject, options: PeerRequestOptions = {}): Promise<JsonObject> {
    const { callTimeoutMs } = this.#options;
    return this.#peer.request(method, params, callTimeoutMs === undefined ? options : { timeoutMs: callTimeoutMs, ...options });
  }

  notify(method: string, params?: JsonObject): void {
    this.#peer.notify(method, params);
  }

  /** Ends the calls in flight and hangs up. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#peer.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A page may answer and notify. It cannot make us do anything; its ping is answered, and what its profile lets it ask the agent. */
async function answerPageRequest(request: RpcRequest, asking: Cancellation, questions: SerialCalls | undefined): Promise<JsonObject> {
  if (request.method === 'ping') return {};
  if (questions !== undefined && isQuestion(request)) return questions.take(request, asking);
  throw new BridgeError('unknown_method', `A page may not ask for "${request.method}".`);
}
