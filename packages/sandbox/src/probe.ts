import { createInterface } from 'node:readline';
import type { Sandbox, SandboxedProcess, SandboxSpec } from './spec.js';
import { keepEnd } from './start-program.js';

const timeoutMs = 10_000;
const maxErrorCharacters = 500;
/** There on every machine that has this kind of sandbox. */
const fileOfHost = '/etc/passwd';

/** Runs inside: what it is, what it sees, and whether it gets what it may not have. Then it waits to be looked at. */
const program = `
const fs = require('node:fs');
const attempt = (act) => { try { act(); return true; } catch { return false; } };
const found = {
  uid: process.getuid(),
  reads: attempt(() => fs.readFileSync(${JSON.stringify(fileOfHost)})),
  writes: ['/', '/tmp/', '/dev/', process.execPath].filter((path) => attempt(() => fs.writeFileSync(path.endsWith('/') ? path + 'probe' : path, ''))),
  starts: attempt(() => { const { error } = require('node:child_process').spawnSync(process.execPath, ['-v']); if (error) throw error; }),
};
process.stdout.write(JSON.stringify(found) + '\\n');
process.stdin.resume();
`;

/** Runs a program inside until it returns. Resolves to what is wrong with the sandbox, or undefined. */
export async function probeSandbox(sandbox: Sandbox): Promise<string | undefined> {
  const spec: SandboxSpec = { command: [process.execPath, '-e', program], readable: [], folder: '/' };
  let probe: SandboxedProcess;
  try {
    probe = sandbox.launch(spec);
  } catch (error) {
    return String(error);
  }
  const { child } = probe;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  try {
    const errors = keepEnd(child.stderr, maxErrorCharacters);
    child.once('error', () => {});
    child.stdin.on('error', () => {});
    for await (const line of createInterface({ input: child.stdout })) {
      const found = parse(line);
      if (!found) return `it says "${line.slice(0, 200)}" where our program should speak`;
      const faults = [...judge(found), ...(await sandbox.findFaults(probe, spec))];
      return faults.length === 0 ? undefined : faults.join(', ');
    }
    await ended;
    return probe.breach?.() ?? (errors() || 'it did not come back');
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
    await ended;
  }
}

interface Found {
  uid: number;
  reads: boolean;
  writes: string[];
  starts: boolean;
}

/** Undefined for what is not of our program: what stands for the sandbox may be anything. */
function parse(line: string): Found | undefined {
  try {
    const found = JSON.parse(line) as Partial<Found> | null;
    return Array.isArray(found?.writes) ? (found as Found) : undefined;
  } catch {
    return undefined;
  }
}

function judge({ uid, reads, writes, starts }: Found): string[] {
  return [
    ...(uid === 0 ? ['it is root inside'] : []),
    ...(reads ? [`it reads "${fileOfHost}"`] : []),
    ...writes.map((path) => `it writes to "${path}"`),
    ...(starts ? ['it starts programs'] : []),
  ];
}
