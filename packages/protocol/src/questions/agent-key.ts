import type { Caller } from '../core/call-context.js';

/** What a client says of itself behind this is not looked at. UTF-16 units. */
const maxWord = 200;

/**
 * What is one agent, as far as the wire tells. A session of the legacy era is one, and so is a process on stdio. Over HTTP the modern era has
 * no sessions: all calls of one principal have one session id, and what its client calls itself keeps agents apart that share a token. That
 * is no proof: two that call themselves the same are one here.
 */
export function agentKey({ sessionId, door, era, clientInfo }: Caller): string {
  if (!isOnlyDeclared({ door, era })) return sessionId;
  const declared = [clientInfo?.name, clientInfo?.title, clientInfo?.version].map((word) => String(word ?? '').slice(0, maxWord));
  return `${sessionId} ${JSON.stringify(declared)}`;
}

/** True for a caller that nothing but its token and its own words tells from others. */
export function isOnlyDeclared({ door, era }: Pick<Caller, 'door' | 'era'>): boolean {
  return door === 'http' && era === 'modern';
}
