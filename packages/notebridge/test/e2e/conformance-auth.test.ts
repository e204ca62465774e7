// @module-tag deep
// @module-tag P-365

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conformanceSuite } from '../../../../scripts/conformance-suite.mjs';
import { fetchTimeoutMs } from '../support/authorization-server.js';
import { bareEnvironment } from '../support/bare-environment.js';

const timeout = 400_000;
const client = fileURLToPath(new URL('../fixtures/conformance/auth-client.mjs', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
  await conformanceSuite();
}, fetchTimeoutMs);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The official suite, with our hub as the client. */
async function suite(...args: string[]): Promise<string> {
  const { node, program } = await conformanceSuite();
  const words = [program, 'client', '--command', `${process.execPath} ${client}`, '--timeout', '120000', ...args];
  const run = promisify(execFile)(node, words, { cwd: folder, env: bareEnvironment(), maxBuffer: 64 * 1024 * 1024 });
  // Of one scenario it reports on stderr.
  const { stdout, stderr } = await run.catch((failed: { stdout: string; stderr: string }) => ({
    stdout: `It failed. ${failed.stdout}`,
    stderr: failed.stderr,
  }));
  return `${stdout}\n${stderr}`;
}

describe('the client scenarios auth/* of the official conformance suite', () => {
  it(
    'pass for all that 2025-11-25 requires',
    async () => {
      const report = await suite('--suite', 'auth');
      expect(report.match(/✓ auth\/[\w-]+/g), report).toHaveLength(14);
      expect(report).toMatch(/Total: \d+ passed, 0 failed, 0 warnings/);
      expect(report).not.toContain('It failed.');
    },
    timeout,
  );

  it.each([
    'resource-mismatch',
    'offline-access-scope',
    'offline-access-not-supported',
    'authorization-server-migration',
    'iss-supported',
    'iss-not-advertised',
    'iss-supported-missing',
    'iss-wrong-issuer',
    'iss-unexpected',
    'iss-normalized',
    'metadata-issuer-mismatch',
    'client-credentials-jwt',
    'client-credentials-basic',
  ])(
    'the scenario %s passes',
    async (name) => {
      const report = await suite('--scenario', `auth/${name}`);
      expect(report, report).toMatch(/Passed: (\d+)\/\1, 0 failed, 0 warnings/);
    },
    timeout,
  );
});
