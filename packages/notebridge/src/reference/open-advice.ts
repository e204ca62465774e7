import { sshForwardHint } from '../processes/environment.js';
import type { OpenReport } from './page-opener.js';

export interface OpenAdviceOptions {
  report: OpenReport | undefined;
  token: string;
  port: number;
  /** Seconds that were waited. */
  waitedSeconds: number;
  /** True if a connection came without a byte since a page was last connected. */
  wasSilent: boolean;
  /** The origin that needs the browser's permission. */
  origin: string;
}

/** What a person can do when no page has connected: why, as far as we know, and every way that is left. */
export function toOpenAdvice({ report, token, port, waitedSeconds, wasSilent, origin }: OpenAdviceOptions): string {
  const lines = [waitedSeconds === 0 ? 'The Colab page is not connected yet.' : `No Colab page connected within ${waitedSeconds} s.`];
  if (wasSilent) {
    lines.push(
      `A browser reached this machine but did not speak: it seems to lack the local-network permission. In Chrome or Edge, click the icon left of the address on ${origin}, allow "Local network access" (chrome://settings/content/localNetworkAccess), and reload the page.`,
    );
  }
  if (report?.outcome.opened === false) lines.push(`No browser was opened: ${report.outcome.hint}`);
  lines.push('Ways to connect:');
  if (report !== undefined) lines.push(`- Open this URL (it contains the access token: do not share it): ${report.url}`);
  lines.push(
    report?.outcome.opened === true
      ? '- In the tab that was opened, press "Connect" in the dialog that asks about the local Colab MCP server.'
      : '',
    `- In a Colab notebook that is already open: Tools > Command palette > "Connect to a local Colab MCP server", and paste: ${token}&${port}`,
    `- If the browser runs on another machine, run there first: ${sshForwardHint(port)}`,
    'Then call open_colab_browser_connection again, or any notebook tool.',
  );
  return lines.filter((line) => line.length > 0).join('\n');
}
