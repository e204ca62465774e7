import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ownTemporaryFolder } from '@notebridge/kit/temporary-folder';
import type { SandboxSpec } from '../sandbox/spec.js';
import { writtenFolderOf } from '../sandbox/written-folders.js';
import { createRelay, type RelayOptions } from './relay.js';
import { proxyVariables, relaySocketInside, withRelayInside } from './relay-inside.js';

export interface SandboxRelay {
  /** The same program, with the way out. It is run by a Python 3. */
  widen(spec: SandboxSpec): SandboxSpec;
  close(): Promise<void>;
}

/** A relay on a socket in a folder that only this user can open. Rejects for an entry that names no server. */
export async function openRelay(options: RelayOptions): Promise<SandboxRelay> {
  const relay = createRelay(options);
  const folder = await mkdtemp(join(ownTemporaryFolder(writtenFolderOf), 'notebridge-relay-'));
  const socket = join(folder, 'relay');
  await relay.listen(socket);
  return {
    widen(spec) {
      const [python, ...args] = spec.command;
      return {
        ...spec,
        command: [python, ...withRelayInside(python, args)],
        environment: { ...spec.environment, ...proxyVariables },
        relay: { socket, inside: relaySocketInside, servers: options.allow },
      };
    },
    async close() {
      await relay.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
