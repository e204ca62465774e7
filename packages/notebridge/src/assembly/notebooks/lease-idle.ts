import type { Environment } from '../../processes/environment.js';

/** After how long without a call an agent holds its notebook no more, if the user has said it: `NOTEBRIDGE_LEASE_IDLE`, in seconds. */
export function leaseIdleIn(env: Environment): number | undefined {
  const seconds = Number(env.NOTEBRIDGE_LEASE_IDLE);
  return seconds > 0 ? seconds * 1000 : undefined;
}
