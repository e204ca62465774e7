// Real hubs (`notebridge serve`), each with a home of its own, and a real nats-server between them.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { natsServer, whyNoNatsServer } from '../../scripts/nats-server.mjs';
import { toolServer } from '../gateways/targets.mjs';
import { home, startNode, startProgram, stopChild } from '../lib/children.mjs';
import { cpuUsOf, memoryMbOf, runsFile, treeOf } from '../lib/proc.mjs';
import { sleep } from '../lib/stats.mjs';

const program = fileURLToPath(new URL('../../packages/notebridge/bin/notebridge.js', import.meta.url));
const echo = { command: process.execPath, args: [toolServer], placement: 'one' };

/** One server of NATS, its store in a temporary folder, and a port that tells what it does. */
export async function startNats() {
  const file = await natsServer();
  if (file === undefined) throw new Error(`No nats-server: ${whyNoNatsServer}.`);
  const folder = mkdtempSync(join(home, 'nats-'));
  const [port, monitor] = await freePorts(2);
  const config = {
    server_name: 'bench',
    host: '127.0.0.1',
    port,
    http: `127.0.0.1:${monitor}`,
    jetstream: { store_dir: join(folder, 'store') },
  };
  const configFile = join(folder, 'nats.json');
  writeFileSync(configFile, JSON.stringify(config));
  const child = startProgram(file, ['-c', configFile]);
  await until('nats-server', () => child.complaints.includes('Server is ready'), child);
  const told = async (what) => (await fetch(`http://127.0.0.1:${monitor}/${what}`)).json();
  return {
    url: `nats://127.0.0.1:${port}`,
    cpuUs: () => cpuUsOf(child.pid),
    rssMb: () => memoryMbOf(child.pid).rssMb,
    /** Messages that came in and went out, since its start. */
    async messages() {
      const { in_msgs, out_msgs } = await told('varz');
      return in_msgs + out_msgs;
    },
    /** Entries of the bucket, and its bytes in the store. */
    async bucket() {
      const { account_details = [] } = await told('jsz?accounts=true&streams=true');
      const streams = account_details.flatMap(({ stream_detail = [] }) => stream_detail);
      const { state } = streams.find(({ name }) => name.startsWith('KV_'));
      return { keys: state.num_subjects ?? state.messages, bytes: state.bytes };
    },
    end: () => stopChild(child),
  };
}

/** Hubs `a`, `b`, …; resolves when each has seen all others. `nodeArgs` go before their own. */
export async function startHubs(nats, count, nodeArgs = []) {
  const keyFile = join(mkdtempSync(join(home, 'cluster-')), 'key');
  writeFileSync(keyFile, randomBytes(32).toString('base64url'), { mode: 0o600 });
  const names = Array.from({ length: count }, (_, index) => String.fromCharCode(97 + index));
  const hubs = await Promise.all(names.map((name) => startHub(nats, name, keyFile, nodeArgs)));
  await allSeen(hubs);
  return hubs;
}

/** Resolves when each of them has seen all others, and nobody else. */
export async function allSeen(hubs) {
  const names = hubs.map(({ name }) => name);
  for (const hub of hubs) {
    const others = JSON.stringify(names.filter((name) => name !== hub.name));
    await until(`Hub ${hub.name}`, () => JSON.stringify(hub.others()) === others, hub.child);
  }
}

export async function startHub(nats, name, keyFile, nodeArgs = []) {
  const folder = mkdtempSync(join(home, `hub-${name}-`));
  const configFile = join(folder, 'mcp.json');
  const cluster = { url: nats.url, key: keyFile, hubName: name };
  writeFileSync(configFile, JSON.stringify({ mcpServers: { echo }, notebridge: { cluster } }));
  const args = [...nodeArgs, program, 'serve', '--port', '0', '--config', configFile, '--notebook', 'none'];
  const child = startNode(args, { env: { HOME: folder, XDG_STATE_HOME: join(folder, 'state'), XDG_CONFIG_HOME: join(folder, 'config') } });
  child.stdout.resume();
  const serving = () => logOf(child).find(({ msg }) => msg === 'Serving.');
  await until(`Hub ${name}`, serving, child);
  return {
    name,
    child,
    keyFile,
    port: Number(new URL(serving().url).port),
    ownerToken: readFileSync(join(folder, 'state/notebridge/owner-token'), 'utf8').trim(),
    others: () => logOf(child).findLast(({ msg }) => msg === 'The hubs of the cluster:')?.others,
    /** Without the tool server, which costs the same wherever it is called from. */
    cpuUs: () => cpuUsOf(child.pid, treeOf(child.pid).filter(isOwn)),
    rssMb: () => memoryMbOf(child.pid, treeOf(child.pid).filter(isOwn)).rssMb,
    hasServer: () => !treeOf(child.pid).every(isOwn),
    async kill() {
      child.kill('SIGKILL');
      await child.ended;
    },
    end: () => stopChild(child, 30_000),
  };
}

/** Ends all of them, and then what they agree by. */
export async function endAll(hubs, nats) {
  await Promise.all(hubs.map((hub) => hub.end()));
  await nats.end();
}

/** The owner's API of a hub: its answer. */
export async function askOwner({ port, ownerToken }, method, path, body) {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/hub${path}`, {
    method,
    headers: { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Has the server started, and answers with the hub that has it and the others. */
export async function findOwner(hubs, call) {
  await call(hubs[0]);
  const owner = hubs.find((hub) => hub.hasServer());
  if (owner === undefined) throw new Error('No hub has the server.');
  return { owner, others: hubs.filter((hub) => hub !== owner) };
}

export async function until(what, condition, child, ms = 30_000) {
  for (const end = performance.now() + ms; !(await condition()); ) {
    const hasEnded = child !== undefined && (child.exitCode !== null || child.signalCode !== null);
    if (hasEnded || performance.now() > end)
      throw new Error(`${what} ${hasEnded ? 'ended' : 'is late'}. ${child?.complaints.slice(-1500)}`);
    await sleep(5);
  }
}

function isOwn(pid) {
  return !runsFile(pid, toolServer);
}

/** What is left of its log, by line. */
function logOf(child) {
  return child.complaints.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

/** All are held until all are found, so that none comes twice. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
