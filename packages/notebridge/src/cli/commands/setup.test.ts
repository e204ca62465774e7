import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setupCommand } from './setup.js';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'notebridge-setup-'));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const run = async (...args: string[]): Promise<string> => {
  let printed = '';
  const command = new Command().exitOverride();
  setupCommand(command, { env: { HOME: home }, platform: 'linux', project: '/project', print: (text) => (printed += text) });
  await command.parseAsync(args, { from: 'user' });
  return printed;
};

describe('setupCommand', () => {
  it('prints what to do', async () => {
    expect(await run('cursor')).toContain(`Cursor reads its MCP servers from ${join(home, '.cursor', 'mcp.json')}\n`);
  });

  it('writes, and reports as JSON', async () => {
    const report: unknown = JSON.parse(await run('codex', '--write', '--json'));
    const file = join(home, '.codex', 'config.toml');
    expect(report).toMatchObject({ host: 'codex', file, status: 'added' });
    expect(await readFile(file, 'utf8')).toContain('[mcp_servers.notebridge]');
  });

  it('refuses an unknown host, and no host', async () => {
    await expect(run('cursr')).rejects.toThrow('There is no host "cursr". Did you mean "cursor"?');
    await expect(run()).rejects.toThrow('Which host is to be set up?');
  });

  it('lists the hosts in its help', () => {
    const command = new Command();
    setupCommand(command);
    expect(command.helpInformation().replaceAll(/\s+/g, ' ')).toContain('claude-code, claude-desktop, cursor, vscode, gemini, codex');
  });
});
