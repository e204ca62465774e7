import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from './environment.js';

/** What this user's hubs share: the hub's address, the owner's token, grants, the audit, logs. The XDG state folder's part of ours. */
export function stateDir(env: Environment = process.env): string {
  const { XDG_STATE_HOME: named, HOME: home } = env;
  const base =
    named !== undefined && isAbsolute(named) ? named : join(home !== undefined && isAbsolute(home) ? home : homedir(), '.local', 'state');
  return join(base, 'notebridge');
}
