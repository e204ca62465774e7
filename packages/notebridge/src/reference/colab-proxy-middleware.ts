import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import {
  type Answered,
  answer,
  type CallNext,
  type Middleware,
  type MiddlewareContext,
  type MiddlewareHost,
} from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import { type ColabProxyClient, UI_CONNECTION_TIMEOUT } from './colab-proxy-client.js';
import { toConnectedNote, toOpenAdvice, toWays } from './open-advice.js';
import { openToolName, parseWaitSeconds, stateKeys, toBooleanResult } from './open-tool.js';
import { type OpenReport, PageOpener } from './page-opener.js';

export interface ColabProxyMiddlewareOptions {
  opener?: PageOpener | undefined;
  /** How long the open tool waits when the caller does not say, in seconds. Default 60, as in the reference. */
  defaultWaitSeconds?: number | undefined;
  /** A fresh address of the page that shows a person what is missing. Default: there is no such page. */
  connectAddress?: (() => string) | undefined;
}

/**
 * Tells every message whether the page is connected, tells agents once when that changes, and makes the open tool wait for
 * the page.
 */
export class ColabProxyMiddleware implements Middleware {
  /** Whether the page was connected when agents were last told; at first, whether it is. */
  lastMessageConnected: boolean;
  readonly #proxyClient: ColabProxyClient;
  readonly #opener: PageOpener;
  readonly #defaultWaitSeconds: number;
  readonly #connectAddress: (() => string) | undefined;

  constructor(proxyClient: ColabProxyClient, options: ColabProxyMiddlewareOptions = {}) {
    this.#proxyClient = proxyClient;
    this.lastMessageConnected = proxyClient.isConnected();
    this.#opener = options.opener ?? new PageOpener();
    this.#defaultWaitSeconds = options.defaultWaitSeconds ?? UI_CONNECTION_TIMEOUT;
    this.#connectAddress = options.connectAddress;
  }

  onAdded(host: MiddlewareHost): () => void {
    const announce = (): void => this.#announceChange(() => host.sendToolListChanged());
    announce();
    return this.#proxyClient.connectionChanged.add(announce);
  }

  /** Not async: every message comes through here. */
  onMessage(context: MiddlewareContext, callNext: CallNext<JsonObject, JsonObject>): Promise<Answered<JsonObject>> {
    const { slot, port } = this.#proxyClient.wss;
    context.setState(stateKeys.connected, this.#proxyClient.isConnected());
    context.setState(stateKeys.token, slot.tokens.entry);
    context.setState(stateKeys.port, port);
    return callNext(context).then((result) => {
      if (this.#proxyClient.isConnected() !== this.lastMessageConnected) this.#announceChange(() => context.sendToolListChanged());
      return result;
    });
  }

  /** Not async: nearly every call is of another tool, and pays nothing here. */
  onCallTool(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>): Promise<Answered<ToolResult>> {
    return context.message.name === openToolName ? this.#open(context, callNext) : callNext(context);
  }

  async #open(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>): Promise<Answered<ToolResult>> {
    context.setState(stateKeys.opener, this.#opener);
    const result = await callNext(context);
    if (result.isError === true) return result;
    if (!this.#proxyClient.isConnected()) return answer(await this.#waitForPage(context));
    // The page may have come while the browser was being started: then the tool's own "false" is out of date.
    const note = toConnectedNote(this.#proxyClient, this.#opener);
    if (note !== undefined) return answer(toBooleanResult(true, note));
    return result.structuredContent?.result === false ? answer(toBooleanResult(true)) : result;
  }

  async #waitForPage(context: MiddlewareContext<ToolCall>): Promise<ToolResult> {
    const client = this.#proxyClient;
    const seconds = parseWaitSeconds(context.message.arguments ?? {}, this.#defaultWaitSeconds);
    const report = context.getState(stateKeys.report) as OpenReport | undefined;
    if (report !== undefined) client.connection.opened(report.outcome);
    context.reportProgress(1, 3, 'The user is not connected to the Colab UI');
    context.reportProgress(2, 3, `Waiting for user to connect in Colab - will wait for ${seconds}s`);
    if (seconds > 0) await client.awaitProxyConnection(seconds, context.signal);
    if (context.cancellation.reason !== undefined)
      throw new BridgeError('cancelled', `"${openToolName}" was cancelled: ${context.cancellation.reason}`);
    if (client.isConnected()) {
      context.reportProgress(3, 3, 'The Colab UI is successfully connected!');
      return toBooleanResult(true);
    }
    context.reportProgress(3, 3, 'Timeout while waiting for the user to connect.');
    const ways = toWays(client.wss, report?.url ?? this.#opener.addressOf(client.wss));
    const { state } = client.connection;
    return toBooleanResult(false, toOpenAdvice({ state, ways, waitedSeconds: seconds, liveAddress: this.#connectAddress?.() }));
  }

  #announceChange(announce: () => void): void {
    const connected = this.#proxyClient.isConnected();
    if (connected === this.lastMessageConnected) return;
    this.lastMessageConnected = connected;
    announce();
  }
}
