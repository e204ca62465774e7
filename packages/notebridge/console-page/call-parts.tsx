import { oneLine } from './format.js';
import { State } from './parts.js';
import { hrefOf } from './route.js';
import type { Call } from './wire.js';

/** What was called. */
export function titleOf({ server, tool, method }: Pick<Call, 'server' | 'tool' | 'method'>): string {
  return oneLine([server, tool].filter((part) => part !== null && part !== '').join(' · ') || method);
}

/** Who called, as well as it is known. */
export function callerOf({ caller: { label, client, grant_id: grant, kind } }: Call): string {
  return oneLine(label ?? client ?? grant ?? kind);
}

export function CallLink({ call }: { call: Call }) {
  return <a href={hrefOf('calls', call.id)}>{titleOf(call)}</a>;
}

/** `running` means of a server that all is well, and of a call that it is not over. */
export function Outcome({ call }: { call: Call }) {
  return <State name={call.outcome ?? (call.state === 'running' ? 'under way' : 'ended')} />;
}

export function hasFailed({ outcome }: Call): boolean {
  return outcome !== null && outcome !== 'ok';
}
