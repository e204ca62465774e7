// A vitest setup file: gives each test file a temporary folder of its own, and fails the file that leaves anything behind: a process, a
// port, a temporary file, a timer or another handle. What is found is named with its maker, then ended and removed: the next file is not
// to pay for it. Elsewhere than on Linux less can be seen: `notChecked` says what.
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { describeMaker, followMakers, nameTest, open } from './makers.mjs';
import { endProcess, listensAt, processesFrom, seesAllProcesses } from './processes.mjs';

/** Lives as long as the process that it guards, one for all its servers, and ends itself with it (`processes/tree-guard.ts`). */
const guardOfThisProcess = / notebridge-guard NOTEBRIDGE_TREE=/;
/** What a file has begun to end may take so long, on a busy machine too: nobody waits who has left nothing. */
const usualGraceMs = 60_000;
const lookAgainMs = 10;
// These of vitest and of ours are taken before anybody replaces them.
const { setTimeout } = globalThis;

// Short: a socket's path may have 104 characters, and Chromium makes one below it.
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nb-')));
for (const name of ['TMPDIR', 'TMP', 'TEMP']) process.env[name] = folder;
// Where a library in the test's own process would write, if nobody told it where.
process.env.XDG_STATE_HOME = join(folder, 'state-of-nobody');
// They are opened at first use, and are no test's.
void [process.stdin, process.stdout, process.stderr];
followMakers();
const handlesBefore = countHandles();
/** Which test was at work when an entry of the folder was first seen. */
const seenIn = new Map();

beforeEach(({ task }) => nameTest(task.name));
afterEach(({ task }) => {
  for (const name of readdirSync(folder)) if (!seenIn.has(name)) seenIn.set(name, { testName: task.name });
  nameTest(undefined);
});
// Registered first, so it runs last.
afterAll(async () => {
  const found = await settle();
  for (const { process: left } of found) if (left) endProcess(left);
  rmSync(folder, { recursive: true, force: true });
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

function leftovers() {
  return [...processes(), ...servers(), ...files(), ...timers(), ...handles()];
}

function processes() {
  const makers = new Map([...open.children].flatMap(([child, maker]) => (child.pid === undefined ? [] : [[child.pid, maker]])));
  if (!seesAllProcesses) {
    const living = [...open.children.keys()].filter(({ exitCode, signalCode, pid }) => pid && exitCode === null && signalCode === null);
    return living.map(({ pid, spawnfile }) => ({ text: `process ${pid} (${spawnfile}), started ${describeMaker(makers.get(pid))}` }));
  }
  const isOwnGuard = ({ parent, command }) => parent === process.pid && guardOfThisProcess.test(command);
  const living = processesFrom(folder, new Set(makers.keys())).filter((left) => !isOwnGuard(left));
  return living.map((left) => {
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
