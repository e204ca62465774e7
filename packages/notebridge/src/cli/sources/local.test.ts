import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { silentLogger } from '../../core/logger.js';
import { Redactor } from '../../util/redactor.js';
import type { HubSetup } from '../hub-setup.js';
import { openLocal } from './local.js';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'notebridge-local-'));
  vi.stubEnv('XDG_STATE_HOME', base);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true });
});

it('leaves no address behind when it is closed in the middle of writing, and rejects afterwards', async () => {
  const options = { port: 0, allowHost: [], allowOrigin: [], browser: false, sandbox: 'off' };
  const setup = { options, logger: silentLogger, redactor: new Redactor() } as unknown as HubSetup;
  const source = await openLocal(setup, { file: undefined });
  const path = await source.writeAddress();
  expect(readFileSync(path, 'utf8')).toContain('#token=');
  const writing = [source.writeAddress(), source.writeAddress(), source.writeAddress()];
  await source.close();
  await Promise.allSettled(writing);
  expect(existsSync(path)).toBe(false);
  // Not thrown: the one that renews it each minute has nobody who would catch it.
  await expect(Promise.resolve().then(() => source.writeAddress().catch(() => 'rejected'))).resolves.toBe('rejected');
});
