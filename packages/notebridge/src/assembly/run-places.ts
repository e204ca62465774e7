import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunPlace } from '@notebridge/notebook/host';
import { ownPackageFolder } from '@notebridge/system/files/own-files';
import { findProgramPlaces } from '@notebridge/system/processes/program-places';
import type { Config } from '../config/config.js';
import { findNamedFiles } from '../config/named-files.js';
import type { ServerConfig } from '../config/server-config.js';

/** The places that a hub with this config runs, imports, or takes as configuration: code in a sandbox is given none of them to write to. */
export function findRunPlaces(config: Config): RunPlace[] {
  const { servers, middleware, skills, baseDir } = config;
  return [
    ...servers.flatMap(placesOfServer),
    ...middleware.map((path) => ({ path: resolve(baseDir, path), what: 'a middleware module of the config' })),
    ...skills.filter(({ trusted }) => trusted).map(({ path }) => ({ path, what: 'a trusted folder of skills', isFolder: true })),
    ...findNamedFiles(config),
    { path: dirname(fileURLToPath(new URL('package.json', ownPackageFolder()))), what: 'Notebridge itself', isFolder: true },
  ];
}

function placesOfServer(server: ServerConfig): RunPlace[] {
  if (server.transport !== 'stdio') return [];
  const { name, command, args, env, cwd } = server;
  const programs = findProgramPlaces({ command, args, env, cwd });
  const folder = cwd === undefined ? [] : [{ path: cwd, what: `the working directory of the server "${name}"` }];
  return [...programs.map((path) => ({ path, what: `what the server "${name}" runs` })), ...folder];
}
