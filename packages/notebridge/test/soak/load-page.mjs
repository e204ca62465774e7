// A page by @notebridge/page that dials hubs and notes what it is asked in the ledger.
import { appendFileSync } from 'node:fs';
import { WebSocket } from 'ws';
import { createPageSession } from '../../../page/dist/index.js';

/**
 * @param {{ name: string, ledger: string, origin: string, hostOf: () => string }} options `hostOf`: host and port of the hub to dial next.
 */
export function createLoadPage({ name, ledger, origin, hostOf }) {
  /** Dials a hub of ours, wherever it is: a page in a browser has only its own machine's. */
  class Socket extends WebSocket {
    /** @param {string} url @param {string} protocols */
    constructor(url, protocols) {
      super(url.replace(/\/\/localhost:\d+/, `//${hostOf()}`), protocols, { origin });
    }
  }
  return createPageSession({
    name,
    version: '1',
    WebSocket: Socket,
    consent: () => true,
    reconnect: { firstMs: 100, maxMs: 1000 },
    tools: [
      {
        name: 'mark_page',
        description: 'Notes a number.',
        inputSchema: { properties: { n: { type: 'integer' } }, required: ['n'] },
        run: (/** @type {{ n: number }} */ { n }) => {
          appendFileSync(ledger, `${n}\n`);
          return `marked ${n}`;
        },
      },
    ],
  });
}
