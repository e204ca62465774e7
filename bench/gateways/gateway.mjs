import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { home, startProgram, stopChild } from '../lib/children.mjs';
import { cpuUsOf, memoryMbOf, runsFile, treeOf } from '../lib/proc.mjs';
import { sleep } from '../lib/stats.mjs';
import { Connection } from './connection.mjs';
import { toolServer } from './targets.mjs';
import { textOfSize } from './text.mjs';

/** Folder and token of each target: one for all its starts. */
const prepared = new Map();

/** Does what a target needs before its first start: writes its config, has a grant issued. */
export async function prepareTarget(target) {
  if (prepared.has(target)) return;
  const folder = mkdtempSync(join(home, 'gateway-'));
  prepared.set(target, { folder, token: await target.prepare?.(folder) });
}

/**
 * Starts a target; resolves once a call has gone the whole way. `firstCallMs` is the time from its start to that answer. `nodeArgs` go
 * before its own; only Node knows them.
 */
export async function startGateway(target, nodeArgs = []) {
  await prepareTarget(target);
  const { folder, token } = prepared.get(target);
  const port = await freePort();
  const { command = target.command ?? process.execPath, args, env = {} } = target.start({ port, folder });
  const start = performance.now();
  const child = startProgram(command, [...nodeArgs, ...args.map(String)], { env: toStrings(env), cwd: folder });
  child.stdout.resume();
  const gateway = {
    name: target.name,
    target,
    folder,
    port,
    token,
    connect: () => new Connection(port),
    open: (connection) => target.open(connection, token),
    cpuUs: () => cpuUsOf(child.pid, ownTree(child.pid)),
    rssMb: () => memoryMbOf(child.pid, ownTree(child.pid))?.rssMb,
    end: () => stopChild(child),
  };
  try {
    gateway.caller = await untilAnswered(gateway, child, start + 30_000);
  } catch (error) {
    await gateway.end();
    throw error;
  }
  return { ...gateway, firstCallMs: performance.now() - start };
}

/** The processes of the gateway, without the tool servers: those cost the same behind each. */
function ownTree(pid) {
  return treeOf(pid).filter((one) => one === pid || !runsFile(one, toolServer));
}

async function untilAnswered(gateway, child, until) {
  for (;;) {
    const connection = gateway.connect();
    try {
      const caller = await gateway.open(connection);
      await callEcho(gateway, caller, connection);
      return caller;
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`it ended (${child.signalCode ?? child.exitCode}). ${child.complaints.slice(-500)}`);
      }
      if (performance.now() > until) throw new Error(`it did not answer within 30 s: ${error.message}`);
    } finally {
      connection.close();
    }
    await sleep(5);
  }
}

let texts = 0;

/** Calls `echo` with a text that no other call has; resolves with the time in ms until the last byte was in. */
export function callEcho(gateway, caller, connection) {
  const text = `hello, gateway: call no. ${++texts}`;
  return call(gateway, caller, connection, { tool: 'echo', args: { text }, wanted: text });
}

const payloads = new Map();

/** Calls `payload` for a text of that size. */
export function callPayload(gateway, caller, connection, size) {
  if (!payloads.has(size)) payloads.set(size, textOfSize(size));
  return call(gateway, caller, connection, { tool: 'payload', args: { size }, wanted: payloads.get(size) });
}

async function call({ name, target }, caller, connection, { tool, args, wanted }) {
  const start = performance.now();
  const answer = await connection.send(caller.toRequest(tool, args));
  const elapsedMs = performance.now() - start;
  const found = caller.toText(answer);
  if (found !== wanted && target.isUnchecked !== true)
    throw new Error(`${name} gave a wrong answer: ${answer.body.toString().slice(0, 200)}`);
  return elapsedMs;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
      .once('error', reject)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address();
        server.close(() => resolve(port));
      });
  });
}

function toStrings(env) {
  return Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)]));
}
