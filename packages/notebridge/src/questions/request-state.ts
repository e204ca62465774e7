import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { JsonObject } from '@notebridge/kit/json';
import { agentKey } from '../core/agent-key.js';
import type { CallContext } from '../core/call-context.js';
import { owner, principalKey } from '../core/principal.js';

/** Of this process alone: what it parks does not outlive it either. */
const key = randomBytes(32);
const bytesOfMac = 24;

/** A call as its state is bound to it. */
export interface BoundCall {
  server: string;
  method: string;
  params: JsonObject;
  context: Pick<CallContext, 'caller'>;
}

/** The `requestState` of a call that waits for answers: worth nothing to another caller, nor for another call. */
export function signState(id: string, call: BoundCall): string {
  return `${id}.${macOf(id, call).toString('base64url')}`;
}

/** The id in a `requestState` of ours; undefined if it was not issued for this call and caller. */
export function readState(state: unknown, call: BoundCall): string | undefined {
  if (typeof state !== 'string') return undefined;
  const [id = ''] = state.split('.', 1);
  // Compared as it is written: base64 has several ways to write the same bytes.
  const [given, issued] = [Buffer.from(state), Buffer.from(signState(id, call))];
  return given.length === issued.length && timingSafeEqual(given, issued) ? id : undefined;
}

function macOf(id: string, { server, method, params, context: { caller } }: BoundCall): Buffer {
  const { name, uri, arguments: args } = params;
  const bound = [id, principalKey(caller.principal ?? owner), agentKey(caller), server, method, name, uri, args];
  return createHmac('sha256', key).update(JSON.stringify(bound)).digest().subarray(0, bytesOfMac);
}
