// A vitest setup file: gives each test file a temporary folder of its own, and fails the file that leaves anything behind: a process, a
// port, a temporary file, a timer or another handle. What is found is named with its maker, then ended and removed: the next file is not
// to pay for it. Elsewhere than on Linux less can be seen: `notChecked` says what.
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { describeMaker, followMakers, forgetAll, nameTest, open, temporaryFolder } from './makers.mjs';
import { endProcess, listensAt, processesFrom, seesAllProcesses } from './processes.mjs';

/** Lives as long as the process that it guards, one for all its servers, and ends itself with it (`processes/tree-guard.ts`). */
const guardOfThisProcess = / notebridge-guard NOTEBRIDGE_TREE=/;
/** What a file has begun to end may take so long, on a busy machine too: nobody waits who has left nothing. */
const usualGraceMs = 60_000;
const lookAgainMs = 10;
// These of vitest and of ours are taken before anybody replaces them.
const { setTimeout } = globalThis;

// Short: a socket's path may have 104 characters, and Chromium makes one below it.
const folder = realpathSync(mkdtempSync(join(temporaryFolder, 'nb-')));
for (const name of ['TMPDIR', 'TMP', 'TEMP']) process.env[name] = folder;
// Where a library in the test's own process would write, if nobody told it where.
process.env.XDG_STATE_HOME = join(folder, 'state-of-nobody');
// They are opened at first use, and are no test's.
void [process.stdin, process.stdout, process.stderr];
followMakers();
const handlesBefore = countHandles();
const startedAt = { ms: performance.now(), cpu: cpuSeconds() };
/** Which test was at work when an entry of the folder was first seen. */
const seenIn = new Map();

beforeEach(({ task }) => nameTest(task.name));
afterEach(({ task }) => {
  for (const name of readdirSync(folder)) if (!seenIn.has(name)) seenIn.set(name, { testName: task.name });
  nameTest(undefined);
});
// Registered first, so it runs last.
afterAll(() => tellCost());
afterAll(async () => {
  const found = await settle();
  for (const { process: left } of found) if (left) endProcess(left);
  rmSync(folder, { recursive: true, force: true });
  forgetAll();
  if (found.length > 0) throw new Error(`This file leaves behind:\n${found.map(({ text }) => `- ${text}`).join('\n')}`);
}, usualGraceMs + 25_000);

async function settle() {
  const endMs = performance.now() + Number(process.env.NOTEBRIDGE_LEFTOVERS_GRACE_MS ?? usualGraceMs);
  let found = leftovers();
  while (found.length > 0 && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    found = leftovers();
  }
  return found;
}

/**
 * A line for each file, where the run asks what they cost: seconds of CPU of this process, which runs no other file meanwhile but in the project
 * "unit", with all children that it has seen end, and of wall time.
 */
function tellCost() {
  const to = process.env.NOTEBRIDGE_TEST_COSTS;
  if (to === undefined) return;
  const [cpu, wall] = [cpuSeconds() - startedAt.cpu, (performance.now() - startedAt.ms) / 1000];
  appendFileSync(to, `${expect.getState().testPath}\t${cpu.toFixed(2)}\t${wall.toFixed(1)}\n`);
}

function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  if (!seesAllProcesses) return (user + system) / 1e6;
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const [ofChildren = 0, systemOfChildren = 0] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(14, 16).map(Number);
  return (user + system) / 1e6 + (ofChildren + systemOfChildren) / 100;
}

function leftovers() {
  return [...processes(), ...servers(), ...files(), ...timers(), ...handles()];
}

function processes() {
  const living = [...open.children.keys()].filter(({ exitCode, signalCode, pid }) => pid && exitCode === null && signalCode === null);
  // A thread sees the children of all threads: it knows its own alone.
  if (!seesAllProcesses || !isMainThread) {
    return living.map((child) => ({
      text: `process ${child.pid} (${child.spawnfile}), started ${describeMaker(open.children.get(child))}`,
    }));
  }
  const makers = new Map([...open.children].flatMap(([child, maker]) => (child.pid === undefined ? [] : [[child.pid, maker]])));
  const isOwnGuard = ({ parent, command }) => parent === process.pid && guardOfThisProcess.test(command);
  const left = processesFrom(folder, new Set(makers.keys())).filter((left) => !isOwnGuard(left));
  return left.map((left) => {
    const ports = listensAt(left.pid);
    const listens = ports.length > 0 ? `, which listens at ${ports.join(', ')}` : '';
    return {
      text: `process ${left.pid} (${left.command.slice(0, 200)})${listens}, started ${describeMaker(makers.get(left.started))}`,
      process: left,
    };
  });
}

function servers() {
  return [...open.servers].flatMap(([server, maker]) => {
    if (!server.listening) return [];
    const address = server.address();
    const place = typeof address === 'object' && address ? `port ${address.port} of ${address.address}` : `socket ${address}`;
    return [{ text: `${place}, opened ${describeMaker(maker)}` }];
  });
}

function files() {
  return readdirSync(folder).map((name) => {
    const path = join(folder, name);
    return { text: `temporary file or folder ${path}, made ${describeMaker(open.folders.get(path) ?? seenIn.get(name))}` };
  });
}

function timers() {
  return [...open.timers].flatMap(([timer, maker]) =>
    timer._destroyed || !timer.hasRef() ? [] : [{ text: `timer of ${timer._idleTimeout ?? '?'} ms, set ${describeMaker(maker)}` }],
  );
}

/** What keeps a process from ending, by kind. Timers and listening servers are looked at above, one by one. */
function handles() {
  const more = [...countHandles()].filter(([kind, count]) => count > (handlesBefore.get(kind) ?? 0));
  return more.map(([kind, count]) => {
    const makers = kind === 'TCPSocketWrap' ? [...open.sockets].map(([socket, maker]) => `${toPorts(socket)} ${describeMaker(maker)}`) : [];
    return { text: `${count - (handlesBefore.get(kind) ?? 0)} × ${kind}${makers.length > 0 ? `: ${makers.slice(0, 5).join('; ')}` : ''}` };
  });
}

function toPorts({ localPort, remotePort }) {
  return `${localPort} to ${remotePort}`;
}

function countHandles() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) {
    if (kind !== 'Timeout' && kind !== 'Immediate') counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
