// What is measured: each in front of the same tool server. A new one is one entry here.
//   kind: 'limit' (no gateway), 'ours' or 'peer'; open: its dialect; start: the arguments for Node (or for `command`), and variables;
//   build: what takes minutes before its first start ever; prepare: what is done once before the first start; ownServers: it starts
//   a tool server for each session; isClose: a peer whose numbers are so close to ours that it has as many turns.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startNode, within } from '../lib/children.mjs';
import { rest, statelessHttp, streamableHttp, textIn } from './dialects.mjs';
import { buildPeer, installPeer } from './peers.mjs';

const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url));
export const toolServer = fileOf('programs/echo-server.mjs');
const notebridgeBin = fileOf('../../packages/notebridge/bin/notebridge.js');

const empty = {
  name: 'empty handler',
  kind: 'limit',
  isUnchecked: true,
  open: rest({ toPath: () => '/', toBody: toCall, toText: () => undefined }),
  start: ({ port }) => ({ args: [fileOf('programs/empty-http.mjs'), port] }),
};

const inHandler = {
  name: 'tool in the handler',
  kind: 'limit',
  open: rest({ toPath: () => '/', toBody: toCall, toText: ({ result }) => textIn(result) }),
  start: ({ port }) => ({ args: [fileOf('programs/empty-http.mjs'), port, '--echo'] }),
};

export const twin = {
  name: 'REST twin',
  kind: 'limit',
  open: rest({ toPath: () => '/call', toBody: toCall, toText: ({ result }) => textIn(result) }),
  start: ({ port }) => ({ args: [fileOf('programs/rest-twin.mjs'), port, toolServer] }),
};

const guarded = notebridge('notebridge, grant and audit', { isGuarded: true, door: toolProxy });
const open = notebridge('notebridge, --no-auth, no audit', { isGuarded: false, door: toolProxy });
const exposed = { toName: (tool) => `echo__${tool}` };
const legacy = notebridge('notebridge, /mcp 2025-11-25', { isGuarded: false, door: () => streamableHttp(exposed) });
const modern = notebridge('notebridge, /mcp 2026-07-28', { isGuarded: false, door: () => statelessHttp(exposed) });

const rustName = 'mcp-proxy (Rust)';
const mcpProxyRust = {
  name: rustName,
  kind: 'peer',
  isClose: true,
  // Built as `cargo install` does by default, it speaks 2025-11-25 and nothing newer.
  open: streamableHttp({ path: '/', toName: (tool) => `echo/${tool}` }),
  build: () => buildPeer(rustName),
  start: ({ port, folder }) => ({ command: buildPeer(rustName), args: ['--config', writeRustConfig(port, folder)] }),
};

const mcpHub = {
  name: 'mcp-hub',
  kind: 'peer',
  open: rest({
    toPath: () => '/api/servers/tools',
    toBody: (tool, args) => ({ server_name: 'echo', tool, arguments: args, request_options: {} }),
    toText: ({ result }) => textIn(result),
  }),
  prepare: async (folder) => writeConfig(folder),
  start: ({ port, folder }) => ({
    args: [...onLoopback(installPeer('mcp-hub', 'dist/cli.js')), '--port', port, '--config', configOf(folder)],
    // It would start curl for what it cannot fetch itself.
    env: { PATH: folder },
  }),
};

const mcpProxy = {
  name: 'mcp-proxy',
  kind: 'peer',
  open: streamableHttp(),
  start: ({ port }) => ({
    args: [
      installPeer('mcp-proxy', 'dist/bin/mcp-proxy.mjs'),
      ...['--host', '127.0.0.1', '--port', port, '--server', 'stream', '--', process.execPath, toolServer],
    ],
  }),
};

const supergateway = {
  name: 'supergateway',
  kind: 'peer',
  // Without --stateful it starts a tool server for each call.
  ownServers: true,
  open: streamableHttp(),
  start: ({ port }) => ({
    args: [
      ...onLoopback(installPeer('supergateway', 'dist/index.js')),
      ...['--stdio', `"${process.execPath}" "${toolServer}"`, '--outputTransport', 'streamableHttp', '--stateful'],
      ...['--port', port, '--logLevel', 'none'],
    ],
  }),
};

const inspector = {
  name: '@modelcontextprotocol/inspector-server',
  kind: 'peer',
  ownServers: true,
  open: streamableHttp({
    path: `/mcp?transportType=stdio&command=${encodeURIComponent(process.execPath)}&args=${encodeURIComponent(toolServer)}`,
    headers: 'origin: http://localhost:6274\r\n',
  }),
  start: ({ port }) => ({
    args: [installPeer('@modelcontextprotocol/inspector-server', 'build/index.js')],
    env: { HOST: '127.0.0.1', SERVER_PORT: port, DANGEROUSLY_OMIT_AUTH: 'true' },
  }),
};

/** In the order of the tables. */
export const targets = [empty, inHandler, twin, guarded, open, legacy, modern, mcpProxyRust, mcpHub, mcpProxy, supergateway, inspector];

function onLoopback(program) {
  return ['--import', fileOf('programs/loopback-only.mjs'), program];
}

function toCall(name, args) {
  return { name, arguments: args };
}

/** `notebridge serve` behind the tool proxy with grant and audit, on another Node if need be. `config`: what its config has besides the server. */
export function guardedHub(name, { command, config }) {
  return Object.assign(notebridge(name, { isGuarded: true, door: toolProxy, config }), { command });
}

/** `notebridge serve` without a notebook. With a guard: a grant for the one server, asked for and written to the audit at each call. */
function notebridge(name, { isGuarded, door, config = isGuarded ? {} : { notebridge: { audit: false } } }) {
  const state = (folder) => ({ XDG_STATE_HOME: join(folder, 'state') });
  return {
    name,
    kind: 'ours',
    // A grant is told by its token, which is there once it has been issued.
    open: (connection, token) => door(token)(connection),
    async prepare(folder) {
      writeConfig(folder, config);
      return isGuarded ? issueGrant(state(folder)) : undefined;
    },
    start: ({ port, folder }) => ({
      args: [
        notebridgeBin,
        'serve',
        '--config',
        configOf(folder),
        '--port',
        port,
        '--notebook',
        'none',
        ...(isGuarded ? [] : ['--no-auth']),
      ],
      env: state(folder),
    }),
  };
}

/** Calls of the tool proxy by the holder of a token; undefined: of nobody. */
export function toolProxy(token) {
  return rest({
    toPath: (tool) => `/api/v1/mcp/proxy/echo/tools/${tool}`,
    headers: token === undefined ? '' : `authorization: Bearer ${token}\r\n`,
    toBody: (_tool, args) => ({ arguments: args }),
    toText: ({ success, result, error }) => {
      if (success !== true) throw new Error(`The call failed: ${error}`);
      return result;
    },
  });
}

async function issueGrant(env) {
  const child = startNode([notebridgeBin, 'grant', '--allow', 'echo:*', '--ttl', '1h', '--json'], { env });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  await within(15_000, 'notebridge grant', child.ended);
  if (child.exitCode !== 0) throw new Error(`notebridge grant failed: ${child.complaints}`);
  return JSON.parse(said).token;
}

const configOf = (folder) => join(folder, 'mcp.json');

function writeConfig(folder, more = {}) {
  writeFileSync(configOf(folder), JSON.stringify({ mcpServers: { echo: { command: process.execPath, args: [toolServer] } }, ...more }));
}

/** It reads YAML, and JSON is YAML. Its audit, access log, metrics and traces are off unless they are asked for. */
function writeRustConfig(port, folder) {
  const file = join(folder, 'proxy.yaml');
  const backend = { name: 'echo', transport: 'stdio', command: process.execPath, args: [toolServer] };
  const proxy = { name: 'bench', listen: { host: '127.0.0.1', port } };
  writeFileSync(file, JSON.stringify({ proxy, backends: [backend], observability: { log_level: 'error' } }));
  return file;
}
