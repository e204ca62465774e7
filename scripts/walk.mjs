// npm run walk [-- --json]: sends one warm call through the hub on each of its usual ways, and counts with V8's precise coverage which of our
// source files and functions it runs through, and how many calls of functions that takes. The modules of the compiler are walked, not the
// bundle, so build first. Agent, page and code stand in this process beside the hub; only what is ours is counted.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createNodeColabPage } from '../packages/notebridge/test/fixtures/colab-page/node-page.js';
import { root, runMain } from './run.mjs';

/** Calls before the one that is counted. */
const warmUps = 5;
/** By then every clock has stopped that runs while there are calls. Milliseconds. */
const quietMs = 2500;
/** By then the line of the audit is written, which a call leaves behind. Milliseconds. */
const afterMs = 100;

const ours = pathToFileURL(join(root, 'packages')).href;
const load = (path) => import(pathToFileURL(join(root, 'packages/notebridge/dist', path)).href);

/** Each usual way of a call: how many files, functions and calls it has, and of each file how many functions and calls. */
async function walkAll() {
  const folder = mkdtempSync(join(tmpdir(), 'nb-walk-'));
  try {
    const walks = [];
    for (const [name, way] of Object.entries(ways)) walks.push({ name, ...(await walk(join(folder, String(walks.length)), way)) });
    return walks;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ways = {
  'agent on stdio → page': ofAgent({ notebook: 'colab', pages: { openBrowser: false } }, async (agent) => {
    const opened = await agent.request('tools/call', { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } });
    const [url] = /https:[^\s"\\]+mcpProxyPort=\d+/.exec(JSON.stringify(opened));
    const page = createNodeColabPage({ url });
    await page.whenState('connected');
    return { call: () => agent.request('tools/call', { name: 'get_cells', arguments: {} }), close: () => page.close() };
  }),
  'agent on stdio → stdio server': ofAgent({}, async (agent) => ({
    call: () => agent.request('tools/call', { name: 'fixture__echo', arguments: { text: 'hello' } }),
  })),
  "tool proxy → stdio server, with the owner's token": ofCode(async (stateDir) =>
    (await load('identity/owner-token.js')).ensureOwnerToken(stateDir),
  ),
  'tool proxy → stdio server, with a grant': ofCode(async (stateDir) => {
    const { GrantStore } = await load('grants/grant-store.js');
    const store = await GrantStore.open({ dir: stateDir });
    const { token } = await store.issue({ allow: ['fixture:*'] });
    await store.close();
    return token;
  }),
};

/** A way from an agent on stdio; `begin` gives the call. */
function ofAgent(options, begin) {
  return async (home) => {
    const hub = await openHub(home, { ...options, oneAgent: true });
    const agent = connectAgent(hub);
    await agent.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'walk', version: '1' } });
    agent.notify('notifications/initialized');
    await agent.request('tools/list', {});
    const { call, close } = await begin(agent);
    return {
      call,
      close: async () => {
        close?.();
        await hub.close();
      },
    };
  };
}

/** A way from code that has a token. */
function ofCode(tokenOf) {
  return async (home) => {
    const hub = await openHub(home, { http: { port: 0 } });
    await hub.startServers();
    const token = await tokenOf(join(home, 'state'));
    const connection = new Agent({ keepAlive: true, maxSockets: 1 });
    const url = `${hub.url}/api/v1/mcp/proxy/fixture/tools/echo`;
    return {
      call: () => post(url, { token, connection, body: { arguments: { text: 'hello' } } }),
      close: async () => {
        connection.destroy();
        await hub.close();
      },
    };
  };
}

async function openHub(home, options) {
  const { createNotebridge } = await load('assembly/create-notebridge.js');
  const config = `${home}.json`;
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { fixture: { command: process.execPath, args: ['--input-type=module', '-e', echoServer] } } }),
  );
  const env = { HOME: home, PATH: process.env.PATH };
  const hub = await createNotebridge({ config, env, stateDir: join(home, 'state'), followConfig: false, ...options });
  await hub.start();
  return hub;
}

/** The least that is a server of MCP on stdio. */
const echoServer = `
  import { createInterface } from 'node:readline';
  const results = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }] }),
    'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text }] }),
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: results[method]?.(params) ?? {} }) + '\\n');
  });
`;

function connectAgent(hub) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const waiting = new Map();
  let lastId = 0;
  hub.serveStdio({ input, output });
  createInterface({ input: output }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line);
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(error.message));
  });
  const send = (message) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    notify: (method) => send({ method }),
    request: (method, params) =>
      new Promise((resolve, reject) => {
        waiting.set(++lastId, { resolve, reject });
        send({ id: lastId, method, params });
      }),
  };
}

function post(url, { token, connection, body }) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent: connection, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => (response.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(text))));
    });
    sent.on('error', reject).end(JSON.stringify(body));
  });
}

async function walk(home, way) {
  const { call, close } = await way(home);
  try {
    for (let count = 0; count < warmUps; count++) await call();
    await delay(quietMs);
    return toWalk(await coverageOf(call));
  } finally {
    await close();
  }
}

async function coverageOf(call) {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await call();
    await delay(afterMs);
    return (await session.post('Profiler.takePreciseCoverage')).result;
  } finally {
    session.disconnect();
  }
}

function toWalk(coverage) {
  const byFile = {};
  for (const { url, functions } of coverage) {
    if (!url.startsWith(`${ours}/`) || !url.includes('/dist/')) continue;
    const counts = functions.map(({ ranges: [{ count }] }) => count).filter((count) => count > 0);
    if (counts.length > 0) byFile[toSource(url)] = { functions: counts.length, calls: counts.reduce((sum, count) => sum + count, 0) };
  }
  const all = Object.values(byFile);
  const sum = (key) => all.reduce((total, file) => total + file[key], 0);
  return { files: all.length, functions: sum('functions'), calls: sum('calls'), byFile };
}

/** Without the package, if it is ours. */
function toSource(url) {
  const [folder, path] = url.slice(ours.length + 1).split('/dist/');
  return `${folder === 'notebridge' ? '' : `${folder}: `}${path.replace(/\.js$/, '.ts')}`;
}

function print({ name, files, functions, calls, byFile }) {
  const rows = Object.entries(byFile).map(([file, of]) => `  ${String(of.functions).padStart(3)} ${String(of.calls).padStart(4)}  ${file}`);
  return [
    `${name}: ${files} files, ${functions} functions, ${calls} calls`,
    ...rows.sort((a, b) => a.slice(10).localeCompare(b.slice(10))),
  ].join('\n');
}

await runMain(import.meta.url, async (args) => {
  const walks = await walkAll();
  process.stdout.write(args.includes('--json') ? `${JSON.stringify(walks)}\n` : `${walks.map(print).join('\n\n')}\n`);
});
