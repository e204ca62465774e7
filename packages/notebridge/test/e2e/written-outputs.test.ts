// @module-tag P-623

/** What the program keeps writing, in a folder that code in a sandbox may write to: code could put a link in its way. */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runProgram } from '../support/program.js';

let base: string;
let given: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-written-')));
  given = join(base, 'given');
  const state = join(base, 'state/notebridge');
  for (const folder of [given, join(base, 'elsewhere')]) mkdirSync(folder);
  mkdirSync(state, { recursive: true, mode: 0o700 });
  writeFileSync(join(state, 'trusted-folders.json'), JSON.stringify({ folders: [], written: [given] }), { mode: 0o600 });
  symlinkSync('../elsewhere', join(given, 'logs'));
  const config = { mcpServers: {}, notebridge: { audit: { file: join(given, 'logs/audit.jsonl') } } };
  writeFileSync(join(base, 'config.json'), JSON.stringify(config), { mode: 0o600 });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

it.each<[string, () => string[]]>([
  ['its log', () => ['stdio', '--no-browser', '--notebook', 'none', '--log-dir', join(given, 'logs')]],
  ['its audit', () => ['stdio', '--no-browser', '--notebook', 'none', '--config', join(base, 'config.json')]],
  ['the token of a grant', () => ['grant', '--ttl', '60s', '--file', join(given, 'logs/token')]],
  ['the settings of a host', () => ['setup', 'codex', '--write']],
  ['a recording', () => ['record', join(given, 'logs/bug.jsonl'), '--no-browser', '--notebook', 'none']],
])('%s is not kept there', async (_, args) => {
  const { ending, stderr } = await runProgram(args(), { env: { XDG_STATE_HOME: join(base, 'state'), CODEX_HOME: join(given, 'logs') } });
  expect([ending === 0, stderr]).toEqual([false, expect.stringMatching(/code in a sandbox may write to ".*given".*--withdraw .*given/)]);
  expect(readdirSync(join(base, 'elsewhere'))).toEqual([]);
});
