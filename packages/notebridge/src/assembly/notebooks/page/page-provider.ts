import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { ForwardingProvider } from '@notebridge/protocol/core/forwarding-provider';
import { type ToolResult, toFailedResult } from '@notebridge/protocol/core/mcp';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import type { MiddlewareContext } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import type { BrowserResult } from '@notebridge/system/processes/browser';
import { LayeredProvider } from '../../../middleware/layered-provider.js';
import { ToolInjectionMiddleware } from '../../../middleware/tool-injection.js';
import type { PageNotebook } from '../../../notebooks/pages/page-notebook.js';
import type { PageServer } from '../../../notebooks/pages/page-server.js';
import { PageRuns } from '../../../notebooks/runs/page-runs.js';
import type { RunLedger } from '../../../notebooks/runs/run-ledger.js';
import { toOpenAdvice, toWays } from '../../../reference/open-advice.js';
import { checkSessionProxyTool, parseWaitSeconds, toBooleanResult } from '../../../reference/open-tool.js';
import { PageOpener } from '../../../reference/page-opener.js';
import { type PageLayerOptions, pageLayers } from './page-layers.js';

export interface PageProviderOptions extends Pick<PageLayerOptions, 'isJournalled' | 'logger'> {
  page: PageNotebook;
  /** The port that its pages dial, and why pages cannot come back, if they cannot. */
  server: Pick<PageServer, 'port' | 'problem'>;
  /** Opens a URL for the person. */
  openBrowser: (url: string, timeoutMs: number) => Promise<BrowserResult>;
  /** A fresh address of the page that shows a person what keeps the page away. */
  connectAddress: () => string;
  /** Where runs are kept for those who come back for one. */
  ledger: RunLedger;
}

/** A call of an agent must end before its host gives it up. Seconds. */
const defaultWaitSeconds = 20;
/** How long the start of a browser is watched for a failure. Milliseconds. */
const launchMs = 1500;

/** A page's notebook as a whole provider, for a process that others join: with the tool that opens the page, undo, runs and outputs that fit. */
export class PageProvider extends ForwardingProvider {
  readonly #options: PageProviderOptions;
  readonly #opener: PageOpener;
  readonly #runs: PageRuns;
  readonly #layered: LayeredProvider;
  #running = 0;

  constructor(options: PageProviderOptions) {
    const { page, openBrowser, isJournalled, ledger, logger } = options;
    const { profile, slot, client } = page;
    const runs = new PageRuns(page.provider, { connectionChanged: client.connectionChanged, ledger });
    const { layers } = pageLayers({ client, profile, isJournalled, logger });
    const openTool: RunnableTool<MiddlewareContext> = { ...checkSessionProxyTool, run: (args, context) => this.#open(args, context) };
    const layered = new LayeredProvider(runs, [new ToolInjectionMiddleware({ tools: [openTool] }), ...layers]);
    super(layered);
    this.#options = options;
    this.#runs = runs;
    this.#layered = layered;
    this.#opener = new PageOpener({ profile: { ...profile, defaultUrl: page.url }, allowOrigins: slot.allowedOrigins, open: openBrowser });
  }

  override get instructions(): string {
    const { problem } = this.#options.server;
    return [this.#options.page.provider.instructions, problem].filter((text) => text !== undefined).join(' ');
  }

  /** True while a call is at the page, or a run goes on. */
  get isRunning(): boolean {
    return this.#running > 0 || this.#runs.isRunning;
  }

  override async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (method !== 'tools/call') return super.request(method, params, context);
    this.#running++;
    try {
      return await super.request(method, params, context);
    } finally {
      this.#running--;
    }
  }

  /** The page stays as it is. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#layered.close();
    // What its cells run goes on: the page is not ours, and the next process finds the run on disk.
    await this.#options.ledger.written();
  }

  async #open(args: JsonObject, context: MiddlewareContext): Promise<ToolResult> {
    const { page, server, connectAddress } = this.#options;
    const { client, slot, connection } = page;
    try {
      const seconds = parseWaitSeconds(args, defaultWaitSeconds);
      if (client.isConnected()) return toBooleanResult(true);
      const notebookUrl = typeof args.notebook_url === 'string' ? args.notebook_url : undefined;
      const report = await this.#opener.open({ token: slot.token, port: server.port, notebookUrl, timeoutMs: launchMs });
      connection.opened(report.outcome);
      if (seconds > 0) await client.waitUntilConnected(seconds * 1000, context.signal);
      if (client.isConnected()) return toBooleanResult(true);
      const ways = toWays({ slot, token: slot.token, port: server.port }, report.url);
      const advice = toOpenAdvice({ state: connection.state, ways, waitedSeconds: seconds, liveAddress: connectAddress() });
      return toBooleanResult(false, ...[server.problem ?? [], advice].flat());
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return toFailedResult(error.code, error.message);
    }
  }
}
