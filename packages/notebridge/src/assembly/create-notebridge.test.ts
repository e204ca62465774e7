import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { defaultConfig } from '../config/config.js';
import { createNotebridge } from './create-notebridge.js';
import { readSettings } from './settings.js';

it('createNotebridge refuses a code mode with the tools of another program', async () => {
  const codeMode = 'agent-codemode' as unknown as boolean;
  await expect(createNotebridge({ config: defaultConfig('/nowhere'), env: {}, codeMode })).rejects.toMatchObject({
    code: 'bad_usage',
    message: expect.stringContaining('no longer offered'),
  });
});

it("the config of the user's commands is not read for a program, unless it names it", { tags: ['P-727'] }, async () => {
  const home = mkdtempSync(join(tmpdir(), 'notebridge-library-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, '.config', 'notebridge', 'mcp.json');
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, JSON.stringify({ mcpServers: { personal: { command: 'never-started' } } }));
  const env = { HOME: home, XDG_STATE_HOME: join(home, 'state') };
  const serversOf = async (config?: string): Promise<string[]> => {
    const bridge = await createNotebridge({ config, env });
    const names = bridge.servers.all().flatMap(({ name, isConfig }) => (isConfig ? [name] : []));
    await bridge.close();
    return names;
  };
  expect([await serversOf(), await serversOf(file)]).toEqual([[], ['personal']]);
  // Nor are its edits.
  const { config } = await readSettings({ env });
  expect([config.file, config.awaited]).toEqual([undefined, undefined]);
});
