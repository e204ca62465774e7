import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conformanceSuite } from '../../../../scripts/conformance-suite.mjs';
import { bareEnvironment } from './bare-environment.js';

export const revisions = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof revisions)[number];

/** What one run of the required scenarios of a revision came to. */
export interface Verdict {
  required: number;
  passed: number;
  /** `scenario:check`, with what the suite said of it. */
  failed: Map<string, string>;
}

const timeoutMs = 240_000;

/** Runs what a revision requires of servers against an address. */
export async function testServer(url: string, revision: Revision): Promise<Verdict> {
  const { required } = await conformanceSuite();
  return judge(required(revision, 'server'), ['server', '--url', url, '--requirements', revision]);
}

/** Runs what a revision requires of clients, but for authorization; `command` starts a client, and is given an address. */
export async function testClient(command: string, revision: Revision): Promise<Verdict[]> {
  const { required } = await conformanceSuite();
  const scenarios = required(revision, 'client').filter((scenario) => !scenario.startsWith('auth/'));
  const verdicts: Verdict[] = [];
  for (const scenario of scenarios)
    verdicts.push(await judge([scenario], ['client', '--command', command, '--scenario', scenario, '--spec-version', revision]));
  return verdicts;
}

async function judge(wanted: readonly string[], words: readonly string[]): Promise<Verdict> {
  const { node, program } = await conformanceSuite();
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-conformance-'));
  try {
    const said = await new Promise<string>((resolve) => {
      const options = { env: bareEnvironment(), cwd: folder, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
      const args = [program, ...words, '-o', folder];
      // It fails when a scenario does: what it has written says which.
      execFile(node, args, options, (_, stdout, stderr) => resolve(stdout + stderr));
    });
    const failed = new Map<string, string>();
    let passed = 0;
    for (const scenario of wanted) {
      const faults = faultsOf(folder, scenario, said);
      if (faults.length === 0) passed++;
      for (const [check, why] of faults) failed.set(`${scenario}:${check}`, why);
    }
    return { required: wanted.length, passed, failed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A scenario that left nothing has failed as a whole. */
function faultsOf(folder: string, scenario: string, said: string): [string, string][] {
  // Of a server its folder is called `server-` and the scenario, which may begin so itself.
  const names = [scenario, `server-${scenario}`];
  const found = readdirSync(folder).find((entry) => names.includes(entry.replace(/-\d{4}-\d\d-\d\dT.*$/, '')));
  if (found === undefined) return [['nothing', said.slice(-1000)]];
  const checks = JSON.parse(readFileSync(join(folder, found, 'checks.json'), 'utf8')) as {
    id: string;
    status: string;
    errorMessage?: string;
  }[];
  if (checks.length === 0) return [['nothing', 'No check was made.']];
  return checks.filter(({ status }) => status === 'FAILURE').map(({ id, errorMessage = '' }) => [id, errorMessage]);
}
