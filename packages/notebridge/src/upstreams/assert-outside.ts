import type { ServerConfig } from '../core/server-config.js';
import { findProgramPlaces } from '../processes/program-places.js';
import { adviceOnWritten, writtenBy } from '../processes/written-rule.js';
import { StartFault } from './start-fault.js';

/** Throws a `StartFault` for a server whose program, script, folder or keys code in a sandbox could have written: at each start, for they may be given later. */
export function assertOutside(config: ServerConfig): void {
  for (const path of placesOf(config)) {
    const written = writtenBy(path);
    if (written === undefined) continue;
    const message = `it is not started: code in a sandbox may write to "${written}", where its "${path}" lies. ${adviceOnWritten(written)}`;
    throw new StartFault(message, { lasting: true });
  }
}

function placesOf(config: ServerConfig): string[] {
  if (config.transport !== 'stdio') return [config.ca, config.auth?.privateKey].filter((path) => path !== undefined);
  const { command, args, env, cwd } = config;
  const places = findProgramPlaces({ command, args, env, cwd });
  return cwd === undefined ? places : [cwd, ...places];
}
