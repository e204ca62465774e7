import { beforeEach, describe, expect, it } from 'vitest';
import { hosts } from './hosts.js';

const launch = { command: 'node', args: ['/opt/notebridge.js'] };
const fileOf = (name: string, platform: NodeJS.Platform, env: Record<string, string>): string | undefined =>
  hosts.find((host) => host.name === name)?.scopes.user?.({ platform, env, project: '/project' }).file;

describe('hosts', () => {
  beforeEach(({ skip }) => skip(process.platform === 'win32', 'its commands and paths are those of POSIX'));
  const env = { HOME: '/home/you' };
  it.each([
    ['claude-code', 'linux', env, '/home/you/.claude.json'],
    ['claude-code', 'linux', { ...env, CLAUDE_CONFIG_DIR: '/else' }, '/else/.claude.json'],
    ['claude-desktop', 'darwin', env, '/home/you/Library/Application Support/Claude/claude_desktop_config.json'],
    ['claude-desktop', 'linux', env, '/home/you/.config/Claude/claude_desktop_config.json'],
    [
      'claude-desktop',
      'win32',
      { USERPROFILE: '/u', APPDATA: '/u/AppData/Roaming' },
      '/u/AppData/Roaming/Claude/claude_desktop_config.json',
    ],
    ['cursor', 'darwin', env, '/home/you/.cursor/mcp.json'],
    ['cursor', 'win32', { USERPROFILE: '/u', HOME: '/other' }, '/u/.cursor/mcp.json'],
    ['vscode', 'darwin', env, '/home/you/Library/Application Support/Code/User/mcp.json'],
    ['vscode', 'linux', env, '/home/you/.config/Code/User/mcp.json'],
    ['vscode', 'linux', { ...env, XDG_CONFIG_HOME: '/xdg' }, '/xdg/Code/User/mcp.json'],
    ['vscode', 'win32', { USERPROFILE: '/u' }, '/u/AppData/Roaming/Code/User/mcp.json'],
    ['gemini', 'linux', env, '/home/you/.gemini/settings.json'],
    ['codex', 'linux', env, '/home/you/.codex/config.toml'],
    ['codex', 'linux', { ...env, CODEX_HOME: '/codex' }, '/codex/config.toml'],
  ] as const)('the config file of %s on %s with %j is found', (name, platform, environment, file) => {
    expect(fileOf(name, platform, environment)).toBe(file);
  });

  it('have names of their own and give a command to start', () => {
    expect(new Set(hosts.map((host) => host.name)).size).toBe(hosts.length);
    for (const host of hosts) expect(host.entry(launch)).toMatchObject(launch);
  });
});
