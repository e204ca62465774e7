import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownPackageFolder } from '@notebridge/system/files/own-files';
import { ensurePrivateDir } from '@notebridge/system/files/private-file';
import { openPrivateLog } from '@notebridge/system/files/private-log';
import { baseEnvironment } from '@notebridge/system/processes/base-environment';
import { startDetached } from '@notebridge/system/processes/detached-program';
import { ownUserId } from '@notebridge/system/processes/own-user';
import type { StartedBroker } from '../../broker/reach-host.js';
import type { Settings } from '../settings.js';

/** Variables for the broker itself, beside those of `baseEnvironment`. */
const ownNames = ['NOTEBRIDGE_BROKER_IDLE', 'NOTEBRIDGE_LEASE_IDLE', 'NOTEBRIDGE_LOG_LEVEL', 'NOTEBRIDGE_NO_BROWSER'];

/**
 * Starts the process that holds notebooks: in a session of its own, without a terminal, in the root folder, with an environment that has
 * no secret of ours in it. Of two that start at once, one ends. Throws `write_failed`.
 */
export function startBroker({ stateDir, env }: Pick<Settings, 'stateDir' | 'env'>): StartedBroker {
  const rules = { uid: ownUserId() };
  ensurePrivateDir(stateDir, rules);
  const stderr = openPrivateLog(join(stateDir, 'broker.log'), rules);
  try {
    const own = ownNames.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
    return startDetached({
      command: process.execPath,
      args: [fileURLToPath(new URL('bin/notebridge.js', ownPackageFolder()))],
      wordsForUs: ['broker', '--state-dir', stateDir],
      env: Object.fromEntries(own),
      inherited: baseEnvironment(env),
      cwd: '/',
      stderr,
    });
  } finally {
    closeSync(stderr);
  }
}
