import { BridgeError } from '@notebridge/protocol/core/errors';
import { type ToolResult, toFailedResult, toTextResult } from '@notebridge/protocol/core/mcp';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import type { MiddlewareContext } from '@notebridge/protocol/core/middleware';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import { quote } from '@notebridge/protocol/util/quote';
import { type OpenReport, PageOpener } from './page-opener.js';

/** The state of a message that the open tool reads, under the reference's keys; the last two are ours. */
export const stateKeys = {
  connected: 'fe_connected',
  token: 'proxy_token',
  port: 'proxy_port',
  opener: 'page_opener',
  report: 'open_report',
} as const;

export const openToolName = 'open_colab_browser_connection';

const maxWaitSeconds = 3600;
const shortestTimeoutMs = 250;
const longestTimeoutMs = 1500;

type StateContext = Pick<MiddlewareContext, 'getState' | 'setState'>;

/**
 * Opens the Colab page in a browser, unless it is connected: then it answers true at once. Otherwise it answers false, and
 * `ColabProxyMiddleware` waits for the page. What became of the opening is left in the state of the message.
 */
export async function checkSessionProxyToolFn(context: StateContext, args: JsonObject = {}): Promise<boolean> {
  if (context.getState(stateKeys.connected) === true) return true;
  const opener = context.getState(stateKeys.opener);
  const report = await (opener instanceof PageOpener ? opener : new PageOpener()).open({
    token: String(context.getState(stateKeys.token)),
    port: Number(context.getState(stateKeys.port)),
    notebookUrl: typeof args.notebook_url === 'string' ? args.notebook_url : undefined,
    timeoutMs: toTimeoutMs(parseWaitSeconds(args, maxWaitSeconds)),
  });
  context.setState(stateKeys.report, report satisfies OpenReport);
  return false;
}

/** The tool that is injected into every list. */
export const checkSessionProxyTool: RunnableTool<MiddlewareContext> = {
  name: openToolName,
  description:
    'Opens a connection to a Google Colab browser session and unlocks notebook editing tools. Returns a boolean representing whether the connection attempt succeeded',
  inputSchema: {
    type: 'object',
    properties: {
      notebook_url: { type: 'string', description: 'The Colab notebook to open. Default: a new, empty one.' },
      wait_seconds: {
        type: 'number',
        minimum: 0,
        maximum: maxWaitSeconds,
        description: 'How long to wait for the page to connect, in seconds. 0 answers at once. Default: 45 (60 with --list dynamic).',
      },
    },
  },
  outputSchema: { type: 'object', properties: { result: { type: 'boolean' } }, required: ['result'] },
  annotations: { title: 'Open Google Colab', readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async run(args, context) {
    try {
      parseWaitSeconds(args, 0);
      parseNotebookUrl(args);
      return toBooleanResult(await checkSessionProxyToolFn(context, args));
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return toFailedResult(error.code, error.message);
    }
  },
};

/** `true` or `false` as text and as structured content; further texts for the person. */
export function toBooleanResult(result: boolean, ...notes: string[]): ToolResult {
  return { ...toTextResult(String(result), ...notes), structuredContent: { result } };
}

/** How long the caller wants to wait, in seconds. Throws `bad_params`. */
export function parseWaitSeconds(args: JsonObject, defaultSeconds: number): number {
  // Python agents print 5.0.
  const value = toPlainValue(args.wait_seconds);
  if (value === undefined || value === null) return defaultSeconds;
  if (typeof value === 'number' && value >= 0 && value <= maxWaitSeconds) return value;
  throw new BridgeError('bad_params', `"wait_seconds" must be a number from 0 to ${maxWaitSeconds}; found ${quote(value)}.`);
}

/** How long the start of a browser is watched for a failure: long enough to see one, never much longer than the caller waits. */
function toTimeoutMs(waitSeconds: number): number {
  return Math.min(longestTimeoutMs, Math.max(shortestTimeoutMs, waitSeconds * 1000));
}

function parseNotebookUrl(args: JsonObject): void {
  const value = args.notebook_url;
  if (value !== undefined && value !== null && typeof value !== 'string') {
    throw new BridgeError('bad_params', `"notebook_url" must be a string; found ${quote(value)}.`);
  }
}
