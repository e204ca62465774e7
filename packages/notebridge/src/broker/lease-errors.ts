import { BridgeError } from '@notebridge/protocol/core/errors';
import type { LeaseAgent } from './lease-questions.js';

/** Who has the lease, and since when: milliseconds since the epoch. */
export interface Holding {
  agent: LeaseAgent;
  since: number;
}

interface Terms {
  idleMs: number;
  nextStep: string;
}

export const takeOverName = 'take_over';

/** A write beside the holder. */
export function heldError(hold: Holding, { idleMs, nextStep, person }: Terms & { person?: object | undefined }): BridgeError {
  const next = person === undefined ? nextStep : `To write, call ${takeOverName}: it asks the person at the notebook.`;
  return held(`${holds(hold)} It alone changes and runs; nothing was done. You can read all of it. ${next} ${endOf(idleMs)}`, hold);
}

export function takenAwayError(): BridgeError {
  const text = `A person took this notebook away from you: you can read all of it, and change or run nothing. Go on only if the person wants that: ${takeOverName} asks.`;
  return held(text, undefined);
}

export function nobodyError(hold: Holding | undefined, { idleMs, nextStep }: Terms): BridgeError {
  const who = hold === undefined ? 'A person took this notebook away from you.' : holds(hold);
  const end = hold === undefined ? '' : ` ${endOf(idleMs)}`;
  return held(`${who} Nobody can be asked for it now. ${nextStep}${end}`, hold);
}

export function refusedError(hold: Holding | undefined): BridgeError {
  const who = hold === undefined ? 'You can read all of it, and change or run nothing.' : holds(hold);
  return held(`The person said no. ${who} Do not ask again unless the person tells you to.`, hold);
}

function held(text: string, hold: Holding | undefined): BridgeError {
  const { agent, since } = hold ?? {};
  return new BridgeError('held', text, {
    data: agent === undefined ? {} : { holder: agent.name, since: new Date(since ?? 0).toISOString() },
  });
}

/** What an agent calls itself is its own choice, and another agent reads it: quoted and cut. */
function holds({ agent, since }: Holding): string {
  const seconds = Math.max(0, Math.round((Date.now() - since) / 1000));
  const ago = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `Another agent, ${JSON.stringify(agent.name.slice(0, 80))}, holds this notebook since ${new Date(since).toISOString()} (${ago} ago).`;
}

function endOf(idleMs: number): string {
  const after = idleMs < 120_000 ? `${idleMs / 1000} s` : `${Math.round(idleMs / 60_000)} min`;
  return `Its hold ends by itself when that agent is gone, or has called nothing for ${after}.`;
}
