import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readSettings } from '../../settings.js';
import { findNotebook } from '../kinds.js';
import { openBuiltIn } from './open-built-in.js';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'notebridge-local-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

it('leaves no address behind when it is closed in the middle of writing, and rejects afterwards', async () => {
  const settings = await readSettings({ env: { XDG_CONFIG_HOME: base, XDG_STATE_HOME: base } });
  const pages = { openBrowser: false, sandbox: 'off' as const };
  const setup = { ...settings, pages, pagePort: undefined, openTools: undefined, findNotebook };
  const notebook = await openBuiltIn({ ...setup, onRefused: () => {} }, { file: undefined });
  const path = await notebook.writeAddress();
  expect(readFileSync(path, 'utf8')).toContain('#token=');
  const writing = [notebook.writeAddress(), notebook.writeAddress(), notebook.writeAddress()];
  await notebook.close();
  await Promise.allSettled(writing);
  expect(existsSync(path)).toBe(false);
  // Not thrown: nothing would catch it where it is renewed each minute.
  await expect(Promise.resolve().then(() => notebook.writeAddress().catch(() => 'rejected'))).resolves.toBe('rejected');
});
