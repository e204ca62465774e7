import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { CallContext } from '../core/call-context.js';
import { owner, principalKey } from '../core/principal.js';
import type { JsonObject } from '../json.js';
import { deriveKey } from '../util/derive-key.js';
import { agentKey } from './agent-key.js';

/** What states are signed with, and who parks the calls: this process alone, whose calls do not outlive it either, unless a hub of a cluster. */
let issuer: { key: Buffer; hubId?: () => string } = { key: randomBytes(32) };
const bytesOfMac = 24;
const bytesOfTag = 12;

/**
 * From now on states say which hub of a cluster has parked the call, and are signed with a key that all of its hubs have. For the whole process: a
 * process is one hub. `hubId` is asked for each state.
 */
export function signStatesAsHub({ clusterKey, hubId }: { clusterKey: Uint8Array; hubId: () => string }): void {
  issuer = { key: deriveKey(clusterKey, 'request states'), hubId };
}

/** A call as its state is bound to it. */
export interface BoundCall {
  server: string;
  method: string;
  params: JsonObject;
  context: Pick<CallContext, 'caller'>;
}

/** The `requestState` of a call that waits for answers: worth nothing to another caller, nor for another call. `id`: without `.` and `~`. */
export function signState(id: string, call: BoundCall): string {
  const { hubId } = issuer;
  if (hubId === undefined) return sign(id, call);
  const parked = `${id}~${Buffer.from(hubId()).toString('base64url')}`;
  return sign(`${parked}~${tagOf(parked, call.context).toString('base64url')}`, call);
}

/** The id in a `requestState` of ours; undefined if it was not issued for this call and caller. */
export function readState(state: unknown, call: BoundCall): string | undefined {
  if (typeof state !== 'string') return undefined;
  const [named = ''] = state.split('.', 1);
  // Compared as it is written: base64 has several ways to write the same bytes.
  const [given, issued] = [Buffer.from(state), Buffer.from(sign(named, call))];
  return given.length === issued.length && timingSafeEqual(given, issued) ? named.split('~', 1)[0] : undefined;
}

/**
 * The hub that has parked the call of a `requestState`; undefined if it names none, or none of ours gave it to this principal: whoever could make
 * one up would choose which hub's guard looks at a call. The whole signature is looked at there, since it is of the call.
 */
export function hubOfState(state: unknown, context: BoundCall['context']): string | undefined {
  const [, parked, hub, tag] = typeof state === 'string' ? (/^([\w-]{1,100}~([\w-]{1,400}))~([\w-]{16})\.[\w-]+$/.exec(state) ?? []) : [];
  if (parked === undefined || hub === undefined || tag === undefined) return undefined;
  return timingSafeEqual(tagOf(parked, context), Buffer.from(tag, 'base64url')) ? Buffer.from(hub, 'base64url').toString() : undefined;
}

function tagOf(parked: string, { caller }: BoundCall['context']): Buffer {
  const tagged = JSON.stringify(['hub', parked, principalKey(caller.principal ?? owner)]);
  return createHmac('sha256', issuer.key).update(tagged).digest().subarray(0, bytesOfTag);
}

function sign(named: string, call: BoundCall): string {
  return `${named}.${macOf(named, call).toString('base64url')}`;
}

function macOf(id: string, { server, method, params, context: { caller } }: BoundCall): Buffer {
  const { name, uri, arguments: args } = params;
  const bound = [id, principalKey(caller.principal ?? owner), agentKey(caller), server, method, name, uri, args];
  return createHmac('sha256', issuer.key).update(JSON.stringify(bound)).digest().subarray(0, bytesOfMac);
}
