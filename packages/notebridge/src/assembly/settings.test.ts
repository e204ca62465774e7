import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSettings } from './settings.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('readSettings says once what of the config is read otherwise than it is written', async () => {
  const config = join(folder, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { a: { command: 'x', placement: 'any' } } }));
  const warned: string[] = [];
  const createLogger = () => ({ ...silentLogger, warn: (message: string) => void warned.push(message) });
  await readSettings({ config, env: {}, stateDir: folder, createLogger });
  expect(warned).toEqual([expect.stringContaining('"placement": "any", of "a", is read as "each"')]);
});
