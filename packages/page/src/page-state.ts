import type { Agent } from './definitions.js';

/**
 * Why a dial failed: `blocked` by the browser, `refused` by the program that listens (the token has ended, or the port belongs
 * to another program by now), or `nobody` is there.
 */
export type Diagnosis = 'blocked' | 'refused' | 'nobody';

/**
 * `person` disconnected · `consent` was not given · `busy`: another page is connected · `refused`: the token has ended ·
 * `unreachable`: see the diagnosis · `lost`: the connection ended, and reconnecting is off or was given up.
 */
export type DisconnectReason = 'person' | 'consent' | 'busy' | 'refused' | 'unreachable' | 'lost';

/**
 *     idle ──connect──▶ asking ──agreed──▶ connecting ──initialize──▶ connected
 *                          │                 ▲  │ nobody, refused         │ lost
 *                          ▼                 │  ▼                         ▼
 *                     disconnected ◀─────────┼──┴──────gave up───────  waiting
 *                                            └──────retryAt──────────────┘
 */
export type PageState =
  | { readonly status: 'idle' }
  | { readonly status: 'asking'; readonly port: number }
  | { readonly status: 'connecting'; readonly port: number }
  | { readonly status: 'connected'; readonly agent: Agent }
  /** The connection was lost; the next try is at `retryAt` (milliseconds since 1970). */
  | { readonly status: 'waiting'; readonly retryAt: number; readonly diagnosis?: Diagnosis }
  /** `code` is the WebSocket's close code. */
  | { readonly status: 'disconnected'; readonly reason: DisconnectReason; readonly code?: number; readonly diagnosis?: Diagnosis };

const underWay = {
  idle: 'Not connected.',
  asking: 'Waiting for your answer …',
  connecting: 'Connecting …',
  waiting: 'The connection was lost; trying again …',
};

const blocked =
  'Not connected: the browser keeps this page from programs on this computer. Allow “local network access” in the site settings, beside the address, and connect again.';

const reasons: Record<DisconnectReason, string> = {
  person: 'Disconnected.',
  consent: 'Not connected: you did not allow it.',
  busy: 'Not connected: another page is connected to this agent. Close that page, and connect again.',
  refused: 'Not connected: the token has ended. Open this page from the agent anew, or paste what the agent shows.',
  unreachable: 'Not connected: no program answers. Start the agent, and open this page from it.',
  lost: 'The connection was lost.',
};

/** One line for the person, in English. */
export function describeState(state: PageState): string {
  if (state.status === 'connected') return `Connected to ${describeAgent(state.agent)}.`;
  if (state.status !== 'disconnected') return underWay[state.status];
  return state.diagnosis === 'blocked' ? blocked : reasons[state.reason];
}

export function describeAgent({ name, version }: Agent): string {
  return version === undefined ? name : `${name} ${version}`;
}
