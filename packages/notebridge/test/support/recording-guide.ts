import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { bareEnvironment } from './bare-environment.js';
import { withCommand } from './installed-command.js';
import { Program } from './program.js';
import { installedServer } from './served-hub.js';

/** What is done with the snippets of docs/record-replay.md, in their order; the reader's shell stands in `folder`. */
export function recordingRuns(folder: string): Record<string, (code: string) => Promise<void>> {
  /** Says the same through the server that the snippet names. */
  const echo = async (code: string, change: (args: string[]) => string[]): Promise<void> => {
    const file = join(folder, 'recorded.json');
    writeFileSync(file, code);
    const [server] = (await loadConfig({ file, env: { HOME: folder } })).servers;
    if (server?.transport !== 'stdio') throw new Error('The snippet names no program.');
    expect(server.command).toBe('notebridge');
    await using program = await Program.open({ args: change([...server.args]), cwd: folder });
    expect(await program.callTool('echo', { message: 'docs' })).toMatchObject({ result: { content: [{ text: 'Echo: docs' }] } });
  };
  return {
    'record-server': async (code) => {
      rmSync(join(folder, 'bug.jsonl'), { force: true });
      const { command, args } = installedServer('everything') as { command: string; args: string[] };
      await echo(code, (words) => {
        expect(words.slice(-3)).toEqual(['npx', '-y', '@modelcontextprotocol/server-everything']);
        return [...words.slice(0, -3), command, ...args];
      });
    },
    'replay-list': async (code) => {
      const env = withCommand({ ...bareEnvironment(), HOME: folder }, folder);
      const { stdout } = await promisify(execFile)('bash', ['--norc', '-euc', code], { cwd: folder, env, encoding: 'utf8' });
      expect(stdout).toMatch(/^agent +legacy +1 +2 /m);
    },
    'replay-server': (code) => echo(code, (words) => words),
  };
}
